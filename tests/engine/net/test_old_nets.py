"""Nets of the old formats are built and run as Caffe would run them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engine.errors import SchemaError
from engine.layer import Phase
from engine.net import Net
from engine.prototxt import parse
from engine.registry import default_registry
from engine.schema import read_net, to_message
from tests.support import SHARED, shared

INPUT = "name: 'n' input: 'x' input_dim: 2 input_dim: 2 input_dim: 6 input_dim: 6\n"
GAUSSIAN = "weight_filler { type: 'gaussian' std: 0.3 }"
V0 = INPUT + (
    "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'p' }\n"
    f"layers {{ layer {{ name: 'c' type: 'conv' num_output: 4 kernelsize: 3 {GAUSSIAN} blobs_lr: 1 blobs_lr: 2 }} "
    "bottom: 'p' top: 'c' }\n"
    "layers { layer { name: 'r' type: 'relu' } bottom: 'c' top: 'c' }\n"
    f"layers {{ layer {{ name: 'i' type: 'innerproduct' num_output: 3 {GAUSSIAN} weight_decay: 1 weight_decay: 0 }} "
    "bottom: 'c' top: 'i' }\n"
)
V1 = INPUT + (
    f"layers {{ name: 'c' type: CONVOLUTION bottom: 'x' top: 'c' blobs_lr: 1 blobs_lr: 2 "
    f"convolution_param {{ num_output: 4 kernel_size: 3 pad: 1 {GAUSSIAN} }} }}\n"
    "layers { name: 'r' type: RELU bottom: 'c' top: 'c' }\n"
    "layers { name: 'i' type: INNER_PRODUCT bottom: 'c' top: 'i' weight_decay: 1 weight_decay: 0 "
    f"inner_product_param {{ num_output: 3 {GAUSSIAN} }} }}\n"
)
V2 = INPUT + (
    f"layer {{ name: 'c' type: 'Convolution' bottom: 'x' top: 'c' param {{ lr_mult: 1 }} param {{ lr_mult: 2 }} "
    f"convolution_param {{ num_output: 4 kernel_size: 3 pad: 1 {GAUSSIAN} }} }}\n"
    "layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'c' }\n"
    "layer { name: 'i' type: 'InnerProduct' bottom: 'c' top: 'i' param { decay_mult: 1 } param { decay_mult: 0 } "
    f"inner_product_param {{ num_output: 3 {GAUSSIAN} }} }}\n"
)
PUBLIC = (
    "legacy~v0.9__lenet__lenet",
    "legacy~v0.9__models__imagenet",
    "legacy~v0.999__imagenet__alexnet_deploy",
    "legacy~v0.9999__imagenet__imagenet_full_conv",
    "netscope~ethereon_vgg-16",
)


def outcome(net: Net):
    """What the net computes and how it would learn."""
    net.blobs["x"].data[...] = np.linspace(-1, 1, 144).reshape(2, 2, 6, 6)
    net.forward()
    rates = [(param.name, param.layer, param.lr_mult, param.decay_mult) for param in net.learnable]
    return net.blobs["i"].data.copy(), rates


@pytest.mark.parametrize("old", [V0, V1], ids=["V0", "V1"])
def test_old_and_new_spelling_of_a_net_compute_the_same(old):
    values, rates = outcome(Net(V2, Phase.TRAIN, seed=3))
    for param in (old, to_message(parse(old).root, "NetParameter")):
        old_values, old_rates = outcome(Net(param, Phase.TRAIN, seed=3))
        np.testing.assert_array_equal(old_values, values)
        assert old_rates == rates
    assert np.abs(values).max() > 0


def test_a_message_stays_as_the_caller_made_it():
    message = to_message(parse(V1).root, "NetParameter")
    before = message.SerializeToString()
    Net(message, Phase.TEST)
    assert message.SerializeToString() == before


def test_mixed_layers_are_refused():
    mixed = V2 + "layers { name: 'z' type: RELU bottom: 'i' top: 'i' }\n"
    for param in (mixed, to_message(parse(mixed).root, "NetParameter")):
        with pytest.raises(SchemaError, match="mixes"):
            Net(param, Phase.TEST)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_old_nets_have_the_shapes_that_caffe_gives_them(name):
    wanted = json.loads(shared(f"corpus/reference/{name}.prototxt.TEST.json").read_text())
    source = SHARED / f"corpus/prototxt/{name.replace('~', '/', 1).replace('~', '__')}.prototxt"
    message = read_net(source)
    missing = {layer.type for layer in message.layer} - set(default_registry().types())
    if missing:
        pytest.skip(f"layer types to come: {', '.join(sorted(missing))}")
    net = Net(message, Phase.TEST, shapes_only=True)
    assert {name: list(blob.shape) for name, blob in net.blobs.items() if "_split_" not in name} == {
        name: shape for name, shape in wanted["blobs"].items() if "_split_" not in name
    }
    assert {name: [list(blob.shape) for blob in blobs] for name, blobs in net.params.items()} == wanted["params"]
