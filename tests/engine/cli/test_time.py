"""How long layers take, measured on layers that take a known time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main

SLOW = """
import time
import caffe

class Slow(caffe.Layer):
    calls = 0

    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        Slow.calls += 1
        time.sleep(0.03 if Slow.calls == 2 else 0.005)
        top[0].data[...] = bottom[0].data

    def backward(self, top, propagate_down, bottom):
        time.sleep(0.01)
        bottom[0].diff[...] = top[0].diff
"""
NET = """
name: "timed"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 2 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 4 } }
layer { name: "slow" type: "Python" bottom: "ip" top: "slow" python_param { module: "slow_layer" layer: "Slow" } }
layer { name: "extra" type: "ReLU" bottom: "slow" top: "slow" include { stage: "more" min_level: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "slow" bottom: "label" top: "loss" include { phase: TRAIN } }
"""


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "slow_layer.py").write_text(SLOW)
    (tmp_path / "net.prototxt").write_text(NET)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "net.prototxt"


def timed(capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    assert main(["time", "-model", "net.prototxt", "--json", "--quiet", *flags]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_mean_and_least_of_each_layer(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = timed(capsys, "-iterations", "8")
    layers = {layer["name"]: layer for layer in result["layers"]}
    assert list(layers) == ["data", "label", "ip", "slow", "loss"] and layers["slow"]["type"] == "Python"
    slow = layers["slow"]
    assert 5 <= slow["forward"]["min"] < 20 and slow["forward"]["mean"] >= (7 * 5 + 30) / 8
    assert 10 <= slow["backward"]["min"] <= slow["backward"]["mean"]
    for way in ("forward", "backward"):
        means, least = (sum(layer[way][kind] for layer in layers.values()) for kind in ("mean", "min"))
        assert result[way]["mean"] == pytest.approx(means, rel=1e-6) and least <= result[way]["min"]
    both = result["forward"]["mean"] + result["backward"]["mean"]
    assert result["forward_backward"]["mean"] == pytest.approx(both, rel=1e-6)
    assert result["total"] == pytest.approx(8 * both, rel=1e-6)
    assert (result["phase"], result["iterations"], result["unit"]) == ("TRAIN", 8, "ms")


@pytest.mark.parametrize(
    ("flags", "last", "phase"),
    [
        (["-phase", "TEST"], ["ip", "slow"], "TEST"),
        (["-phase=train"], ["slow", "loss"], "TRAIN"),
        (["-phase", "TEST", "-stage", "other,more", "-level", "2"], ["slow", "extra"], "TEST"),
        (["-phase", "TEST", "-stage", "more", "-level", "1"], ["ip", "slow"], "TEST"),
    ],
)
def test_phase_stage_and_level(
    net: Path, flags: list[str], last: list[str], phase: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = timed(capsys, "-iterations", "1", *flags)
    assert [layer["name"] for layer in result["layers"]][-2:] == last and result["phase"].upper() == phase


def test_table_totals_and_log_as_caffe_has_them(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["time", "-model", "net.prototxt", "-iterations", "3"]) == 0
    captured = capsys.readouterr()
    table, totals = captured.out.split("\n\n")
    head, *rows = table.splitlines()
    assert re.split(r"  +", head) == ["layer", "type", "forward ms", "least", "backward ms", "least", "share"]
    assert [row.split()[0] for row in rows] == ["data", "label", "ip", "slow", "loss"]
    words = ("Average Forward pass", "Average Backward pass", "Average Forward-Backward", "Total Time")
    for line, start in zip(totals.splitlines(), words, strict=True):
        assert re.fullmatch(rf"{start}: [0-9.]+ ms\.", line)
    log = [line.partition("] ")[2] for line in captured.err.splitlines()]
    assert [line for line in log if line.startswith("Iteration: ")][2].startswith(
        "Iteration: 3 forward-backward time: "
    )
    assert re.search(r"^      slow\tforward: [0-9.]+ ms\.$", "\n".join(log), re.MULTILINE)
    assert log[-5:-1] == totals.splitlines() and log[-1] == "*** Benchmark ends ***"


def test_weights_are_used(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    losses = []
    for weights in ([], ["-weights", "weights.caffemodel"]):
        assert main(["time", "-model", "net.prototxt", "-iterations", "1", "--seed", "1", *weights]) == 0
        losses += re.findall(r"Initial loss: ([0-9.]+)", capsys.readouterr().err)
    assert float(losses[1]) < float(losses[0])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-model", "net.prototxt", "-phase", "DEPLOY"], 2, "expected TRAIN or TEST, got 'DEPLOY'"),
        (["-model", "empty.prototxt"], 1, "expected a net with layers in phase TRAIN, got none"),
        (["-model", "net.prototxt", "-iterations", "0"], 2, "1 or more, got '0'"),
    ],
)
def test_what_cannot_be_timed(
    net: Path, arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.prototxt").write_text('name: "empty"\n')
    try:
        got = main(["time", *arguments])
    except SystemExit as exit_request:
        got = exit_request.code  # type: ignore[assignment]
    assert got == code and words in capsys.readouterr().err
