from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

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


@pytest.mark.slow
def test_the_corpus_opens_and_every_value_is_edited_alone(bench: Make) -> None:
    from app.properties.literals import changed_span, splice_literal
    from engine.errors import CheckError
    from engine.graph import OpGraph
    from engine.param_str import parse_param_str

    files = shared_files("corpus/prototxt/**/*.prototxt")
    if not files:
        pytest.skip("reference files are not beside this checkout")
    seen: set[str] = set()
    for path in files:
        data = path.read_bytes()
        if b"param_str" not in data:
            continue
        graph = OpGraph.parse(data)
        for node in graph.nodes():
            written = None if node.virtual else graph.value(node.id, ("python_param", "param_str"))
            if written is not None:
                seen.add(written)
    assert seen
    edited = 0
    for written in seen:
        source = unquote(written)
        parsed = parse_param_str(source)
        for item in parsed.items:
            new = other_value(parsed, item)
            if parsed.item(item.key) is not item or new == item.text or not item.text:
                continue
            try:
                changed = parsed.replace(item.key, new)
            except CheckError:
                continue
            result = splice_literal(
                written, item.start, item.end, changed[item.start : len(changed) - len(source) + item.end]
            )
            assert unquote(result) == changed
            start, end, _ = changed_span(written, result)
            mark = written[0]
            assert len(unquote(written[:start] + mark)) >= item.start
            assert len(unquote(mark + written[end:])) >= len(source) - item.end
            edited += 1
    assert edited


def other_value(parsed: Any, item: Any) -> str:
    if isinstance(item.value, bool):
        return str(parsed.spell(item.key, not item.value))
    if isinstance(item.value, str):
        return str(parsed.spell(item.key, f"{item.value}x"))
    return "7" if isinstance(item.value, int | float) else item.text.replace("1", "7")
