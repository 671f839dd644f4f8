"""HDF5 weights and solver states; that they have Caffe's layout is read off with h5py alone."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from engine.errors import FileFormatError, WeightsError
from engine.files import (
    load_weights,
    read_solver_state,
    read_stored_layers,
    write_hdf5_solver_state,
    write_hdf5_weights,
    write_solver_state,
    write_weights,
)
from tests.engine.files.fakes import FakeLayer, FakeNet, blob, fake_net
from tests.support import shared


@dataclass
class Owned:
    layer: str
    index: int


class SharingNet(FakeNet):
    """A net whose second layer has the first one's weight and a bias of its own, and whose third has nothing own."""

    def __init__(self, start: int = 0) -> None:
        first = FakeLayer("a", "InnerProduct", [blob(2, 3, start=start), blob(2, start=start)])
        second = FakeLayer("b", "InnerProduct", [first.blobs[0], blob(2, start=start + 50)])
        third = FakeLayer("c", "InnerProduct", [first.blobs[0], first.blobs[1]])
        super().__init__([first, second, third])
        self.learnable = [Owned("a", 0), Owned("a", 1), Owned("b", 1)]


def tree(path: Path) -> dict[str, Any]:
    """Return all that a file holds: None for groups, values, shapes and types for data sets."""
    found: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        found[name] = None
        if isinstance(item, h5py.Dataset):
            kind = item.id.get_type()
            found[name] = (item.shape, item.dtype.str, kind.get_class(), np.asarray(item[()]).tobytes())

    with h5py.File(path) as file:
        file.visititems(note)
    return found


def test_weights_of_caffe_written_again_are_the_same(tmp_path: Path) -> None:
    path = shared("golden/solvers/sgd_fixed.iter20.caffemodel.h5")
    layers = read_stored_layers(path)
    net = FakeNet([FakeLayer(layer.name, "", list(layer.blobs)) for layer in layers])  # type: ignore[arg-type]
    write_hdf5_weights(net, tmp_path / "again.h5")
    assert tree(tmp_path / "again.h5") == tree(path)
    binary = {layer.name: layer for layer in read_stored_layers(path.with_name("sgd_fixed.iter20.caffemodel"))}
    for layer in layers:
        for one, other in zip(layer.blobs, binary[layer.name].blobs, strict=True):
            assert one is not None and other is not None
            np.testing.assert_array_equal(one.data, other.data)


def test_state_of_caffe_written_again_is_the_same(tmp_path: Path) -> None:
    path = shared("golden/solvers/sgd_fixed.iter20.solverstate.h5")
    state = read_solver_state(path)
    assert (state.iter, state.learned_net, state.current_step) == (20, "snap_iter_20.caffemodel.h5", 0)
    write_hdf5_solver_state(tmp_path / "again.h5", state.iter, state.learned_net, state.history, state.current_step)
    assert tree(tmp_path / "again.h5") == tree(path)
    binary = read_solver_state(path.with_name("sgd_fixed.iter20.solverstate"))
    for one, other in zip(state.history, binary.history, strict=True):
        np.testing.assert_array_equal(one, other)


def test_layout(tmp_path: Path) -> None:
    write_hdf5_weights(fake_net(), tmp_path / "w.h5")
    write_hdf5_weights(fake_net(), tmp_path / "d.h5", diffs=True)
    layers = {"conv", "conv/0", "conv/1", "relu", "ip", "ip/0", "ip/1"}
    assert set(tree(tmp_path / "w.h5")) == {"data", *(f"data/{name}" for name in layers)}
    found = tree(tmp_path / "d.h5")
    assert set(found) == {f"{top}{name}" for top in ("data", "diff") for name in ("", *(f"/{name}" for name in layers))}
    assert np.frombuffer(found["diff/conv/1"][3], np.float32).tolist() == [0, -1]


@pytest.mark.parametrize("count", [9, 12])
def test_state_round_trip(tmp_path: Path, count: int) -> None:
    history = [np.full((2, index + 1), index, np.float32) for index in range(count)]
    write_hdf5_solver_state(tmp_path / "s", 7, "snäp.caffemodel.h5", history, 3)
    state = read_solver_state(tmp_path / "s")
    assert (state.iter, state.learned_net, state.current_step) == (7, "snäp.caffemodel.h5", 3)
    assert [array.tolist() for array in state.history] == [array.tolist() for array in history]


def test_weights_round_trip(tmp_path: Path) -> None:
    write_hdf5_weights(fake_net(start=5), tmp_path / "w")
    net = fake_net()
    report = load_weights(net, tmp_path / "w")
    assert report.complete and report.loaded == ("conv", "ip")
    for layer, expected in zip(net.layers, fake_net(start=5).layers, strict=True):
        for one, other in zip(layer.blobs, expected.blobs, strict=True):
            np.testing.assert_array_equal(one.data, other.data)


def test_shared_parameters_are_stored_once(tmp_path: Path) -> None:
    write_hdf5_weights(SharingNet(), tmp_path / "w.h5", diffs=True)
    assert {name for name, item in tree(tmp_path / "w.h5").items() if item is not None} == {
        "data/a/0", "data/a/1", "data/b/1", "diff/a/0", "diff/a/1", "diff/b/0", "diff/b/1", "diff/c/0", "diff/c/1"
    }  # fmt: skip
    net = SharingNet(start=100)
    load_weights(net, tmp_path / "w.h5")
    assert net.layers[0].blobs[0].data[0, 0] == 0 and net.layers[1].blobs[1].data.tolist() == [50, 51]


def test_a_shared_parameter_that_the_net_owns_is_missed(tmp_path: Path) -> None:
    write_hdf5_weights(SharingNet(), tmp_path / "w.h5")
    net = FakeNet([FakeLayer("b", "InnerProduct", [blob(2, 3), blob(2)])])
    with pytest.raises(WeightsError, match="'b' .* has 2 blobs in the net and 1 in the file"):
        load_weights(net, tmp_path / "w.h5")


@pytest.mark.parametrize("escaped", [False, True])
def test_names_with_slashes(tmp_path: Path, escaped: bool) -> None:
    names = ["conv1", "conv1/bn", "inc/3a/1x1", "inc/3a"]
    layers = [FakeLayer(name, "Scale", [blob(2, start=place)]) for place, name in enumerate(names)]
    path = tmp_path / "w.h5"
    if escaped:
        with h5py.File(path, "w") as file:
            for layer in layers:
                file[f"data/{layer.name.replace('/', '%2F')}/0"] = layer.blobs[0].data
    else:
        write_hdf5_weights(FakeNet(layers), path)
        assert np.frombuffer(tree(path)["data/inc/3a/1x1/0"][3], np.float32).tolist() == [2, 3]
    net = FakeNet([FakeLayer(name, "Scale", [blob(2, start=90)]) for name in names])
    assert load_weights(net, path).complete
    assert [layer.blobs[0].data[0] for layer in net.layers] == [0, 1, 2, 3]


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a/0"), ("a/0", "a")])
def test_layers_in_one_place_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    net = FakeNet([FakeLayer(name, "Scale", [blob(2)]) for name in names])
    with pytest.raises(WeightsError, match=r"place of its own for .*Rename the layer"):
        write_hdf5_weights(net, tmp_path / "w.h5")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "/a", "a//b", "a/", "./a"])
def test_names_that_are_no_paths_are_refused(tmp_path: Path, name: str) -> None:
    net = FakeNet([FakeLayer(name, "Scale", [blob(2)])])
    with pytest.raises(WeightsError, match="names of layers that are paths.*BINARYPROTO"):
        write_hdf5_weights(net, tmp_path / "w.h5")
    write_hdf5_weights(FakeNet([FakeLayer("", "ReLU", [])]), tmp_path / "w.h5")


def test_another_shape_of_the_same_size_is_refused(tmp_path: Path) -> None:
    """C24: Caffe silently gives the blob the file's shape."""
    write_hdf5_weights(FakeNet([FakeLayer("ip", "InnerProduct", [blob(4, 6)])]), tmp_path / "w.h5")
    with pytest.raises(WeightsError, match=r"'ip'.*shape is \(6, 4\).*file's is \(4, 6\).*Rename 'ip'"):
        load_weights(FakeNet([FakeLayer("ip", "InnerProduct", [blob(6, 4)])]), tmp_path / "w.h5")


def test_kinds_are_told_apart_by_content(tmp_path: Path) -> None:
    write_hdf5_weights(fake_net(), tmp_path / "weights.solverstate.h5")
    write_hdf5_solver_state(tmp_path / "state.caffemodel.h5", 1, "", [])
    with pytest.raises(FileFormatError, match=r"looks like a weights file \(\.caffemodel\.h5\).*--weights"):
        read_solver_state(tmp_path / "weights.solverstate.h5")
    with pytest.raises(FileFormatError, match=r"looks like a solver state \(\.solverstate\.h5\)"):
        load_weights(fake_net(), tmp_path / "state.caffemodel.h5")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["data"] = file["label"] = np.zeros(3)
    with pytest.raises(FileFormatError, match=r"group 'data'.*holds 'data', 'label'"):
        load_weights(fake_net(), tmp_path / "data.h5")
    with pytest.raises(FileFormatError, match="'iter' and 'history'"):
        read_solver_state(tmp_path / "data.h5")


@pytest.mark.parametrize("read", [read_stored_layers, read_solver_state])
def test_damaged_files(tmp_path: Path, read: Any) -> None:
    write_hdf5_weights(fake_net(), tmp_path / "w.h5")
    whole = (tmp_path / "w.h5").read_bytes()
    (tmp_path / "w.h5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="damaged"):
        read(tmp_path / "w.h5")


def test_a_missing_history_is_named(tmp_path: Path) -> None:
    write_hdf5_solver_state(tmp_path / "s.h5", 1, "", [np.zeros(2), np.zeros(2)])
    with h5py.File(tmp_path / "s.h5", "a") as file:
        file.move("history/0", "history/5")
    with pytest.raises(FileFormatError, match="none numbered 0"):
        read_solver_state(tmp_path / "s.h5")


@pytest.mark.parametrize("write", [write_weights, write_hdf5_weights])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any) -> None:
    path = tmp_path / "w"
    write(fake_net(), path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(fake_net(start=9), path)
    assert path.read_bytes() == before and [item.name for item in tmp_path.iterdir()] == ["w"]


def test_both_states_hold_the_same(tmp_path: Path) -> None:
    history = [np.arange(6, dtype=np.float32).reshape(2, 3)]
    write_solver_state(tmp_path / "b", 4, "x", history, 2)
    write_hdf5_solver_state(tmp_path / "h", 4, "x", history, 2)
    one, other = read_solver_state(tmp_path / "b"), read_solver_state(tmp_path / "h")
    assert (one.iter, one.learned_net, one.current_step) == (other.iter, other.learned_net, other.current_step)
    np.testing.assert_array_equal(one.history[0], other.history[0])
