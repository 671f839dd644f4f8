"""OpenCV's own importer of Caffe nets agrees with ours on every public deploy net that it can read.

Nets get made-up weights, which we write as a ``.caffemodel`` for both; images are cut as for the corpus test.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from engine.files import write_weights
from engine.layer import Phase
from engine.net import Net
from tests.engine.corpus_nets import Ready, Sources, fill, public_nets, work
from tests.support import shared

cv2 = pytest.importorskip("cv2", reason="the extra 'dev' brings opencv-python-headless")

TOLERANCE = 1e-3
LIMIT, PARAMS = 20.0, 90.0
TOO_LARGE = "too large for this test"
SOURCES = frozenset({"Data", "DummyData", "HDF5Data", "ImageData", "MemoryData", "Python", "WindowData"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comparing one net gave: the largest difference relative to the output's largest magnitude, or a reason."""

    file: str
    difference: float = float("nan")
    reason: str = ""


def make_up_weights(net: Net) -> None:
    """Fill all parameters so that values neither die out nor grow without end."""
    rng = np.random.default_rng(7)
    normal = rng.standard_normal(1_000_003, np.float32)  # repeated where a blob has more; drawing takes the longest
    for node in net.nodes:
        for index, blob in enumerate(node.blobs.on_host):
            shape = blob.shape
            if node.type == "BatchNorm":
                value: Any = (rng.normal(0, 0.1, shape), rng.uniform(0.5, 1.5, shape), 1)[index]
            elif node.type == "Scale":
                value = rng.uniform(0.8, 1.2, shape) if index == 0 else rng.normal(0, 0.05, shape)
            elif node.type == "PReLU":
                value = 0.25
            elif len(shape) >= 2:
                value = np.resize(normal, shape) * np.float32(np.sqrt(2 / np.prod(shape[1:])))
            else:
                value = rng.normal(0, 0.05, shape)
            blob.data[...] = value


def compare(ready: Ready, net: Net, folder: Path) -> float:
    """Run a net here and in OpenCV; return the largest relative difference of its outputs and of Softmax's inputs."""
    text, weights = folder / "net.prototxt", folder / "net.caffemodel"
    text.write_text(text_format.MessageToString(ready.param))
    inputs = {name: net.blobs[name].data for name in net.inputs}
    write_weights(net, weights)
    net.forward()
    theirs = cv2.dnn.readNetFromCaffe(str(text), str(weights))
    theirs.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    for name, value in inputs.items():
        theirs.setInput(value, name)
    wanted = layers_to_compare(net, set(theirs.getLayerNames()))
    assert wanted, "a net has outputs"
    results = theirs.forward(list(wanted))
    return max(
        relative(np.asarray(got), net.blobs[blob].data) for got, blob in zip(results, wanted.values(), strict=True)
    )


def layers_to_compare(net: Net, known: set[str]) -> dict[str, str]:
    """Return blobs by the last layer that writes them: outputs, and what a Softmax saturates."""
    softmax = [net.bottom_names[node.name][0] for node in net.nodes if node.type == "Softmax"]
    blobs = [blob for blob in dict.fromkeys([*net.outputs, *softmax]) if "_split_" not in blob]
    writers = {top: node.name for node in net.nodes for top in net.top_names[node.name]}
    return {writers[blob]: blob for blob in blobs if writers[blob] in known}


def relative(got: Any, wanted: Any) -> float:
    """Return the largest difference over the largest magnitude; shapes may differ in axes of one."""
    if got.size != wanted.size:
        return float("inf")
    return float(np.abs(got.reshape(-1) - wanted.reshape(-1)).max() / max(np.abs(wanted).max(), 1e-12))


def judge(sources: Sources, path: Path, file: str, folder: Path) -> Verdict | None:
    """Compare one net; None if it is no deploy net that runs."""
    try:
        ready = sources.ready(path, Phase.TEST)
    except Exception:
        return None  # the corpus test tells of it
    if SOURCES & {layer.type for layer in ready.param.layer} or any("Loss" in each.type for each in ready.param.layer):
        return None
    with sources.build(ready, Phase.TEST, shapes_only=True) as shapes:
        if work(shapes) > LIMIT or sum(item.blob.count for item in shapes.learnable) > PARAMS * 1e6:
            return Verdict(file, reason=TOO_LARGE)
    with sources.build(ready, Phase.TEST) as net:
        fill(net)
        make_up_weights(net)
        try:
            return Verdict(file, compare(ready, net, folder))
        except cv2.error as error:
            return Verdict(file, reason=" ".join(str(error).split())[:200])


@pytest.mark.slow
def test_opencv_agrees(tmp_path, capsys, caplog):
    caplog.set_level("ERROR")
    shared("corpus/prototxt")
    (tmp_path / "sources").mkdir()
    sources = Sources(tmp_path / "sources")
    verdicts = [judge(sources, path, row["file"], tmp_path) for path, row in public_nets()]
    judged = [verdict for verdict in verdicts if verdict is not None]
    read = [verdict for verdict in judged if not verdict.reason]
    small = [verdict for verdict in judged if verdict.reason != TOO_LARGE]
    agreeing = [verdict for verdict in read if verdict.difference <= TOLERANCE]
    with capsys.disabled():
        worst = max(read, key=lambda verdict: verdict.difference)
        print(
            f"\nOpenCV {cv2.__version__} reads {len(read)} of {len(small)} deploy nets and agrees on {len(agreeing)}; "
        )
        print(f"  worst {worst.difference:.2g} ({worst.file})")
        for verdict in judged:
            if verdict not in agreeing:
                print(f"  {verdict.file}: {verdict.reason or verdict.difference}")
    assert agreeing == read
    assert len(read) >= 25


def test_a_difference_is_seen(tmp_path, monkeypatch):
    """The comparison tells a net whose weights OpenCV has one percent larger than we."""
    (tmp_path / "sources").mkdir()
    path = tmp_path / "small.prototxt"
    path.write_text(
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }\n'
        'layer { name: "c" type: "Convolution" bottom: "x" top: "c" '
        "convolution_param { num_output: 4 kernel_size: 3 } }"
    )
    sources = Sources(tmp_path / "sources")
    ready = sources.ready(path, Phase.TEST)
    net = sources.build(ready, Phase.TEST)
    fill(net)
    make_up_weights(net)
    assert compare(ready, net, tmp_path) < 1e-5

    def write_others(net, file, write=write_weights):
        net.params["c"][0].data[...] *= 1.01
        write(net, file)
        net.params["c"][0].data[...] /= 1.01

    monkeypatch.setattr("tests.engine.test_opencv.write_weights", write_others)
    assert compare(ready, net, tmp_path) > TOLERANCE
