"""Plugins' own layer types through the command line: only text unless trusted, and trained all the same."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from app.main import main as program
from engine.cli import main
from engine.files import read_weights
from engine.plugins import use_safe_mode
from tests.engine.plugins.helpers import write

LAYER = """
from engine.api import Layer

class Slide(Layer):
    def setup(self, bottom, top):
        self.blobs.add_blob(1)
        self.blobs[0].data[...] = self.layer_param.slide_param.start

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data + self.blobs[0].data[0]

    def backward(self, top, propagate_down, bottom):
        self.blobs[0].diff[...] += top[0].diff.sum()
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff
"""
MANIFEST = """
    [plugin]
    name = "sliding"
    schema = "slide.proto"
    [types.Slide]
    module = "slide"
    class = "Slide"
    bottoms = ["x"]
    tops = ["y"]
"""
PROTO = """
message LayerParameter { optional SlideParameter slide_param; }
message SlideParameter { optional float start = 1; }
"""
NET = """
    name: "sliding"
    layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param {
      shape { dim: 2 dim: 3 } shape { dim: 2 dim: 3 }
      data_filler { type: "constant" value: 1 } data_filler { type: "constant" value: 5 } } }
    layer { name: "s" type: "Slide" bottom: "x" top: "y" slide_param { start: 0.5 } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    marker = tmp_path / "ran"
    write(tmp_path / "plugins" / "p", slide=f"open({str(marker)!r}, 'a').close()\n{LAYER}")
    (tmp_path / "plugins" / "p" / "plugin.toml").write_text(textwrap.dedent(MANIFEST), "utf-8")
    (tmp_path / "plugins" / "p" / "slide.proto").write_text(PROTO, "utf-8")
    (tmp_path / "net.prototxt").write_text(NET, "utf-8")
    (tmp_path / "solver.prototxt").write_text(
        'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 40 random_seed: 3 snapshot: 40', "utf-8"
    )
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str]:
    status = main([str(each) for each in arguments])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "show", "diff"])
@pytest.mark.parametrize("trust", [False, True])
def test_code_runs_only_with_trust(
    project: Path, capsys: pytest.CaptureFixture[str], command: str, trust: bool
) -> None:
    net = project / "net.prototxt"
    files = [net, net] if command == "diff" else [net]
    status, out = run(capsys, command, *files, "--json", *(["--trust"] if trust else []))
    assert status == 0, out
    assert (project / "ran").exists() is trust
    if command == "check":
        assert [each["message"] for each in json.loads(out) if each["severity"] != "info"] == []


def test_a_fault_of_the_plugins_message_has_its_place(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = project / "net.prototxt"
    net.write_text(NET.replace("start: 0.5", "strat: 0.5"), "utf-8")
    status, out = run(capsys, "check", net, "--json")
    (fault,) = [each for each in json.loads(out) if each["severity"] == "error"]
    assert status == 1 and fault["line"] == 6 and "start" in fault["message"] + fault["next_step"]


@pytest.mark.parametrize("record", [["--no-record"], ["--runs", "runs"]])
def test_training_implies_consent(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, record: list[str]
) -> None:
    monkeypatch.chdir(project)
    status, _ = run(capsys, "train", "--solver", "solver.prototxt", "--quiet", *record)
    assert status == 0 and (project / "ran").exists()
    (weights,) = project.glob("*.caffemodel")
    (layer,) = [layer for layer in read_weights(weights).layer if layer.name == "s"]
    assert layer.blobs[0].data[0] == pytest.approx(4, abs=0.1)  # 1 + 4 is the target


def test_weights_are_tested_and_scripts_use_the_type(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert run(capsys, "train", "--solver", "solver.prototxt", "--quiet", "--no-record")[0] == 0
    (weights,) = project.glob("*.caffemodel")
    status, out = run(capsys, "test", "--model", "net.prototxt", "--weights", weights, "--iterations", 2)
    assert status == 0 and "loss" in out
    (project / "script.py").write_text(
        textwrap.dedent(f"""
            import caffe
            net = caffe.Net("net.prototxt", {str(weights)!r}, caffe.TEST)
            net.forward()
            print("Slide" in caffe.layer_type_list(), type(net.layers[list(net._layer_names).index("s")]).__name__)
            print(round(float(net.params["s"][0].data[0]), 1))
            solver = caffe.SGDSolver("solver.prototxt")
            solver.step(2)
            print(solver.iter)
        """),
        "utf-8",
    )
    status, out = run(capsys, "run", "script.py")
    assert (status, out.split()) == (0, ["True", "Slide", "4.0", "2"])


def test_safe_mode_runs_nothing_even_with_trust(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = program(["--safe", "check", str(project / "net.prototxt"), "--trust", "--json"])
        found = json.loads(capsys.readouterr().out)
    finally:
        use_safe_mode(False)
    assert status == 1  # its message is left out with the type
    assert any("plugin 'sliding'" in each["message"] and "safe mode" in each["message"] for each in found)
    assert not (project / "ran").exists()


def test_scripts_read_the_plugins_fields_by_caffe_pb2(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All messages are of one family, so that those of a script go into what NetSpec makes, and the other way round."""
    from google.protobuf import text_format

    from engine.compat.caffe import layers, to_proto
    from engine.compat.caffe.proto import caffe_pb2

    monkeypatch.chdir(project)
    net = caffe_pb2.NetParameter()
    text_format.Merge(NET, net)
    (slide,) = [layer for layer in net.layer if layer.type == "Slide"]
    assert slide.slide_param.start == 0.5 and caffe_pb2.SlideParameter(start=2).start == 2
    net.MergeFrom(to_proto(layers.Slide(layers.Input(), slide_param={"start": 3})))
    assert net.layer[-1].slide_param.start == 3
    blob = caffe_pb2.BlobProto(data=[1])
    net.layer[-1].blobs.append(blob)
    monkeypatch.chdir(project.parent)
    with pytest.raises(text_format.ParseError, match="slide_param"):
        text_format.Merge(NET, caffe_pb2.NetParameter())
    assert not (project / "ran").exists()
