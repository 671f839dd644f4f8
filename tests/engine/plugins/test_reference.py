"""Python layers against inputs, outputs and gradients that real pycaffe gave for the like of them."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.errors import PluginError
from engine.registry import default_registry
from tests.support import SHARED, shared

LAYERS = Path(__file__).parent / "reference_layers"
SCRATCH = {("dice", "prob")}  # Caffe's Scale computes in the gradient of a bottom that wants none
REFERENCE = "corpus/pylayers_reference"


def cases(result: str) -> list[str]:
    index = SHARED / REFERENCE / "index.csv"
    if not index.exists():
        return []
    with index.open() as file:
        return [row["case"] for row in csv.DictReader(file) if row["result"] == result]


def open_net(case: str, folder: Path) -> Any:
    """Build a reference net beside our layers."""
    engine.compat.install()
    import caffe

    text = shared(f"{REFERENCE}/{case}/net.prototxt").read_text("utf-8")
    if "Scale" not in default_registry():
        setting = 'scale_param { filler { type: "constant" value: 1 } }'
        text = text.replace(setting, 'python_param { module: "dice_loss" layer: "Scale" }')
        text = text.replace('type: "Scale"', 'type: "Python"')
    shutil.copytree(LAYERS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    (folder / "net.prototxt").write_text(text, "utf-8")
    return caffe.Net(str(folder / "net.prototxt"), caffe.TRAIN)


def arrays(reference: Any, kind: str) -> list[tuple[str, Any]]:
    return [(key.removeprefix(kind + "__"), reference[key]) for key in reference.files if key.startswith(kind + "__")]


@pytest.mark.parametrize("case", cases("ok"))
def test_values_and_gradients_are_those_of_pycaffe(case: str, tmp_path: Path) -> None:
    reference = np.load(shared(f"{REFERENCE}/{case}/ref.npz"))
    net = open_net(case, tmp_path)
    close = {"rtol": 1e-5, "atol": 1e-6}
    for name, value in arrays(reference, "in"):
        net.blobs[name].data[...] = value
    for name, value in arrays(reference, "param"):
        layer, index = name.split("__")
        np.testing.assert_allclose(net.params[layer][int(index)].data, value, **close)
    outputs = net.forward()
    for name, value in arrays(reference, "out"):
        assert outputs[name].shape == value.shape
        np.testing.assert_allclose(outputs[name], value, **close)
    for name, value in arrays(reference, "topdiff"):
        net.blobs[name].diff[...] = value
    net.backward()
    for name, value in [*arrays(reference, "indiff"), *arrays(reference, "blobdiff")]:
        if (case, name) in SCRATCH:
            continue
        np.testing.assert_allclose(net.blobs[name].diff, value, **close)
    for name, value in arrays(reference, "paramdiff"):
        layer, index = name.split("__")
        np.testing.assert_allclose(net.params[layer][int(index)].diff, value, **close)


@pytest.mark.parametrize("case", ["test_exception"] if cases("error") else [])
def test_what_raises_in_pycaffe_is_an_error_of_the_layer(case: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="RuntimeError") as caught:
        open_net(case, tmp_path)
    assert (caught.value.layer, caught.value.method) == ("layer", "setup")


@pytest.mark.parametrize("case", ["old_param_str_"] if cases("error") else [])
def test_what_fails_in_newer_pycaffe_for_its_age_works_here(case: str, tmp_path: Path) -> None:
    net = open_net(case, tmp_path)
    net.blobs["x"].data[...] = np.arange(24).reshape(3, 2, 2, 2)
    assert net.forward()["y"].tolist() == [np.arange(16, 24).reshape(2, 2, 2).tolist()]
