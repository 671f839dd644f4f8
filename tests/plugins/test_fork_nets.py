"""Public nets with layers of ``plugins/segmentation`` and ``plugins/mobile`` build, and run forward and backward.

They are those of ``shared/corpus`` that name one of our types. Batches are cut to one image; nothing else is changed.
"""

from __future__ import annotations

import collections
import csv
import math
from typing import Any

import numpy as np
import pytest

from engine.errors import SchemaError
from engine.files import load_weights
from engine.layer import Phase
from engine.net import Net
from engine.plugins import find_plugins
from engine.registry import default_registry
from engine.schema import read_net
from tests.support import shared

NETS = {
    "mobilenet-yolo/yoloface-500k-v2.prototxt": {"Upsample": 2},
    "synopsys/shufflenet_v1__shufflenet_1x_g3_deploy.prototxt": {"ShuffleChannel": 15},
    "synopsys/icnet__icnet_cityscapes.prototxt": {"Interp": 10},
}
#: Nets that name our types, but ask for settings that built-in layers have in their fork only; one of them.
OTHERS = {
    "synopsys/mobilenet__v3-small_224_0.75_float_convert_optimized.prototxt": "pad_l",
}


def our_types() -> set[str]:
    folders = [each for each in find_plugins(safe=True).folders if each.name in ("segmentation", "mobile")]
    return {entry.type for folder in folders for entry in folder.manifest.types if not entry.only_with}


def read(name: str) -> Any:
    """Read a net; Synopsys's AVE_EXC_PAD is AVE where there is no padding to leave out, as in its ShuffleNet."""
    text = shared(f"corpus/prototxt/{name}").read_text()
    for part in text.split("AVE_EXC_PAD")[1:]:
        assert "pad" not in part.partition("}")[0]
    return read_net(text.replace("AVE_EXC_PAD", "AVE"), schema=default_registry().schema())


def one_image(param: Any) -> Any:
    for shape in [*param.input_shape, *(each for layer in param.layer for each in layer.input_param.shape)]:
        shape.dim[0] = 1
    for start in range(0, len(param.input_dim), 4):
        param.input_dim[start] = 1
    return param


def give_values(net: Net) -> None:
    """Give inputs and all parameters that start as zero made-up values, of which no layer makes ever larger ones."""
    rng = np.random.default_rng(0)
    for name in net.inputs:
        net.blobs[name].data[...] = rng.standard_normal(net.blobs[name].shape)
    for node in net.nodes:
        for index, blob in enumerate(node.blobs.on_host):
            if blob.data.any():
                continue
            statistic = index in {"BatchNorm": (1, 2), "BN": (3,), "Scale": (0,)}.get(node.type, ())
            fan_in = math.prod(blob.shape[1:]) if node.type not in ("BatchNorm", "BN", "Scale") else 1
            values = rng.standard_normal(blob.shape) * math.sqrt(2 / max(fan_in, 1))
            blob.data[...] = 1 if statistic else values if index == 0 else 0.1 * values


def run(param: Any, phase: Phase, **options: Any) -> Net:
    """Build a net, run it forward, give each output a gradient and run it backward; check that all is finite."""
    param.force_backward = True
    net = Net(param, phase, seed=1, **options)
    give_values(net)
    net.forward()
    rng = np.random.default_rng(1)
    if not net.loss_weights:
        for name in net.outputs:
            net.blobs[name].diff[...] = rng.standard_normal(net.blobs[name].shape)
    net.backward()
    wrong = [name for name, blob in net.blobs.items() if not np.isfinite(blob.data).all()]
    wrong += [item.name for item in net.learnable if not np.isfinite(item.blob.diff).all()]
    assert wrong == []
    return net


def test_all_nets_with_our_types_are_looked_at() -> None:
    found = set()
    with shared("corpus/prototxt/index.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            types = {entry.rsplit(":", 1)[0] for entry in row["layer_types"].split()}
            if types & our_types():
                found.add(row["file"])
    assert found == {*NETS, *OTHERS}


@pytest.mark.parametrize("name", NETS)
def test_they_build_with_the_plugins_layers(name: str) -> None:
    net = Net(read(name), Phase.TEST, shapes_only=True)
    made = collections.Counter(node.type for node in net.nodes if node.layer.info.plugin in ("segmentation", "mobile"))
    assert made == NETS[name]
    outputs = [net.blobs[output].shape for output in net.outputs]
    assert all(min(shape) > 0 for shape in outputs)


@pytest.mark.parametrize("phase", Phase, ids=str)
@pytest.mark.parametrize("name", [name for name in NETS if "icnet" not in name])
def test_they_run(name: str, phase: Phase) -> None:
    net = run(one_image(read(name)), phase)
    ours = [node for node in net.nodes if node.type in NETS[name]]
    assert ours and all(net.blobs[net.bottom_names[node.name][0]].diff.any() for node in ours)


@pytest.mark.slow
def test_icnet_runs() -> None:
    """Its sizes are written out, so that its images cannot be made smaller: 1025 by 2049 pixels."""
    net = run(read("synopsys/icnet__icnet_cityscapes.prototxt"), Phase.TEST)
    ours = [node for node in net.nodes if node.type == "Interp"]
    assert len(ours) == 10 and all(net.blobs[net.bottom_names[node.name][0]].diff.any() for node in ours)


@pytest.mark.parametrize("name", OTHERS)
def test_others_say_what_they_lack(name: str) -> None:
    with pytest.raises(SchemaError, match=OTHERS[name]):
        read_net(shared(f"corpus/prototxt/{name}"), schema=default_registry().schema())


def test_public_weights_fit() -> None:
    net = Net(read("mobilenet-yolo/yoloface-500k-v2.prototxt"), Phase.TEST)
    report = load_weights(net, shared("corpus/weights/yoloface-500k-v2.caffemodel"))
    assert len(report.loaded) > 100
    rng = np.random.default_rng(0)
    for name in net.inputs:
        net.blobs[name].data[...] = rng.uniform(0, 1, net.blobs[name].shape)
    net.forward()
    assert all(np.isfinite(net.blobs[name].data).all() for name in net.outputs)
