"""Public weights load and give the outputs that Caffe gave on the inputs stored beside them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import FileFormatError
from engine.files import load_weights, read_blob, read_stored_layers
from engine.layer import Phase
from engine.net import Net
from engine.schema import read_net
from tests.support import shared, shared_files

RECORDED = shared_files("corpus/weights/*.npz")


def net_of(path: Path) -> Net:
    net = Net(read_net(path.with_suffix(".prototxt")), Phase.TEST)
    load_weights(net, path.with_suffix(".caffemodel"))
    return net


def test_the_recorded_ones_are_there():
    shared("corpus/weights")
    assert len(RECORDED) == 4


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_outputs_are_those_of_caffe(path):
    net = net_of(path)
    with np.load(path) as recorded:
        for name in (name for name in recorded if name.startswith("input__")):
            net.blobs[name.removeprefix("input__")].reshape(recorded[name].shape)
            net.blobs[name.removeprefix("input__")].data[...] = recorded[name]
        net.forward()
        outputs = {name.removeprefix("output__"): recorded[name] for name in recorded if name.startswith("output__")}
    assert set(outputs) == set(net.outputs)
    for name, wanted in outputs.items():
        got = net.blobs[name].data
        assert got.shape == wanted.shape
        assert np.abs(got - wanted).max() <= 1e-4 * np.abs(wanted).max(), name


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_blob_has_the_sums_that_caffe_had(path):
    """Shape, sum and sum of magnitudes of all blobs, those that splits make among them."""
    wanted = json.loads(path.with_suffix(".json").read_text())
    net = net_of(path)
    with np.load(path) as recorded:
        for name in wanted["inputs"]:
            net.blobs[name].reshape(recorded[f"input__{name}"].shape)
            net.blobs[name].data[...] = recorded[f"input__{name}"]
    net.forward()
    assert list(net.blobs) == list(wanted["blobs"])
    for name, (shape, total, magnitude) in wanted["blobs"].items():
        data = net.blobs[name].data.astype(np.float64)
        assert list(data.shape) == shape
        assert abs(data.sum() - total) <= 1e-4 * magnitude, name
        assert abs(np.abs(data).sum() - magnitude) <= 1e-4 * magnitude, name
    assert {name: [list(blob.shape) for blob in blobs] for name, blobs in net.params.items()} == wanted["params"]
    assert [[node.name, node.type] for node in net.nodes] == wanted["layers"]


def test_weights_of_a_fork_are_read_layer_by_layer():
    """Its net needs a fork's Upsample layer; names, order and sizes do not."""
    layers = read_stored_layers(shared("corpus/weights/yoloface-500k-v2.caffemodel"))
    assert len(layers) == 261 and sum(len(layer.blobs) for layer in layers) == 330
    assert all(np.isfinite(blob.data).all() for layer in layers for blob in layer.blobs)


def test_a_mean_image_is_read():
    mean = read_blob(shared("corpus/weights/ResNet_mean.binaryproto"))
    assert mean.shape == (1, 3, 224, 224) and 90 < mean.mean() < 130


def test_a_page_saved_as_weights_is_told():
    with pytest.raises(FileFormatError, match="HTML"):
        read_stored_layers(shared("corpus/weights/INVALID_html_page_saved_as_sr.caffemodel"))
