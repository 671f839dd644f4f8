"""``netcanvas show``: shapes, parameters and costs of a net."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main

NET = """
name: "toy"
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" param { name: "w" } param { name: "b" }
  convolution_param { num_output: 6 kernel_size: 3 pad: 1 group: 3 } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "f" type: "Flatten" bottom: "c" top: "f" }
layer { name: "i" type: "InnerProduct" bottom: "f" top: "i" inner_product_param { num_output: 4 bias_term: false } }
layer { name: "d" type: "Dropout" bottom: "i" top: "i" include { phase: TRAIN } }
"""
SHARED = """
layer { name: "c2" type: "Convolution" bottom: "x" top: "c2" param { name: "w" } param { name: "b" }
  convolution_param { num_output: 6 kernel_size: 3 pad: 1 group: 3 } }
"""
CONV = 2 * 6 * 8 * 8 * 9
OUTPUTS = 2 * 6 * 8 * 8


def show(path: Path, text: str, capsys: pytest.CaptureFixture[str], *flags: str) -> Any:
    path.write_text(text)
    assert main(["show", str(path), "--json", *flags]) == 0
    return json.loads(capsys.readouterr().out)


def test_costs_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = show(tmp_path / "n.prototxt", NET, capsys)
    assert (told["name"], told["phase"]) == ("toy", "TEST")
    layers = {layer["name"]: layer for layer in told["layers"]}
    assert list(layers) == ["x", "c", "r", "f", "i"]
    assert layers["c"]["tops"] == [{"name": "c", "shape": [2, 6, 8, 8]}]
    assert layers["c"]["parameter_shapes"] == [[6, 1, 3, 3], [6]]
    assert [layer["multiply_adds"] for layer in layers.values()] == [0, CONV, 0, 0, 2 * 4 * 384]
    assert [layer["activations"] for layer in layers.values()] == [384, OUTPUTS, 0, 0, 8]
    weights, blobs = 4 * (60 + 4 * 384), 4 * (384 + OUTPUTS + 8)
    assert told["total"] == {
        "parameters": 60 + 4 * 384,
        "multiply_adds": CONV + 2 * 4 * 384,
        "weights": weights,
        "activations": blobs,
        "inference": weights + blobs,
        "training": 3 * weights + blobs + 4 * (OUTPUTS + 8),  # data have no gradient
    }


def test_shared_parameters_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = show(tmp_path / "n.prototxt", NET, capsys)["total"]
    shared = show(tmp_path / "n.prototxt", NET + SHARED, capsys)["total"]
    assert shared["parameters"] == alone["parameters"]
    assert shared["multiply_adds"] == alone["multiply_adds"] + CONV


def test_phases_and_nets_of_old_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained = show(tmp_path / "n.prototxt", NET, capsys, "--phase", "train")
    assert [layer["name"] for layer in trained["layers"]] == ["x", "c", "r", "f", "i", "d"]
    old = (
        'input: "x" input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 8\n'
        'layers { name: "c" type: CONVOLUTION bottom: "x" top: "c" '
        "convolution_param { num_output: 6 kernel_size: 3 pad: 1 group: 3 } }\n"
    )
    told = show(tmp_path / "n.prototxt", old, capsys)
    assert told["total"]["multiply_adds"] == CONV and told["layers"][1]["type"] == "Convolution"


def test_the_table_tells_what_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "n.prototxt"
    path.write_text(NET + 'layer { name: "z" type: "Nope" bottom: "i" top: "z" }\n')
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["layer", "type", "tops", "parameters", "multiply-adds", "memory"]
    assert lines[2].split() == [
        "c",
        "Convolution",
        "c",
        "(2",
        "x",
        "6",
        "x",
        "8",
        "x",
        "8)",
        "60",
        "6,912",
        "3.0",
        "KiB",
    ]
    assert any(line.startswith("z") and "z ?" in line for line in lines)
    assert "not counted" in lines[-1] and "1 of 6 layers" in lines[-1] and "'Nope'" in lines[-1]


def test_other_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.prototxt"
    path.write_text("base_lr: 1\nlr_policy: 'fixed'\n")
    assert main(["show", str(path)]) == 1
    assert "looks like a solver" in capsys.readouterr().err


def test_the_dialect_is_told_where_a_shape_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = 'layer { name: "q" type: "VideoData" top: "q" video_data_param { skip_frames: 1 } }'
    path = tmp_path / "n.prototxt"
    assert show(path, NET, capsys)["dialect"] == "bvlc"
    assert show(path, NET + fork, capsys)["dialect"] == "ssd"
    assert main(["show", str(path)]) == 0
    *_, unknown, likely, dialect = capsys.readouterr().out.splitlines()
    assert "1 of 6 layers" in unknown and likely.endswith("--input-shape q=0,3,224,224")
    assert dialect.startswith("Taken for a file of SSD's Caffe (ssd): ")
