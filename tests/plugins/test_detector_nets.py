"""Public nets of SSD, Faster R-CNN and R-FCN with the layers of the shipped plugins, on made-up input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import prototxt
from engine.layer import Phase
from engine.net import Net
from engine.registry import default_registry
from engine.schema import to_message
from tests.plugins.annotated_records import records, write
from tests.support import shared

#: Plays the Python layers that the nets bring along: data, and targets of anchors and regions.
STAND_INS = Path(__file__).parent / "stand_ins"
VGG = pytest.mark.slow
NETS = [
    pytest.param("intel/VOC0712__SSD_300x300__train.prototxt", Phase.TRAIN, marks=VGG),
    pytest.param("intel/VOC0712__SSD_300x300__test.prototxt", Phase.TEST, marks=VGG),
    pytest.param("mobilenet-ssd/train.prototxt", Phase.TRAIN),
    pytest.param("mobilenet-ssd/voc__MobileNetSSD_deploy.prototxt", Phase.TEST),
    pytest.param("intel/ResNet-50__rfcn_end2end__test_agnostic.prototxt", Phase.TEST),
    pytest.param("py-faster-rcnn/VGG16__faster_rcnn_end2end__train.prototxt", Phase.TRAIN, marks=VGG),
    pytest.param("py-faster-rcnn/VGG16__faster_rcnn_end2end__test.prototxt", Phase.TEST, marks=VGG),
    pytest.param("py-faster-rcnn/ZF__fast_rcnn__train.prototxt", Phase.TRAIN, marks=VGG),
]


def made_up_data(layers: Any, folder: Path) -> None:
    """Put small databases and lists where the layers look for theirs."""
    for layer in layers:
        if layer.type == "AnnotatedData":
            layer.data_param.batch_size = 1
            path = folder / layer.data_param.source
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, records(3, size=(90, 120)))
        if layer.type == "DetectionEvaluate":
            path = folder / layer.detection_evaluate_param.name_size_file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("first 90 120\nsecond 90 120\nthird 90 120\n", encoding="utf-8")


@pytest.mark.parametrize(("file", "phase"), NETS)
def test_a_public_net_runs(file: str, phase: Phase, tmp_path: Path) -> None:
    folders = [STAND_INS, tmp_path]
    registry = default_registry(folders)
    text = shared(f"corpus/prototxt/{file}").read_bytes()
    message = to_message(prototxt.parse(text).root, "NetParameter", schema=registry.schema())
    made_up_data(message.layer, tmp_path)
    net = Net(message, phase, registry=registry, base_dirs=folders, seed=1)
    rng = np.random.default_rng(1)
    for name in net.inputs:
        blob = net.blobs[name]
        blob.data[...] = [[*net.blobs["data"].shape[2:], 1]] if name == "im_info" else rng.standard_normal(blob.shape)
    for param in net.learnable:
        weights = param.blob.data
        if (
            phase == Phase.TRAIN and weights.ndim > 1 and not weights.any()
        ):  # without a filler: they were to come from a file
            weights[...] = rng.standard_normal(weights.shape) * np.sqrt(2 / weights[0].size)
    loss = net.forward()
    for name in net.outputs:
        assert np.isfinite(net.blobs[name].data).all(), name
    if phase == Phase.TRAIN:
        assert np.isfinite(loss) and loss > 0
        net.backward()
        grads = [param.blob.diff for param in net.learnable]
        assert all(np.isfinite(grad).all() for grad in grads)
        assert sum(bool(grad.any()) for grad in grads) > len(grads) / 3  # batch norm's statistics have none
    for layer in net.layers:
        layer.close()
