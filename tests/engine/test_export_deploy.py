"""``netcanvas export NET OUT --phase deploy``: what people do by hand, and nothing else in the file."""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main
from engine.layer import Phase
from engine.net import Net
from engine.resources import resource_path
from engine.schema import read_net

LENET = resource_path("examples/lenet") / "lenet_train_test.prototxt"
HEAD = """name: "n"  # a comment
layer { name: "d" type: "DummyData" top: "x" top: "label" include { phase: TEST }
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"   # odd   spacing
  inner_product_param { num_output: 5 weight_filler { type: "gaussian" std: 1 } } }
"""


def deploy(folder: Path, text: str, *more: str, out: str = "deploy.prototxt", status: int = 0) -> str:
    (folder / "net.prototxt").write_text(text, "utf-8")
    arguments = ["export", str(folder / "net.prototxt"), str(folder / out), "--phase", "deploy", *more]
    assert main(arguments) == status
    return (folder / out).read_text("utf-8") if status == 0 else ""


def types(text: str, folder: Path) -> list[tuple[str, str]]:
    (folder / "read.prototxt").write_text(text, "utf-8")
    return [(layer.name, layer.type) for layer in read_net(folder / "read.prototxt").layer]


def test_lenet_becomes_its_deploy_net_and_keeps_all_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = LENET.read_text("utf-8")
    after = deploy(tmp_path, before, "--input-shape", "64,1,28,28")
    assert types(after, tmp_path) == [
        ("mnist", "Input"),
        *[
            (name, "Convolution" if name.startswith("c") else "Pooling")
            for name in ("conv1", "pool1", "conv2", "pool2")
        ],
        ("ip1", "InnerProduct"),
        ("relu1", "ReLU"),
        ("ip2", "InnerProduct"),
        ("prob", "Softmax"),
    ]
    changed = [line[2:] for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    assert not [line for line in changed if "num_output" in line or "kernel" in line or "lr_mult" in line]
    assert before[before.index('layer {\n  name: "conv1"') :].startswith(
        after[after.index('layer {\n  name: "conv1"') : after.index('layer {\n  name: "prob"')].rstrip()
    )
    told = capsys.readouterr().err
    for words in (
        "'data' 64x1x28x28, without 'label'",
        "Softmax 'prob' of 'ip2'",
        "'accuracy' (Accuracy",
        "scale 0.00390625",
    ):
        assert words in told
    assert main(["check", str(tmp_path / "deploy.prototxt")]) == 0


@pytest.mark.parametrize(
    ("loss", "kind", "function"),
    [
        ("SoftmaxWithLoss", "Softmax", lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
        ("SigmoidCrossEntropyLoss", "Sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    ],
)
def test_the_probabilities_are_those_of_the_loss(tmp_path: Path, loss: str, kind: str, function: object) -> None:
    text = HEAD + f'layer {{ name: "loss" type: "{loss}" bottom: "ip" bottom: "label" top: "loss" loss_weight: 2 }}\n'
    after = deploy(tmp_path, text)
    assert after.startswith('name: "n"  # a comment\n') and "# odd   spacing" in after
    net = Net(after, Phase.TEST)
    assert net.blobs["x"].shape == (4, 3) and net.outputs == ["prob"] and net.nodes[-1].type == kind
    net.blobs["x"].data[...] = np.random.default_rng(1).normal(size=(4, 3))
    net.forward()
    scores = net.blobs["ip"].data
    np.testing.assert_allclose(net.blobs["prob"].data, function(scores), rtol=1e-5)  # type: ignore[operator]
    net.close()


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ('layer { name: "l" type: "EuclideanLoss" bottom: "ip" bottom: "label" top: "l" }', []),
        (
            'layer { name: "p" type: "Softmax" bottom: "ip" top: "p" }\n'
            'layer { name: "l" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }',
            [("p", "Softmax")],
        ),
        (
            'layer { name: "l" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" include { phase: TRAIN } }\n'
            'layer { name: "l" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" include { phase: TEST } }',
            [("prob", "Softmax")],
        ),
        (
            'layer { name: "prob" type: "InnerProduct" bottom: "ip" top: "b" inner_product_param { num_output: 2 } }\n'
            'layer { name: "l1" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" softmax_param { axis: 1 } }\n'
            'layer { name: "l2" type: "InfogainLoss" bottom: "b" bottom: "label" infogain_loss_param { axis: -1 } }',
            [("prob", "InnerProduct"), ("prob2", "Softmax"), ("prob3", "Softmax")],
        ),
    ],
    ids=["regression", "a softmax is there", "a loss for each phase", "two heads"],
)
def test_each_score_gets_one_probability(tmp_path: Path, tail: str, expected: list[tuple[str, str]]) -> None:
    after = deploy(tmp_path, HEAD + tail + "\n")
    assert types(after, tmp_path)[2:] == expected and "label" not in after and "include" not in after
    Net(after, Phase.TEST).close()


def test_data_to_train_with_stands_in_where_there_is_none_to_test_with(tmp_path: Path) -> None:
    text = HEAD.replace("TEST", "TRAIN") + 'layer { name: "l" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }\n'
    after = deploy(tmp_path, text, "--input-shape", "1,3")
    assert types(after, tmp_path) == [("d", "Input"), ("ip", "InnerProduct"), ("prob", "Softmax")]
    assert Net(after, Phase.TEST).blobs["prob"].shape == (1, 5)


def test_a_net_that_spells_it_out_is_taken_at_its_word(tmp_path: Path) -> None:
    text = """
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } include { stage: "deploy" } }
layer { name: "d" type: "Data" top: "x" top: "y" exclude { stage: "deploy" } }
layer { name: "p" type: "Softmax" bottom: "x" top: "p" include { stage: "deploy" } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "x" bottom: "y" exclude { stage: "deploy" } }
"""
    assert types(deploy(tmp_path, text), tmp_path) == [("in", "Input"), ("p", "Softmax")]


def test_old_formats_and_programs(tmp_path: Path) -> None:
    old = """
layers { name: "d" type: DATA top: "x" top: "label" data_param { source: "gone" batch_size: 2 } }
layers { name: "ip" type: INNER_PRODUCT bottom: "x" top: "ip" inner_product_param { num_output: 5 } }
layers { name: "loss" type: SOFTMAX_LOSS bottom: "ip" bottom: "label" }
"""
    after = deploy(tmp_path, old, "--input-shape", "2,3")
    assert types(after, tmp_path) == [("d", "Input"), ("ip", "InnerProduct"), ("prob", "Softmax")]
    program = deploy(tmp_path, old, "--input-shape", "2,3", out="net.py")
    assert "L.Softmax(" in program and "L.Data(" not in program and "Loss" not in program


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        (LENET.read_text("utf-8").replace("mnist_test_lmdb", "gone"), [], ["shape of 'data'", "--input-shape"]),
        (HEAD, ["--input-shape", "1,3", "--input-shape", "1"], ["at most 1 input shapes, got 2", "'x'"]),
        ('layer { name: "r" type: "ReLU" bottom: "x" top: "y" }', [], ["'r' (ReLU), bottom 0: nothing gives"]),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, more: list[str], words: list[str]
) -> None:
    deploy(tmp_path, text, *more, status=1)
    told = capsys.readouterr().err
    assert all(each in told for each in words) and not (tmp_path / "deploy.prototxt").exists()


def test_shapes_of_inputs_are_for_deploy_nets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.prototxt").write_text(HEAD, "utf-8")
    arguments = ["export", str(tmp_path / "net.prototxt"), str(tmp_path / "o.prototxt"), "--input-shape", "1,3"]
    assert main(arguments) == 1 and "deploy" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*arguments[:-1], "1,x"])
