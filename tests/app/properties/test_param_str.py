from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from engine.param_str import parse_param_str
from engine.prototxt import unquote
from tests.support import shared_files

Make = Callable[[str], Any]
JSON = r'"{\"scale\": 2, \"name\": \"left\", \"flip\": true, \"sizes\": [1, 2]}"'


def net_with(literal: str) -> str:
    return (
        'layer {\n  name: "p"\n  type: "Python"\n  bottom: "a"\n  top: "b"\n'
        f'  python_param {{ module: "m" layer: "L" param_str: {literal} }}  # mine\n}}\n'
    )


def edit(net: Any, key: str, text: str) -> Any:
    return net.type(f"python_param.param_str.{key}", text)


@pytest.mark.parametrize(
    ("literal", "key", "typed", "expected"),
    [
        (JSON, "scale", "3.5", JSON.replace("2,", "3.5,", 1)),
        (JSON, "name", "right", JSON.replace("left", "right")),
        (JSON, "sizes", "[3]", JSON.replace("[1, 2]", "[3]")),
        (r'"rate: 0.1\nmode: fast"', "rate", "1e-5", r'"rate: 1.0e-05\nmode: fast"'),
        (r'"rate: 0.1\nmode: fast"', "mode", "slow", r'"rate: 0.1\nmode: slow"'),
        ("\"{'a': 1, 'b': 'x'}\"", "b", "y", "\"{'a': 1, 'b': 'y'}\""),
        ("'--alpha 1 --beta 2'", "beta", "7", "'--alpha 1 --beta 7'"),
        ('"64"', "value", "65", '"65"'),
        ('"1,2,3"', "1", "9", '"1,9,3"'),
        ('"a: \\x31"', "a", "2", '"a: 2"'),
    ],
)
def test_only_the_bytes_of_the_value_change(bench: Make, literal: str, key: str, typed: str, expected: str) -> None:
    net = bench(net_with(literal))
    net.select("p")
    edit(net, key, typed)
    assert net.text == net_with(expected)
    net.check_undo_redo()


def test_a_bool_is_a_box(bench: Make) -> None:
    net = bench(net_with(JSON))
    net.select("p")
    box = net.find("python_param.param_str.flip")
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    assert net.text == net_with(JSON.replace("true", "false"))


def test_a_flag_without_a_value_is_left_to_the_text(bench: Make) -> None:
    net = bench(net_with("'--fast --beta 2'"))
    net.select("p")
    assert not net.find("python_param.param_str.fast").isEnabled()
    assert net.find("python_param.param_str.beta").isEnabled()


@pytest.mark.parametrize(("key", "typed"), [("scale", "1, 2"), ("scale", "fast"), ("sizes", "[1")])
def test_what_would_break_the_rest_is_refused(bench: Make, key: str, typed: str) -> None:
    net = bench(net_with(JSON))
    net.select("p")
    editor = edit(net, key, typed)
    assert editor.property("state") == "invalid"
    assert net.row(f"python_param.param_str.{key}").message.text()
    assert net.text == net_with(JSON)


def test_text_is_always_there(bench: Make) -> None:
    net = bench(net_with(JSON))
    net.select("p")
    box = net.find("python_param.param_str")
    assert not box.isVisible()
    QTest.mouseClick(net.find("python_param.param_str.text_view"), Qt.MouseButton.LeftButton)
    assert box.isVisible()
    assert box.toPlainText() == unquote(JSON)
    box.setFocus()
    cursor = box.textCursor()
    cursor.setPosition(box.toPlainText().index("2"))
    cursor.deleteChar()
    cursor.insertText("5\n")
    QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert net.text == net_with(JSON.replace("2,", r"5\n,", 1))
    net.check_undo_redo()
    QTest.mouseClick(net.find("python_param.param_str.form_view"), Qt.MouseButton.LeftButton)
    assert net.find("python_param.param_str.scale").text() == "5"


def test_unrecognised_text_has_no_form(bench: Make) -> None:
    net = bench(net_with('"some words, and ( more"'))
    net.select("p")
    assert net.find("python_param.param_str").isVisible()
    assert not net.find("python_param.param_str.form_view").isEnabled()


def test_a_missing_param_str_is_written(bench: Make) -> None:
    net = bench('layer { name: "p" type: "Python" python_param { module: "m" layer: "L" } }\n')
    net.select("p")
    box = net.find("python_param.param_str")
    box.setFocus()
    QTest.keyClicks(box, "rate: 1")
    QTest.keyClick(box, Qt.Key.Key_Tab)
    assert 'param_str: "rate: 1"' in net.text
    net.check_undo_redo()


NESTED = r'"{\"a\": {\"b\": [1, 2]}, \"c\": 0}"'
BLOCKS = r'"a:\n  - 1\n  - 2 # two\nb: !!python/tuple [4, 8]"'


def unfold(net: Any, name: str) -> None:
    net.qtbot.mouseClick(net.find(f"python_param.param_str.{name}.values"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("literal", "folds", "key", "typed", "expected"),
    [
        (NESTED, ("a", "a.b"), "a.b.1", "7", NESTED.replace("2]", "7]")),
        (BLOCKS, ("a",), "a.1", "9", BLOCKS.replace("- 2", "- 9")),
        (BLOCKS, ("b",), "b.0", "5", BLOCKS.replace("[4", "[5")),
    ],
)
def test_nested_values_unfold(bench: Make, literal: str, folds: Any, key: str, typed: str, expected: str) -> None:
    net = bench(net_with(literal))
    net.select("p")
    for name in folds:
        unfold(net, name)
    edit(net, key, typed)
    assert net.text == net_with(expected)
    net.check_undo_redo()


def test_a_yaml_tag_is_shown_and_constructs_nothing(bench: Make) -> None:
    net = bench(net_with(BLOCKS))
    net.select("p")
    assert net.find("python_param.param_str.b").text() == "!!python/tuple [4, 8]"


@pytest.mark.parametrize(
    ("literal", "place", "name", "typed", "expected"),
    [
        (JSON, "", "new", "true", JSON.replace("}", r", \"new\": true}")),
        ("\"{'a': 1}\"", "", "b", "true", "\"{'a': 1, 'b': True}\""),
        ("'--a 1'", "", "b", "x", "'--a 1 --b x'"),
        (r'"a: 1"', "", "b", "x", r'"a: 1\nb: x"'),
        ('"1,2"', "", "", "3", '"1,2,3"'),
        (JSON, ".sizes", "", "3", JSON.replace("[1, 2", "[1, 2, 3")),
    ],
)
def test_a_value_is_added(bench: Make, literal: str, place: str, name: str, typed: str, expected: str) -> None:
    net = bench(net_with(literal))
    net.select("p")
    if place:
        unfold(net, place[1:])
    base = f"python_param.param_str{place}"
    net.qtbot.mouseClick(net.find(f"{base}.add"), Qt.MouseButton.LeftButton)
    if name:
        net.type(f"{base}.add_name", name)
    net.type(f"{base}.add_value", typed)
    assert net.text == net_with(expected)
    net.check_undo_redo()


def test_an_entry_is_taken_out(bench: Make) -> None:
    net = bench(net_with(JSON))
    net.select("p")
    net.qtbot.mouseClick(net.row("python_param.param_str.name").reset, Qt.MouseButton.LeftButton)
    assert net.text == net_with(JSON.replace(r", \"name\": \"left\"", ""))
    net.check_undo_redo()


SCHEMA = {
    "stride": {"type": "int", "default": 16, "min": 1, "max": 64, "summary": "Pixels.", "unit": "pixels"},
    "mode": {"type": "string", "choices": ["fast", "slow"], "default": "fast"},
    "flip": {"type": "bool", "default": False},
    "scales": {"type": "list", "items": "int"},
    "source": {"type": "string", "required": True},
}


def with_schema(net: Any) -> None:
    from types import SimpleNamespace

    from engine.plugins.param_schema import read_param_schema
    from engine.registry import LayerInfo

    known = SimpleNamespace(param_str=read_param_schema(SCHEMA), info=LayerInfo("Python"))
    net.document.live.plugins.python_layers = {("m", "L"): known}
    net.select("p")


def test_a_schema_offers_all_with_defaults_and_writes_only_what_is_set(bench: Make) -> None:
    net = bench(net_with('"{}"'))
    with_schema(net)
    assert net.find("python_param.param_str.stride").placeholderText() == "16"
    assert "pixels" in net.row("python_param.param_str.stride").toolTip()
    assert "missing" in net.row("python_param.param_str.source").message.text()
    edit(net, "stride", "8")
    assert net.text == net_with(r'"{\"stride\": 8}"')
    edit(net, "mode", "slow")
    edit(net, "scales", "[1, 2]")
    box = net.find("python_param.param_str.flip")
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    assert net.text == net_with(r'"{\"stride\": 8, \"mode\": \"slow\", \"scales\": [1, 2], \"flip\": true}"')
    edit(net, "stride", "")
    assert "stride" not in net.text


@pytest.mark.parametrize(
    ("key", "typed", "words"),
    [
        ("stride", "65", "64 or less"),
        ("stride", "x", "whole number"),
        ("mode", "x", "one of"),
        ("scales", "[a]", "list"),
    ],
)
def test_a_schema_refuses_what_the_layer_would_not_take(bench: Make, key: str, typed: str, words: str) -> None:
    before = net_with('\'{"source": "x"}\'')
    net = bench(before)
    with_schema(net)
    edit(net, key, typed)
    assert words in net.row(f"python_param.param_str.{key}").message.text()
    assert net.text == before


def test_what_the_file_has_wrong_is_said_before_anything_runs(bench: Make) -> None:
    net = bench(net_with('\'{"stride": 99, "mod": "x", "source": "x"}\''))
    with_schema(net)
    assert "64 or less" in net.row("python_param.param_str.stride").message.text()
    assert "Did you mean 'mode'" in net.row("python_param.param_str.mod").message.text()


def test_an_empty_param_str_begins_as_json(bench: Make) -> None:
    net = bench(net_with('""'))
    with_schema(net)
    edit(net, "source", "a b")
    assert net.text == net_with(r'"{\"source\": \"a b\"}"')


def public_literals() -> list[str]:
    from engine.graph import OpGraph

    seen: set[str] = set()
    for path in shared_files("corpus/prototxt/**/*.prototxt"):
        data = path.read_bytes()
        if b"param_str" in data:
            graph = OpGraph.parse(data)
            found = (graph.value(node.id, ("python_param", "param_str")) for node in graph.nodes() if not node.virtual)
            seen |= {written for written in found if written is not None}
    return sorted(seen)


def other_literal(text: str) -> str:
    return text.replace("1", "3") if text[-1] in "])" else "5" if text == "0" else f"{text}7"


@pytest.mark.parametrize("written", public_literals())
def test_every_public_param_str_opens_and_each_value_is_edited_alone(bench: Make, written: str) -> None:
    net = bench(net_with(written))
    net.select("p")
    source = unquote(written)
    parsed = parse_param_str(source)
    box = net.find("python_param.param_str")
    assert box.toPlainText() == source
    assert bool(parsed.items) == box.isHidden()
    for item in parsed.items:
        if parsed.item(item.key) is not item or not item.text:
            continue
        is_text = isinstance(item.value, str)
        editor = net.find(f"python_param.param_str.{item.key or 'value'}")
        if isinstance(item.value, bool):
            QTest.mouseClick(editor, Qt.MouseButton.LeftButton, pos=QPoint(8, editor.height() // 2))
        else:
            edit(net, item.key or "value", f"{item.value}x" if is_text else other_literal(item.text))
        now = unquote(net.document.graph.value(net.ids("p")[0], ("python_param", "param_str")))
        assert now != source, item
        assert now[: item.start] == source[: item.start] and now.endswith(source[item.end :])
        assert net.text.startswith(net_with(written)[: net_with(written).index(written)])
        assert net.text.endswith(" }  # mine\n}\n")
        net.document.undo_stack.undo()
        QApplication.processEvents()
        assert net.text == net_with(written)
