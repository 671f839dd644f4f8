"""The model templates: they build in every phase, with the literature's shapes and numbers of parameters."""

from __future__ import annotations

import math
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.api import Phase
from engine.diagnostics import diagnose
from engine.graph import DEPLOY, OpGraph, View
from engine.net import Net
from engine.resources import resource_path
from engine.schema import read_net
from tests.support import ROOT

FOLDER = resource_path("templates")
COLOUR = (2, 3, 224, 224)


@dataclass(frozen=True)
class Expected:
    """What the paper, or Caffe's own model of it, has.

    ``deployed`` and ``trained`` count the values that a solver learns: running means and variances are not among them.
    """

    deployed: int
    output: tuple[int, ...]
    blobs: dict[str, tuple[int, ...]]
    data: tuple[tuple[int, ...], ...] = (COLOUR, (2,))
    trained: int = 0
    result: str = "prob"
    losses: int = 1


#: AlexNet's and GoogLeNet's counts are those of Caffe's reference models, with biases; ResNet's and MobileNet's are
#: those usually given, with a scale and a shift a channel.
EXPECTED = {
    "lenet": Expected(431_080, (1, 10), {"pool2": (1, 50, 4, 4)}, ((2, 1, 28, 28), (2,))),
    "alexnet": Expected(
        60_965_224, (1, 1000), {"conv1": (1, 96, 55, 55), "pool5": (1, 256, 6, 6)}, ((2, 3, 227, 227), (2,))
    ),
    "vgg16": Expected(138_357_544, (1, 1000), {"pool5": (1, 512, 7, 7)}),
    "googlenet": Expected(
        6_998_552,
        (1, 1000),
        {"inception_3b": (1, 480, 28, 28), "inception_4e": (1, 832, 14, 14), "inception_5b": (1, 1024, 7, 7)},
        trained=13_378_280,
        losses=3,
    ),
    "resnet18": Expected(11_689_512, (1, 1000), {"res2b": (1, 64, 56, 56), "res5b": (1, 512, 7, 7)}),
    "resnet50": Expected(25_557_032, (1, 1000), {"res2c": (1, 256, 56, 56), "res5c": (1, 2048, 7, 7)}),
    "squeezenet": Expected(
        1_248_424, (1, 1000, 1, 1), {"conv10": (1, 1000, 13, 13), "fire9": (1, 512, 13, 13)}, ((2, 3, 227, 227), (2,))
    ),
    "mobilenet": Expected(4_231_976, (1, 1000), {"conv14_pw": (1, 1024, 7, 7)}),
    "unet": Expected(
        31_030_658, (1, 2, 256, 256), {"bottom_b": (1, 1024, 16, 16)}, ((2, 1, 256, 256), (2, 1, 256, 256))
    ),
    "char_lstm": Expected(895_104, (64, 1, 128), {"lstm2": (64, 1, 256)}, ((64, 2), (64, 2), (64, 2))),
    "siamese": Expected(
        431_102, (1, 2), {"pool2": (1, 50, 4, 4), "pool2_p": (1, 50, 4, 4)}, ((2, 2, 28, 28), (2,)), result="difference"
    ),
}


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.prototxt").read_text(encoding="utf-8")


def learned(net: Net) -> int:
    """Count what a solver learns: shared values once, and those that BatchNorm only measures not at all."""
    measured = {node.layer.name for node in net.nodes if node.layer.type == "BatchNorm"}
    return sum(math.prod(each.blob.shape) for each in net.learnable if each.layer not in measured)


def fed(name: str) -> Any:
    """The net with constants of the right shapes and noise in place of databases, which are not there."""
    net = read_net(text_of(name))
    for layer in net.layer:
        if layer.type in ("Data", "HDF5Data"):
            layer.type = "DummyData"
            for shape in EXPECTED[name].data:
                layer.dummy_data_param.shape.add().dim.extend(shape)
                layer.dummy_data_param.data_filler.add(type="constant", value=1.0)
            if layer.top[0] != "data" or len(layer.top) == 2:  # images; letters are whole numbers
                layer.dummy_data_param.data_filler[0].type = "gaussian"
    return net


def test_the_index_names_all_files_and_no_other():
    index = tomllib.loads((FOLDER / "templates.toml").read_text(encoding="utf-8"))
    assert set(index) == {path.stem for path in FOLDER.glob("*.prototxt")} == set(EXPECTED)
    assert all(set(entry) == {"title", "summary"} for entry in index.values())


def test_what_ships_is_what_the_script_writes():
    script = ROOT / "docs" / "build_templates.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", EXPECTED)
def test_a_template_deploys_with_the_right_shapes_and_parameters(name):
    expected = EXPECTED[name]
    with Net(text_of(name), Phase.TEST, stages=["deploy"], shapes_only=True) as net:
        assert learned(net) == expected.deployed
        assert {blob: net.blobs[blob].shape for blob in expected.blobs} == expected.blobs
        assert net.blobs[expected.result].shape == expected.output
        assert not net.warnings
        assert {node.layer.type for node in net.nodes} & {"Data", "HDF5Data", "SoftmaxWithLoss", "Accuracy"} == set()
    assert f"{expected.deployed:,} parameters" in text_of(name)


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_template_trains_and_tests(name, phase):
    expected = EXPECTED[name]
    with Net(fed(name), Phase[phase], shapes_only=True) as net:
        count = expected.trained if phase == "TRAIN" and expected.trained else expected.deployed
        assert learned(net) == count
        losses = [node for node in net.nodes if node.layer.type.endswith("Loss")]
        assert len(losses) == (expected.losses if phase == "TRAIN" else 1)
        scores = [node for node in net.nodes if node.layer.type == "Accuracy"]
        assert bool(scores) == (phase == "TEST" and name != "siamese")


@pytest.mark.parametrize("name", ["lenet", "siamese", "char_lstm"])
def test_a_small_template_runs(name):
    with Net(fed(name), Phase.TRAIN, seed=1) as net:
        assert np.isfinite(net.forward())
        net.backward()
        assert any(np.any(each.blob.diff) for each in net.learnable)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_editor_shows_nothing_wrong_but_the_data_that_are_missing(name):
    graph = OpGraph.parse(text_of(name).encode())
    assert {each.code for each in diagnose(graph) if each.severity != "info"} <= {"file-missing"}
    deployed = graph.look(View(DEPLOY, stages=frozenset(["deploy"])))
    shown = {node.type for node in graph.nodes() if node.id in deployed}
    assert "Input" in shown
    assert not shown & {"Data", "HDF5Data", "Accuracy", "SoftmaxWithLoss", "ContrastiveLoss"}
