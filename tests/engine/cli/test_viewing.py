"""Commands that are asked about one net of a file, and the dialect that was chosen for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.schema import read_net
from engine.sidecar import sidecar_path

INPUT = "input_param { shape { dim: 2 dim: 3 } shape { dim: 2 } }"
STAGED = f"""\
layer {{ name: "t" type: "Input" top: "x" top: "l" include {{ phase: TRAIN stage: "fit" }} {INPUT} }}
layer {{ name: "v" type: "Input" top: "x" top: "l" include {{ phase: TEST min_level: 1 }} {INPUT} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param {{ num_output: 4 }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "l" top: "loss" }}
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.prototxt"
    path.write_text(STAGED)
    return path


@pytest.mark.parametrize(
    ("flags", "codes"),
    [
        ([], set()),
        (["--phase", "train"], {"bottom-view"}),
        (["-phase", "TRAIN", "-stage", "fit"], set()),
        (["-phase=TEST", "-level=1"], set()),
        (["--stage", "fit"], {"bottom-view"}),  # in TEST
        (["--stage", "fit", "--level", "1"], set()),
        (["--phase", "deploy", "--level", "1"], set()),
    ],
)
def test_check_of_one_net(net: Path, flags: list[str], codes: set[str], capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(net), "--json", *flags]) == bool(codes)
    assert {each["code"] for each in json.loads(capsys.readouterr().out) if each["severity"] == "error"} == codes


@pytest.mark.parametrize(
    ("flags", "layers"),
    [
        ([], ["ip", "loss"]),
        (["-level", "2"], ["v", "ip", "loss"]),
        (["--phase", "TRAIN", "--stage", "fit"], ["t", "ip", "loss"]),
        (["--phase", "deploy", "--level", "1"], ["v", "ip"]),
    ],
)
def test_show_of_one_net(net: Path, flags: list[str], layers: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["show", str(net), "--json", *flags]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["layers"]] == layers


def test_what_is_no_net_to_show_is_refused(net: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["show", str(net), "--phase", "both"])
    assert "expected TRAIN, TEST or deploy, got 'both'" in capsys.readouterr().err


def test_stages_of_a_file_are_not_mixed_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Each stage feeds batches of its own size; together they would not fit."""
    other = STAGED.replace("TRAIN stage", "TEST stage").replace("dim: 2 dim: 3", "dim: 5 dim: 3", 1)
    path = tmp_path / "net.prototxt"
    path.write_text(other.replace("shape { dim: 2 }", "shape { dim: 5 }", 1))
    assert main(["check", str(path)]) == 0
    assert "error" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("chosen", "named", "code"),
    [("ssd", "", "field-not-offered"), ("ssd", "bvlc", "field-unknown"), ("bvlc", "", "field-unknown")],
)
def test_check_reads_the_dialect_that_the_editor_chose(
    net: Path, chosen: str, named: str, code: str, capsys: pytest.CaptureFixture[str]
):
    net.write_text('layer { name: "a" type: "Input" top: "x" transform_param { resize_param { prob: 1 } } }')
    sidecar_path(net).write_text(json.dumps({"dialect": chosen}))
    assert main(["check", str(net), *([f"--dialect={named}"] if named else [])]) == 1
    told = capsys.readouterr().out
    assert f"[{code}]" in told
    assert ("as was chosen in the editor" in told) == (chosen == "ssd" and not named)


@pytest.mark.parametrize(
    ("flags", "layers"),
    [
        ([], ["t", "v", "ip", "loss"]),
        (["--phase", "TRAIN", "--stage", "fit"], ["t", "ip", "loss"]),
        (["--phase", "deploy", "--level", "1"], ["v", "ip", "prob"]),
    ],
)
def test_export_of_one_net(net: Path, flags: list[str], layers: list[str]):
    out = net.with_name("out.prototxt")
    assert main(["export", str(net), str(out), *flags]) == 0
    written = read_net(out)
    assert [layer.name for layer in written.layer] == layers
    assert any(layer.include for layer in written.layer) == (not flags)


def test_export_of_an_old_net_and_its_inputs(tmp_path: Path):
    path, out = tmp_path / "old.prototxt", tmp_path / "out.prototxt"
    path.write_text(
        'input: "x" input_dim: [1, 3, 8, 8]\n'
        'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "p" }\n'
        'layers { layer { name: "c" type: "conv" num_output: 2 kernelsize: 3 } bottom: "p" top: "c" }\n'
        'layers { layer { name: "a" type: "accuracy" } bottom: "c" bottom: "x" top: "a" }\n'
    )
    assert main(["export", str(path), str(out), "--phase", "deploy"]) == 0
    assert [layer.type for layer in read_net(out).layer] == ["Input", "Convolution"]


def test_export_wants_a_phase_with_a_stage(net: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["export", str(net), str(net.with_name("out.prototxt")), "--stage", "fit"]) == 1
    assert "--phase" in capsys.readouterr().err


@pytest.mark.parametrize(("dialect", "same"), [("ssd", True), ("bvlc", False)])
def test_diff_compares_values_of_the_dialect(tmp_path: Path, dialect: str, same: bool):
    """Two spellings of one number are the same only to who knows the field."""
    files = [tmp_path / "a.prototxt", tmp_path / "b.prototxt"]
    for path, number in zip(files, ("4", "0x4"), strict=True):
        layer = 'layer { name: "a" type: "Input" top: "x" video_data_param { skip_frames: '
        path.write_text(f"{layer}{number} }} }}\n")
        sidecar_path(path).write_text(json.dumps({"dialect": dialect}))
    assert main(["diff", *map(str, files)]) == (not same)
    assert main(["diff", *map(str, files), "--dialect", "ssd"]) == 0
