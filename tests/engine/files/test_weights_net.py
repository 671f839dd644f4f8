"""The net in a weights file, as text that a person could have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.diagnostics import diagnose
from engine.errors import FileFormatError
from engine.files import net_of_weights
from engine.graph import OpGraph
from engine.net.splits import insert_splits
from engine.registry import default_registry
from engine.schema import load_schema, read_net, to_text
from tests.support import shared

NET = """
name: "toy"
layer { name: "d" type: "Data" top: "x" top: "label" include { phase: TRAIN } data_param { source: "s" batch_size: 4 } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernel_size: 3 } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "a" type: "Power" bottom: "c" top: "a" loss_weight: 3 }
layer { name: "b" type: "Power" bottom: "c" top: "b" }
layer { name: "s" type: "Eltwise" bottom: "a" bottom: "b" top: "s" }
layer { name: "n" type: "Split" bottom: "s" top: "n1" top: "n2" }
"""
PLAIN = NET.replace(" include { phase: TRAIN }", "")
V1 = """
name: "old"
input: "x" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layers { name: "c" type: CONVOLUTION bottom: "x" top: "c" blobs_lr: 1 blobs_lr: 2
  convolution_param { num_output: 2 kernel_size: 3 } }
layers { name: "f" type: INNER_PRODUCT bottom: "c" top: "f" inner_product_param { num_output: 5 } }
"""
V0 = """
input: "x" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layers { layer { name: "p" type: "padding" pad: 2 } bottom: "x" top: "p" }
layers { layer { name: "c" type: "conv" num_output: 2 kernelsize: 5 } bottom: "p" top: "c" }
"""


def message(text: str, schema: Any = None) -> Any:
    """Return the net as it is written, of whatever age."""
    from engine import prototxt
    from engine.schema import to_message

    return to_message(prototxt.parse(text).root, "NetParameter", schema=schema)


def as_saved(text: str) -> Any:
    """Return what Caffe saves of a net of today: with splits, phases and values."""
    net = insert_splits(message(text))
    for layer in net.layer:
        layer.phase = 0
        if layer.type == "Convolution":
            layer.blobs.add(data=[1.0] * 54).shape.dim.extend([2, 3, 3, 3])
    return net


def write(path: Path, net: Any) -> Path:
    path.write_bytes(net.SerializeToString())
    return path


def test_splits_rules_phases_and_values_are_gone(tmp_path: Path) -> None:
    saved = as_saved(NET)
    assert "_split_1" in to_text(saved) and "blobs" in to_text(saved)
    net = net_of_weights(write(tmp_path / "w.caffemodel", saved))
    assert net.text == to_text(message(PLAIN))
    assert net.notes == ()


@pytest.mark.parametrize("text", [V1, V0], ids=["V1", "V0"])
def test_old_formats_become_the_format_of_today(tmp_path: Path, text: str) -> None:
    old = message(text)
    for block in old.layers:
        (block.layer if block.HasField("layer") else block).blobs.add(num=1, data=[0.5])
    net = net_of_weights(write(tmp_path / "w.caffemodel", old))
    assert "blobs" not in net.text.replace("blobs_lr", "") and "layers" not in net.text
    expected = [(layer.name, layer.type) for layer in read_net(text).layer]
    assert [(layer.name, layer.type) for layer in read_net(net.text).layer if layer.name != "input"] == expected
    graph = OpGraph.parse(net.text.encode())
    assert not [each for each in diagnose(graph, registry=default_registry()) if each.severity == "error"]


def test_padding_of_the_oldest_format_is_folded(tmp_path: Path) -> None:
    net = net_of_weights(write(tmp_path / "w.caffemodel", message(V0)))
    (conv,) = [layer for layer in read_net(net.text).layer if layer.type == "Convolution"]
    assert list(conv.convolution_param.pad) == [2] and list(conv.bottom) == ["x"]


def test_an_input_without_a_shape_stays_and_is_told(tmp_path: Path) -> None:
    saved = message('input: "x" layer { name: "r" type: "ReLU" bottom: "x" top: "r" }')
    net = net_of_weights(write(tmp_path / "w.caffemodel", saved))
    assert [(layer.type, list(layer.top)) for layer in read_net(net.text).layer] == [("Input", ["x"]), ("ReLU", ["r"])]
    assert "'x'" in net.notes[0]


def test_fields_of_a_fork_are_those_of_its_dialect(tmp_path: Path) -> None:
    text = 'layer { name: "p" type: "Permute" bottom: "x" top: "p" permute_param { order: 0 order: 2 } }'
    saved = message(text, load_schema("ssd"))
    net = net_of_weights(write(tmp_path / "w.caffemodel", saved))
    assert net.text == to_text(saved) and net.notes == ()


def test_fields_that_nobody_knows_are_told(tmp_path: Path) -> None:
    layer = b"\x0a\x01r\x12\x04ReLU" + b"\xf8\x7f\x01"  # a field of a high number
    path = tmp_path / "w.caffemodel"
    path.write_bytes(b"\xa2\x06" + bytes([len(layer)]) + layer)
    (note,) = net_of_weights(path).notes
    assert note.startswith("One of its fields is of a Caffe")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x0a\x01x\xa2\x06\x03\x0a\x01y", "Open their net first"),
        (b"layer { }", "Expected a weights file"),
        (b"\x0a\x01x\xa2\x06\x30\x0a\x01y", "Expected a weights file|damaged"),
    ],
)
def test_what_holds_no_net_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "w.caffemodel"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=words):
        net_of_weights(path)


def test_values_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.files import weights_net

    saved = as_saved(NET)
    saved.layer[1].blobs[0].data[:] = [0.0] * 300_000
    sizes = []
    decode = weights_net._decode
    monkeypatch.setattr(weights_net, "_decode", lambda data: sizes.append(len(data)) or decode(data))
    net_of_weights(write(tmp_path / "w.caffemodel", saved))
    assert sizes[0] < 2000


@pytest.mark.parametrize("name", ["lenet_iter_10000", "mtcnn_det1", "mtcnn_det3", "yoloface-50k", "yoloface-500k-v2"])
def test_public_weights(name: str) -> None:
    net = net_of_weights(shared(f"corpus/weights/{name}.caffemodel"))
    assert "_split" not in net.text
    graph = OpGraph.parse(net.text.encode())
    found = [each for each in diagnose(graph, registry=default_registry()) if each.severity == "error"]
    assert len(graph) > 5 and not found


def test_show_prints_the_net_of_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w.caffemodel", message(V1))
    assert main(["show", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [layer["name"] for layer in told["layers"]] == ["input", "c", "f"]
    assert told["total"]["parameters"] == 2 * 27 + 2 + 5 * 72 + 5
    assert main(["show", str(path)]) == 0
    assert "as it was saved" in capsys.readouterr().out
