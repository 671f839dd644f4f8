"""``netcanvas diff``: two nets, layer by layer, with what it costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main

NET = """\
name: "n"
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text(NET)
    (tmp_path / "b").write_text(
        NET.replace("num_output: 4", "num_output: 6").replace('"r"', '"relu"')
        + 'layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { kernel_size: 2 } }\n'
    )
    (tmp_path / "same").write_text("# copy\n" + NET)
    return tmp_path


def test_the_same_net(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a", "same"]) == 0
    assert capsys.readouterr().out == "The nets are the same.\n"
    assert main(["diff", "a", "same", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["same"] is True


def test_fields_of_plugins_are_compared_by_meaning(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = files / "plugins" / "mine"
    plugin.mkdir(parents=True)
    (plugin / "plugin.toml").write_text('[plugin]\nschema = "mine.proto"\n[types.Mine]\nmodule = "mine"\n')
    (plugin / "mine.py").write_text("import caffe\n\n\nclass MineLayer(caffe.Layer):\n    pass\n")
    (plugin / "mine.proto").write_text(
        'syntax = "proto2";\nmessage LayerParameter { optional MineParameter mine_param = 8266801; }\n'
        "message MineParameter { optional uint32 rows = 1; optional uint32 columns = 2; }\n"
    )
    for name, fields in (("one", "rows: 1 columns: 2"), ("two", "columns: 2 rows: 1"), ("three", "columns: 2 rows: 3")):
        (files / name).write_text(f'layer {{ name: "m" type: "Mine" top: "m" mine_param {{ {fields} }} }}\n')
    assert main(["diff", "one", "two"]) == 0
    capsys.readouterr()
    assert main(["diff", "one", "three"]) == 1
    assert "mine_param.rows: 1 -> 3" in capsys.readouterr().out


def test_layers_shapes_and_costs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a", "b"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "+ layer 'p' (Pooling, line 5)",
        "> layer 'r' -> layer 'relu' (ReLU, line 4)",
        "~ layer 'c': convolution_param.num_output: 4 -> 6",
        "shape of 'c' of layer 'c': (2 x 4 x 6 x 6) -> (2 x 6 x 6 x 6)",
    ]
    assert "parameters: 112 -> 168 (+56)" in lines
    assert f"multiply-adds of a forward pass: {2 * 4 * 36 * 27:,} -> {2 * 6 * 36 * 27:,} (+3,888)" in lines


def test_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "b", "a", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["removed"]] == ["p"] and not found["added"]
    assert found["changed"][0]["fields"] == [{"field": "convolution_param.num_output", "old": "6", "new": "4"}]
    assert found["shapes"] == [{"layer": "c", "top": "c", "old": [2, 6, 6, 6], "new": [2, 4, 6, 6]}]
    assert (found["total"]["old"]["parameters"], found["total"]["new"]["parameters"]) == (168, 112)


@pytest.mark.parametrize(
    ("content", "words"),
    [("<html>", "HTML page"), (NET + "layer {", "page:5:"), (None, "was not found. Check the path.")],
)
def test_what_is_no_net_is_trouble(
    files: Path, content: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (files / "page").write_text(content)
    assert main(["diff", "a", "page"]) == 2
    assert words in capsys.readouterr().err
