"""``test``: each batch in the log and the means as the result, in Caffe's words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.cli import main

NET = """
layer { name: "d" type: "DummyData" top: "a" top: "b" top: "big" dummy_data_param {
  shape { dim: 2 dim: 2 } data_filler { type: "constant" value: 1.5 }
  shape { dim: 1 } data_filler { value: 4 } shape { dim: 5000 } data_filler { value: 3 } } }
layer { name: "sum" type: "Reduction" bottom: "b" top: "scaled" loss_weight: 0.5 }
layer { name: "mean" type: "Power" bottom: "a" top: "half" power_param { scale: 0.5 } include { stage: "more" } }
"""
WEIGHTS = ["-weights", "weights.caffemodel"]


def batches(text: str) -> list[str]:
    return re.findall(r"^I\d{4} .*\] (Batch .*)$", text, re.MULTILINE)


def test_every_value_of_every_batch(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dummy.prototxt").write_text(NET)
    assert main(["test", "-model", "dummy.prototxt", *WEIGHTS, "-iterations", "2"]) == 0
    captured = capsys.readouterr()
    big = "big = 3 (mean of 5000 values of shape (5000,), from 3 to 3)"
    values = [*["a = 1.5"] * 4, big, "scaled = 4"]
    assert batches(captured.err) == [f"Batch {batch}, {value}" for batch in range(2) for value in values]
    assert captured.out.splitlines() == ["Loss: 2", *values[:-1], "scaled = 4 (* 0.5 = 2 loss)"]
    assert "Running for 2 iterations." in captured.err


def test_means_are_of_the_batches(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "-model", "net.prototxt", *WEIGHTS, "-iterations", "5", "--json"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    for name in ("accuracy", "loss"):
        values = [float(value) for value in re.findall(rf"Batch \d, {name} = (\S+)", captured.err)]
        assert len(values) == 5 and result["outputs"][name] == pytest.approx(sum(values) / 5, rel=1e-4)
    assert result["loss"] == pytest.approx(result["outputs"]["loss"], rel=1e-6) and result["batches"] == 5


@pytest.mark.parametrize("command", [["test", *WEIGHTS], ["time"]], ids=["test", "time"])
def test_what_plugins_print_is_no_part_of_the_json(
    world: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("loud.py").write_text("def loud(inputs, outputs):\n    print('heard')\n    outputs[0].feed(inputs[0].data)\n")
    layer = 'type: "Python" python_param { module: "loud" layer: "loud" }'
    Path("dummy.prototxt").write_text(NET + f'layer {{ name: "loud" bottom: "a" top: "c" {layer} }}')
    assert main([*command, "-model", "dummy.prototxt", "-iterations", "1", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) and "heard" in captured.err


@pytest.mark.parametrize(("flags", "words"), [(["-phase", "TEST"], ""), (["-phase", "TRAIN"], "--phase TRAIN is not")])
def test_the_phase_is_test(world: Path, flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "-model", "net.prototxt", *WEIGHTS, "-iterations", "1", "--quiet", *flags]) == 0
    captured = capsys.readouterr()
    assert "accuracy = " in captured.out and (words in captured.err if words else not captured.err)


def test_stages_choose_layers(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dummy.prototxt").write_text(NET)
    assert main(["test", "-model", "dummy.prototxt", *WEIGHTS, "-iterations", "1", "-stage", "more"]) == 0
    assert "half = 0.75" in capsys.readouterr().out


def test_training_takes_caffes_phase_flag(world: Path) -> None:
    assert main(["train", "-solver", "solver.prototxt", "-phase", "TRAIN", "--quiet"]) == 0
