"""Files of old formats train, test and open in scripts as those of today do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.cli import main
from engine.files import read_weights
from tests.engine.solvers.nets import LAYERS, SOLVER, write_project

XAVIER = 'weight_filler { type: "xavier" }'
V1 = f"""
name: "small"
layers {{ name: "data" type: HDF5_DATA top: "data" top: "label"
  hdf5_data_param {{ source: "list.txt" batch_size: BATCH }} }}
layers {{ name: "ip1" type: INNER_PRODUCT bottom: "data" top: "ip1"
  inner_product_param {{ num_output: 6 {XAVIER} }} }}
layers {{ name: "relu1" type: RELU bottom: "ip1" top: "ip1" }}
layers {{ name: "ip2" type: INNER_PRODUCT bottom: "ip1" top: "ip2"
  inner_product_param {{ num_output: 3 {XAVIER} }} }}
layers {{ name: "accuracy" type: ACCURACY bottom: "ip2" bottom: "label" top: "accuracy" include {{ phase: TEST }} }}
layers {{ name: "loss" type: SOFTMAX_LOSS bottom: "ip2" bottom: "label" top: "loss" }}
"""
V0 = f"""
name: "small"
layers {{ layer {{ name: "data" type: "hdf5_data" source: "list.txt" batchsize: BATCH }} top: "data" top: "label" }}
layers {{ layer {{ name: "ip1" type: "innerproduct" num_output: 6 {XAVIER} }} bottom: "data" top: "ip1" }}
layers {{ layer {{ name: "relu1" type: "relu" }} bottom: "ip1" top: "ip1" }}
layers {{ layer {{ name: "ip2" type: "innerproduct" num_output: 3 {XAVIER} }} bottom: "ip1" top: "ip2" }}
layers {{ layer {{ name: "loss" type: "softmax_loss" }} bottom: "ip2" bottom: "label" top: "loss" }}
"""


def trained(folder: Path, layers: str) -> dict[str, list[Any]]:
    """Values that ten iterations on the command line end with, by layer."""
    folder.mkdir()
    write_project(folder, layers=layers)
    (folder / "solver.prototxt").write_text(f"{SOLVER} max_iter: 10 solver_type: NESTEROV\n")
    assert main(["train", "--solver", str(folder / "solver.prototxt"), "--quiet"]) == 0
    stored = read_weights("snap_iter_10.caffemodel")
    return {layer.name: [list(blob.data) for blob in layer.blobs] for layer in stored.layer if layer.blobs}


@pytest.mark.parametrize("old", [V1, V0], ids=["V1", "V0"])
def test_training_an_old_net_gives_what_the_net_of_today_gives(
    old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert trained(tmp_path / "old", old) == trained(tmp_path / "new", LAYERS)


def test_testing_an_old_net_and_opening_it_in_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    values = trained(tmp_path / "p", V1)
    model, weights = str(tmp_path / "p/net.prototxt"), "snap_iter_10.caffemodel"
    assert main(["test", "--model", model, "--weights", weights, "--iterations", "2"]) == 0
    assert "accuracy" in capsys.readouterr().out
    engine.compat.install()
    import caffe

    net = caffe.Net(model, weights, caffe.TEST)
    np.testing.assert_array_equal(net.params["ip1"][0].data.ravel(), np.float32(values["ip1"][0]))
    assert set(net.forward()) == {"accuracy", "loss"}


def test_a_mixed_net_does_not_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path, layers=LAYERS + 'layers { name: "z" type: SILENCE bottom: "label" }\n')
    (tmp_path / "solver.prototxt").write_text(f"{SOLVER} max_iter: 10\n")
    assert main(["train", "--solver", "solver.prototxt"]) == 1
    assert "first on line" in capsys.readouterr().err
