"""Exporting nets: programs that rebuild them, and normalised text."""

from __future__ import annotations

import ast
import csv
import os
import re
from pathlib import Path
from typing import Any

import pytest

import engine.compat
from engine.cli import main
from engine.errors import FileFormatError
from engine.export import KINDS, guess_kind
from engine.export.netspec import netspec_source
from engine.export.python_text import string_literal
from engine.schema import load_schema, read_net, to_text
from engine.schema.upgrade import upgrade_inputs
from tests.support import ROOT, shared_files

NET = """
name: 'toy'
layer { name: 'data' type: 'Data' top: 'data' top: 'label' include { phase: TRAIN }
  data_param { source: 'a' batch_size: 64 backend: LMDB } }
layer { name: 'data' type: 'Data' top: 'data' top: 'label' include { phase: TEST } data_param { source: 'b' } }
layer { name: 'conv1/3x3' type: 'Convolution' bottom: 'data' top: 'conv1/3x3' param { lr_mult: 1 } param { lr_mult: 2 }
  convolution_param { num_output: 20 kernel_size: 5 weight_filler { type: 'gaussian' std: 0.01 } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'conv1/3x3' top: 'conv1/3x3' } # in place
layer { name: 'ip' type: 'InnerProduct' bottom: 'conv1/3x3' top: 'ip' inner_product_param { num_output: 10 } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss' }
"""
PROGRAM = """\
# Net "toy", written by Netcanvas. Running this prints the prototxt.
import caffe
from caffe import layers as L, params as P


def make_net():
    n = caffe.NetSpec()
    n.data, n.label = L.Data(
        source="a",
        batch_size=64,
        backend=P.Data.LMDB,
        include=dict(phase=caffe.TRAIN),
        ntop=2,
    )
    # "data", "label" in phase TEST:
    n.data_test = L.Data(
        top=["data", "label"],
        name="data",
        source="b",
        include=dict(phase=caffe.TEST),
        ntop=0,
    )
    n["conv1/3x3"] = L.Convolution(
        n.data,
        num_output=20,
        kernel_size=5,
        weight_filler=dict(type="gaussian", std=0.01),
        param=[dict(lr_mult=1), dict(lr_mult=2)],
    )
    n.relu1 = L.ReLU(n["conv1/3x3"], in_place=True)
    n.ip = L.InnerProduct(n.relu1, num_output=10)
    n.loss = L.SoftmaxWithLoss(n.ip, n.label)
    net = n.to_proto()
    net.name = "toy"
    return net


if __name__ == "__main__":
    print(make_net())
"""


def todays(source: str | Path) -> Any:
    """Return a net as Caffe has it after reading it."""
    net = read_net(source)
    upgrade_inputs(net)
    return net


def rebuilt(source: str) -> Any:
    """Run an exported program and return its net."""
    engine.compat.install()
    space: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported.py", "exec"), space)
    return space["make_net"]()


def readable_nets() -> list[Path]:
    """List the public nets that BVLC's schema reads, and the bundled ones."""
    found = sorted((ROOT / "resources/examples").glob("**/lenet*train_test.prototxt"))
    for index in shared_files("corpus/prototxt/index.csv"):
        with index.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "net" and row["protoc_bvlc"] == "ok"]
        found += [index.parent / row["file"] for row in rows]
    return found


def test_a_program_reads_well() -> None:
    assert netspec_source(read_net(NET)) == PROGRAM


@pytest.mark.parametrize("path", readable_nets(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_public_nets_are_rebuilt(path: Path) -> None:
    net = todays(path)
    source = netspec_source(net)
    assert rebuilt(source) == net
    texts = sum(len(str(node.value)) > 60 for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    assert sum(len(line) > 100 for line in source.splitlines()) <= texts  # only a text that is long makes a line so


def test_how_many_public_nets_can_be_expressed(capsys: pytest.CaptureFixture[str]) -> None:
    """All that BVLC's schema reads; each is rebuilt by the test above."""
    count = len(readable_nets())
    with capsys.disabled():
        print(f"\n{count} nets are rebuilt by their NetSpec programs")
    assert count > 80 or not shared_files("corpus/prototxt/index.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("layer { type: 'ReLU' }", ["n.ReLU = L.ReLU(ntop=0)", 'net.layer[0].ClearField("name")']),
        ("layer { name: 'a' top: 'b' }", ['n.b = getattr(L, "")(name="a")', 'ClearField("type")']),
        ("layer { name: '' type: 'a b' top: 'x' }", ['n.x = getattr(L, "a b")(name="")']),
        ("layer { name: 'x' type: 'ReLU' bottom: 'nowhere' top: 'x' }", ['L.ReLU(bottom="nowhere")']),
        ("layer { name: 'x' type: 'ReLU' bottom: 'x' top: 'x' }", ['n.x = L.ReLU(bottom="x")']),
        ("layer { name: 's' type: 'Split' top: 'x' top: 'x' }", ['n.s = L.Split(top=["x", "x"], ntop=0)']),
        (
            "layer { name: 'x' type: 'Input' top: 'x' }"
            "layer { name: 'x' type: 'ReLU' bottom: 'x' top: 'x' }"
            "layer { name: 'y' type: 'Exp' bottom: 'x' top: 'y' }"
            "layer { name: 'y' type: 'Log' bottom: 'y' top: 'y' }",
            [
                'n.x_2 = L.ReLU(n.x, name="x", in_place=True)',
                "L.Exp(n.x_2)",
                'n.y_2 = L.Log(n.y, name="y", in_place=True)',
            ],
        ),
        (
            "layer { name: 'd' type: 'A' top: 'd' top: 'l' }"
            "layer { name: 'e' type: 'B' bottom: 'd' top: 'l' top: 'm' }"
            "layer { name: 'f' type: 'C' bottom: 'm' bottom: 'l' top: 'f' }",
            ['# "l", "m" again:', 'n.e = L.B(n.d, top=["l", "m"], ntop=0)', 'n.f = L.C(bottom=["m", "l"])'],
        ),
        (
            "layer { name: 'keys' type: 'X' top: 'keys' top: 'in' top: 'é' }",
            ['n["keys"], n["in"], n["é"] = L.X(ntop=3)'],
        ),
        (
            "layer { name: 'x' type: 'Deconvolution' top: 'x' convolution_param { pad: 1 } }",
            ["convolution_param=dict(pad=1)"],
        ),
        (
            "layer { name: 'x' type: 'Convolution' top: 'x' convolution_param { } }",
            ["L.Convolution(convolution_param=dict())"],
        ),
        ("layer { name: 'x' type: 'X' top: 'x' param { share_mode: PERMISSIVE } }", ["caffe_pb2.ParamSpec.PERMISSIVE"]),
        (
            "layer { name: 'x' type: 'Power' top: 'x' power_param { scale: inf shift: -inf power: 1e-8 } }",
            ['power=1e-08, scale=float("inf"), shift=float("-inf")'],
        ),
        (
            "layer { name: 'x' type: 'Python' top: 'x' python_param { param_str: '\\'a\\'\\n\"b\"\\\\' } }",
            [r"""'\'a\'\n"b"\\'"""],
        ),
        ("layers { name: 'x' type: RELU top: 'x' blobs_lr: 1 }", ["n.x = L.ReLU(param=dict(lr_mult=1))"]),
        (
            "input: 'x' input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4 "
            "layer { name: 'y' type: 'ReLU' bottom: 'x' top: 'y' }",
            ['n.x = L.Input(name="input", shape=dict(dim=[1, 2, 3, 4]))', "n.y = L.ReLU(n.x)"],
        ),
        (
            "force_backward: true state { phase: TEST stage: 'a' } layer { name: 'x' type: 'X' top: 'x' }",
            [
                "net.force_backward = True",
                'caffe.net_spec.assign_proto(net, "state", dict(phase=caffe.TEST, stage="a"))',
            ],
        ),
    ],
)
def test_odd_nets_are_rebuilt(text: str, words: list[str]) -> None:
    net = todays(text)
    source = netspec_source(net)
    assert rebuilt(source) == net
    for each in words:
        assert each in source


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "type: 'DetectionOutput' detection_output_param { code_type: CENTER_SIZE }",
            "L.DetectionOutput(code_type=P.PriorBox.CENTER_SIZE)",
        ),
        ("type: 'Data' transform_param { emit_constraint { emit_type: MIN_OVERLAP } }", "EmitConstraint.MIN_OVERLAP"),
        ("type: 'ROIPooling' roi_pooling_param { pooled_w: 7 }", "L.ROIPooling(pooled_w=7)"),
    ],
)
def test_nets_of_forks_are_rebuilt(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "in.prototxt").write_text(f"layer {{ name: 'x' top: 'x' {text} }}")
    assert main(["export", str(tmp_path / "in.prototxt"), str(tmp_path / "out.py")]) == 0
    assert main(["export", str(tmp_path / "in.prototxt"), str(tmp_path / "out.prototxt")]) == 0
    source = (tmp_path / "out.py").read_text()
    assert words in source
    assert to_text(rebuilt(source)) == (tmp_path / "out.prototxt").read_text()


def test_many_values_fill_lines() -> None:
    net = load_schema().message("NetParameter")()
    layer = net.layer.add(name="x", type="X", top=[f"top_number_{index}" for index in range(30)])
    layer.blobs.add(data=[index / 7 for index in range(500)])
    source = netspec_source(net)
    assert rebuilt(source) == net
    assert max(map(len, source.splitlines())) <= 100 and len(source.splitlines()) < 100


def test_a_deep_net_is_rebuilt() -> None:
    net = load_schema().message("NetParameter")()
    net.layer.add(name="x", type="Input", top=["x"])
    for _ in range(5000):
        net.layer.add(name="relu", type="ReLU", bottom=["x"], top=["x"])
    assert rebuilt(netspec_source(net)) == net


@pytest.mark.parametrize("text", ["", "plain", "it's", 'say "x"', "both ' and \"", "a\nb\\c", "\x00\x7f", "é😀 "])
def test_texts_are_literals(text: str) -> None:
    assert ast.literal_eval(string_literal(text)) == text


class TestCommand:
    @pytest.fixture
    def net(self, tmp_path: Path) -> Path:
        path = tmp_path / "net.prototxt"
        path.write_text(NET)
        return path

    @pytest.mark.parametrize(
        ("arguments", "content"),
        [
            (["net.py"], PROGRAM),
            (["net.txt", "--to", "netspec"], PROGRAM),
            (["-to=netspec", "other.prototxt"], PROGRAM),
            (["Other.PROTOTXT"], to_text(read_net(NET))),
        ],
    )
    def test_the_ending_or_the_option_tells_the_kind(
        self, net: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], content: str
    ) -> None:
        monkeypatch.chdir(net.parent)
        assert main(["export", "net.prototxt", *arguments]) == 0
        (made,) = set(net.parent.iterdir()) - {net}
        assert made.read_text(encoding="utf-8") == content and net.read_text() == NET

    @pytest.mark.parametrize("link", ["itself", "symbolic link", "hard link"])
    def test_the_net_is_never_overwritten(self, net: Path, link: str, capsys: pytest.CaptureFixture[str]) -> None:
        target = net
        if link != "itself":
            target = net.with_name("other.prototxt")
            (os.symlink if link == "symbolic link" else os.link)(net, target)
        assert main(["export", str(net), str(target)]) == 1
        assert net.read_text() == NET and "never overwritten" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("source", "out", "words"),
        [
            (NET, "net.xyz", r"ends in one of \.py, \.prototxt.*'\.xyz'.*--to"),
            (NET, "net", "'net'"),
            (NET, "nowhere/net.py", "nowhere"),
            ("layer { type: 'ReLU' nope: 1 }", "net.py", r"in\.prototxt:1:22: .*no field 'nope'"),
            ("layer { type: ", "net.py", r"in\.prototxt:1"),
            ("default_forward_type: FLOAT16 layer { type: 'ReLU' }", "net.py", "field 'default_forward_type'"),
            ("<html>", "net.py", "HTML"),
            (None, "net.py", r"in\.prototxt"),
        ],
    )
    def test_what_cannot_be_written_leaves_no_file(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str | None, out: str, words: str
    ) -> None:
        path = tmp_path / "in.prototxt"
        if source is not None:
            path.write_text(source)
        assert main(["export", str(path), str(tmp_path / out)]) == 1
        assert re.search(words, capsys.readouterr().err)
        assert set(tmp_path.iterdir()) <= {path}

    def test_an_existing_file_stays_whole_when_the_net_is_broken(self, tmp_path: Path) -> None:
        (tmp_path / "in.prototxt").write_text("layer {")
        (tmp_path / "out.py").write_text("mine")
        assert main(["export", str(tmp_path / "in.prototxt"), str(tmp_path / "out.py")]) == 1
        assert (tmp_path / "out.py").read_text() == "mine"

    def test_kinds(self) -> None:
        assert [guess_kind(Path("x"), kind.name) for kind in KINDS] == list(KINDS)
        with pytest.raises(FileFormatError, match="one of netspec, prototxt, got 'onnx'"):
            guess_kind(Path("x.py"), "onnx")
