"""The bundled example: copied, its data written, the user's own work left alone."""

from __future__ import annotations

import collections
import os

import lmdb
import numpy as np
import pytest

from engine.errors import DataError
from engine.examples import prepare_example
from engine.files import datum_to_array
from engine.layer import Phase
from engine.net import Net
from engine.resources import resource_path
from engine.schema import load_schema, read_net, read_solver
from tests.support import shared


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return prepare_example("lenet", tmp_path_factory.mktemp("lenet"))


def records(folder):
    datum = load_schema().message("Datum")
    with lmdb.open(str(folder), readonly=True, lock=False) as environment, environment.begin() as transaction:
        return [(bytes(key), datum.FromString(value)) for key, value in transaction.cursor()]


def test_net_and_solver_fit_together(example):
    net, solver = read_net(example.net), read_solver(example.solver)
    assert (example.folder / solver.net) == example.net
    sources = {layer.data_param.source for layer in net.layer if layer.type == "Data"}
    assert all((example.folder / source / "data.mdb").is_file() for source in sources)
    assert [layer.name for layer in net.layer].count("mnist") == 2
    test = next(layer for layer in net.layer if layer.include and layer.include[0].phase == 1)
    assert solver.test_iter[0] * test.data_param.batch_size == 1000


@pytest.mark.parametrize(("name", "count"), [("mnist_train_lmdb", 9000), ("mnist_test_lmdb", 1000)])
def test_records(example, name, count):
    stored = records(example.folder / name)
    assert [key for key, _ in stored] == [b"%08d" % index for index in range(count)]
    labels = [datum.label for _, datum in stored]
    assert min(collections.Counter(labels).values()) > count * 0.08, "every digit is there"
    assert labels[:64] != sorted(labels[:64]), "digits are mixed"
    assert datum_to_array(stored[0][1]).shape == (1, 28, 28)


def test_every_digit_is_used_once(example):
    with np.load(resource_path("examples/lenet/digits.npz")) as digits:
        expected = collections.Counter(image.tobytes() for image in digits["x"])
    stored = [*records(example.folder / "mnist_train_lmdb"), *records(example.folder / "mnist_test_lmdb")]
    assert collections.Counter(datum.data for _, datum in stored) == expected


def test_digits_are_the_reference_ones():
    with np.load(resource_path("examples/lenet/digits.npz")) as ours, np.load(shared("data/mnist10k.npz")) as theirs:
        np.testing.assert_array_equal(ours["x"], theirs["x"])
        np.testing.assert_array_equal(ours["y"], theirs["y"])


def test_second_use_changes_nothing(example):
    def state():
        return {file: file.stat().st_mtime_ns for file in example.folder.rglob("*")}

    before = state()
    assert prepare_example("lenet", example.folder) == example
    assert state() == before


def test_the_users_changes_stay_and_what_is_missing_comes_back(tmp_path):
    paths = prepare_example("lenet", tmp_path)
    paths.net.write_text("name: 'mine'\n")
    paths.solver.unlink()
    os.truncate(tmp_path / "mnist_test_lmdb" / "data.mdb", 8192)
    prepare_example("lenet", tmp_path)
    assert paths.net.read_text() == "name: 'mine'\n"
    assert paths.solver.is_file()
    assert len(records(tmp_path / "mnist_test_lmdb")) == 1000


def test_interrupted_first_use_is_repaired(tmp_path):
    def interrupt(done):
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_example("lenet", tmp_path, interrupt)
    assert not (tmp_path / "mnist_train_lmdb").exists()
    shares = []
    prepare_example("lenet", tmp_path, shares.append)
    assert len(records(tmp_path / "mnist_train_lmdb")) == 9000
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_default_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert prepare_example().folder == tmp_path / "netcanvas" / "examples" / "lenet"


def test_the_autoencoder_has_the_same_digits(example, tmp_path):
    paths = prepare_example("autoencoder", tmp_path)
    net, solver = read_net(paths.net), read_solver(paths.solver)
    assert (paths.folder / solver.net) == paths.net
    with Net(net, Phase.TEST, base_dirs=(tmp_path,), shapes_only=True) as built:
        assert built.outputs == ["cross_entropy_loss", "l2_error"]
        assert built.loss_weights == {"cross_entropy_loss": 1}
    widths = [layer.inner_product_param.num_output for layer in net.layer if layer.type == "InnerProduct"]
    assert widths == [1000, 500, 250, 30, 250, 500, 1000, 784]
    assert records(tmp_path / "mnist_test_lmdb") == records(example.folder / "mnist_test_lmdb")
    assert {file.name for file in tmp_path.iterdir()} >= {"README.md", "mnist_train_lmdb"}


def test_unknown_example(tmp_path):
    with pytest.raises(DataError, match="No example is called 'alexnet'.*autoencoder, lenet"):
        prepare_example("alexnet", tmp_path)
