from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt

from app.text.context import read_context
from tests.app.text.conftest import NET, Make

Control = Qt.KeyboardModifier.ControlModifier


@pytest.mark.parametrize(
    ("text", "path", "field", "prefix", "given"),
    [
        ("na|", (), "", "na", []),
        ("layer { |", ("layer",), "", "", []),
        ('layer {\n name: "a"\n ty|\n}', ("layer",), "", "ty", ["name"]),
        ('layer {\n ty|\n name: "a"\n p { x: 1 }\n}\nlayer { top: "x" }', ("layer",), "", "ty", ["name", "p"]),
        ("layer { p { pool: MA| } }", ("layer", "p"), "pool", "MA", []),
        ('layer { bottom: "con|" }', ("layer",), "bottom", "con", []),
        ('layer { a { x: 1 } b {\n f { type: "g|\n', ("layer", "b", "f"), "type", "g", []),
        ('layer { name: "{" ki|', ("layer",), "", "ki", ["name"]),
        ("layer { # }\n ki|", ("layer",), "", "ki", []),
        ("layer { # ki|", None, "", "", []),
    ],
)
def test_where_the_cursor_is(
    text: str, path: tuple[str, ...] | None, field: str, prefix: str, given: list[str]
) -> None:
    before, after = text.split("|")
    lines = (before + after).split("\n")
    line, column = before.count("\n"), len(before.rpartition("\n")[2])
    found = read_context(lambda number: lines[number] if 0 <= number < len(lines) else None, line, column)
    if path is None:
        assert found is None
        return
    assert found is not None
    assert (found.path, found.field, found.prefix) == (path, field, prefix)
    assert [each.name for each in found.given] == given


def test_fields_come_as_typed_without_those_that_are_given(bench: Make) -> None:
    net = bench(NET)
    net.place("kernel_size: 5")
    net.press(Qt.Key.Key_Return)
    net.keys("bi")
    assert net.offers[0] == "bias_term"
    assert "num_output" not in net.offers
    assert net.edit.completer.popup.doc.text().startswith(net.edit.completer.popup.found[0].doc[:20])
    net.press(Qt.Key.Key_Tab)
    assert net.shown.splitlines()[15] == "    bias_term: "
    assert net.offers == ["true", "false"]
    net.press(Qt.Key.Key_Down)
    net.press(Qt.Key.Key_Return)
    assert net.shown.splitlines()[15] == "    bias_term: false"
    net.pane.commit()
    assert net.document.undo_stack.count() == 1
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before


def test_escape_closes_and_what_is_typed_stays(bench: Make) -> None:
    net = bench(NET)
    net.place("kernel_size: 5")
    net.press(Qt.Key.Key_Return)
    net.keys("pa")
    assert net.offers
    net.press(Qt.Key.Key_Escape)
    assert not net.offers
    assert net.shown.splitlines()[15] == "    pa"


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("bottom: ", "conv1"),
        ('bottom: "', "conv1"),
        ("phase: ", "TRAIN"),
        ('type: "', None),
    ],
)
def test_values(bench: Make, line: str, first: str | None) -> None:
    net = bench(NET + "layer {\n  " + line)
    net.place("layer {\n  " + line)
    net.press(Qt.Key.Key_Space, Control)
    assert net.offers
    if first is None:
        assert {"Convolution", "Pooling"} <= set(net.offers)
    else:
        assert net.offers[0] == first


def test_blobs_made_above_come_first(bench: Make) -> None:
    net = bench(NET.replace('bottom: "data"', "bottom: "))
    net.place("bottom: ")
    net.press(Qt.Key.Key_Space, Control)
    net.keys("d")
    assert net.offers == ["data"]
    net.press(Qt.Key.Key_Tab)
    assert net.shown == NET


@pytest.mark.parametrize(
    ("inside", "word"), [("weight_filler { type: ", "xavier"), ("engine: ", "CAFFE"), ("bias_term: ", "false")]
)
def test_words(bench: Make, inside: str, word: str) -> None:
    net = bench(NET.replace("kernel_size: 5", inside))
    net.place(inside)
    net.press(Qt.Key.Key_Space, Control)
    assert word in net.offers


def test_names_of_shared_parameters(bench: Make) -> None:
    shared = NET.replace(
        "  convolution_param", '  param { name: "w" }\n  param { name: "b" lr_mult: 2 }\n  convolution_param'
    )
    net = bench(shared.replace('type: "ReLU"', 'type: "ReLU"\n  param { name: '))
    net.place('type: "ReLU"\n  param { name: ')
    net.press(Qt.Key.Key_Space, Control)
    assert net.offers[:2] == ["w", "b"]
    assert net.edit.completer.popup.found[0].detail == "of conv1"
    net.press(Qt.Key.Key_Return)
    assert 'param { name: "w"' in net.shown.partition("relu1")[2]


def test_the_field_of_the_layers_type_comes_first(bench: Make) -> None:
    net = bench(NET)
    net.place('top: "conv1"')
    net.press(Qt.Key.Key_Return)
    net.keys("param")
    assert "param" in net.offers
    other = bench(NET.replace("convolution_param {\n    num_output: 20\n    kernel_size: 5\n  }\n", ""))
    other.place('type: "Convolution"')
    other.press(Qt.Key.Key_Return)
    other.press(Qt.Key.Key_Space, Control)
    assert other.offers[0] == "convolution_param"


def test_a_whole_layer_and_its_places(bench: Make) -> None:
    net = bench(NET)
    net.place(NET)
    net.keys("Pooling")
    assert net.offers[0] == "layer Pooling"
    net.press(Qt.Key.Key_Tab)
    made = net.shown[len(NET) :]
    assert made.startswith('layer {\n  name: "pool1"\n  type: "Pooling"\n  bottom: "conv1"\n  top: "pool1"\n')
    assert net.edit.textCursor().selectedText() == "pool1"
    net.keys("p")
    net.press(Qt.Key.Key_Escape)
    net.pane.commit()
    assert not net.document.graph.problems
    assert net.document.graph.edges_in(net.node("p").id)


def test_a_plugins_fields_are_offered_for_its_type(bench: Make) -> None:
    net = bench('layer {\n  name: "x"\n  type: "Convolution"\n  \n}\n')
    net.place('type: "Convolution"\n  ')
    net.press(Qt.Key.Key_Space, Control)
    known = {each.name for each in net.document.schema.for_layer("Convolution").describe("LayerParameter").fields}
    assert set(net.offers) <= known


def test_typing_stays_quick_in_a_large_file(bench: Make) -> None:
    block = (
        'layer {\n  name: "c%d"\n  type: "Convolution"\n  bottom: "c%d"\n  top: "c%d"\n'
        "  convolution_param {\n    num_output: 20\n  }\n}\n"
    )
    net = bench("".join(block % (i, i - 1, i) for i in range(1, 10_001)))
    net.place('top: "c5000"\n')
    net.keys("b")
    looks = []
    for letter in 'ottom: "c49':
        start = time.thread_time()
        net.keys(letter)
        net.edit.repaint()
        looks.append(time.thread_time() - start)
    assert "c4999" in net.offers or "c49" in net.offers
    looks.sort()
    assert looks[len(looks) // 2] < 0.06, f"a key took {looks}"
