"""``netcanvas upgrade``: files of old formats become those of today."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.cli import main
from engine.files import read_weights
from engine.schema import load_schema, read_net, read_solver

NET = "# mine\nlayers { name: 'a' type: RELU bottom: 'x' top: 'x' }\nlayer_of_tomorrow: 1\n"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "old.prototxt"
    path.write_text(NET)
    return path


def test_a_net_is_written_beside_the_old_one(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = net.with_name("new.prototxt")
    assert main(["upgrade", str(net), str(out)]) == 0
    assert net.read_text() == NET
    assert out.read_text().startswith("# mine\nlayer {\n  name: 'a'\n")
    assert out.read_text().endswith("}\nlayer_of_tomorrow: 1\n")
    assert read_net(out, strict=False) == read_net(net, strict=False)
    assert "today's format" in capsys.readouterr().err


def test_the_same_file_is_refused_unless_asked_for(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = net.with_name("link.prototxt")
    link.symlink_to(net)
    for out in (net, link):
        assert main(["upgrade", str(net), str(out)]) == 1
        assert "--in-place" in capsys.readouterr().err and net.read_text() == NET
    assert main(["upgrade", str(net), str(net), "--in-place"]) == 0
    assert 'type: "ReLU"' in net.read_text()


def test_a_file_of_today_is_copied_and_in_place_not_touched(net: Path) -> None:
    assert main(["upgrade", str(net), str(net), "--in-place"]) == 0
    os.utime(net, ns=(1, 1))
    out = net.with_name("new.prototxt")
    assert main(["upgrade", str(net), str(out)]) == main(["upgrade", str(net), str(net), "--in-place"]) == 0
    assert out.read_bytes() == net.read_bytes() and net.stat().st_mtime_ns == 1


def test_a_solver(tmp_path: Path) -> None:
    old, new = tmp_path / "solver.prototxt", tmp_path / "new.prototxt"
    old.write_text("net: 'n' # it\nbase_lr: 1\nsolver_type: RMSPROP\n")
    assert main(["upgrade", str(old), str(new)]) == 0
    assert new.read_text() == "net: 'n' # it\nbase_lr: 1\ntype: \"RMSProp\"\n"
    assert read_solver(new).type == "RMSProp"


@pytest.mark.parametrize("oldest", [False, True], ids=["V1", "V0"])
def test_weights(tmp_path: Path, oldest: bool) -> None:
    """B6, B7, B8."""
    net = load_schema().message("NetParameter")(name="n", input=["x"])
    block = net.layers.add(bottom=["x"], top=["c"])
    own = block.layer if oldest else block
    own.name = "c"
    own.blobs_lr.append(2)
    own.blobs.add(num=1, channels=1, height=1, width=2, data=[1, 2])
    if oldest:
        own.type = "conv"
        own.kernelsize = 3
    else:
        own.type = own.LayerType.Value("CONVOLUTION")
        own.convolution_param.kernel_size.append(3)
    old, new = tmp_path / "old.caffemodel", tmp_path / "new.caffemodel"
    old.write_bytes(net.SerializeToString())
    assert main(["upgrade", str(old), str(new)]) == 0
    assert old.read_bytes() == net.SerializeToString()
    stored = read_weights(new)
    (layer,) = stored.layer
    assert not stored.layers and not stored.input
    assert (layer.name, layer.type, list(layer.blobs[0].data)) == ("c", "Convolution", [1, 2])
    assert (layer.param[0].lr_mult, list(layer.convolution_param.kernel_size)) == (2, [3])
    again = tmp_path / "again.caffemodel"
    assert main(["upgrade", str(new), str(again)]) == 0
    assert again.read_bytes() == new.read_bytes()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("layers { type: RELU\nlayers { type: RELU }", "bad.prototxt:1:"),
        ("<html>", "HTML page"),
        ("", "empty file"),
        ("input: 'x' input_dim: 1 layers { type: RELU }", "4 input_dim"),
    ],
)
def test_what_cannot_be_upgraded_writes_nothing(
    tmp_path: Path, content: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "bad.prototxt", tmp_path / "out"
    path.write_text(content)
    assert main(["upgrade", str(path), str(out)]) == 1
    assert words in capsys.readouterr().err and not out.exists()
