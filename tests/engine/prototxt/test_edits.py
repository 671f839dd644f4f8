"""Primitive edits, and new fields in a file's own style."""

from __future__ import annotations

import pytest

from engine.errors import PrototxtError
from engine.prototxt import EditLog, insert_fields, parse, parse_fields, parse_value, style_of


def log_for():
    return EditLog(lambda part, items: None)


def test_edits_are_taken_back_with_the_same_objects():
    tree = parse("a: 1\nb: 2\nlayer { name: 'x' }\n")
    before, items = str(tree), list(tree.root.items)
    log = log_for()
    log.assign(tree.root.items[0].value, "text", "10")
    log.splice(tree.root, 1, 1)
    log.assign(tree.root.items[1].message.items[0].value, "text", "'y'")
    after = str(tree)
    assert after == "a: 10\nlayer { name: 'y' }\n"
    log.undo()
    assert str(tree) == before
    assert all(now is then for now, then in zip(tree.root.items, items, strict=True))
    log.redo()
    assert str(tree) == after


def test_an_assignment_of_the_same_value_is_no_edit():
    tree = parse("a: 1\n")
    log = log_for()
    log.assign(tree.root.items[0].value, "text", "1")
    assert len(log) == 0


def test_a_mended_fault_is_no_longer_told():
    tree = parse("layer {\n  pad: +1\n}\n")
    assert len(tree.problems) == 1
    log = log_for()
    log.assign(tree.root.items[0].message.items[0].value, "text", "1")
    assert not tree.problems
    log.undo()
    assert len(tree.problems) == 1


NEW = "p { q: 1 r { s: 'x' } }"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("layer {\n  a: 1\n}\n", "layer {\n  a: 1\n  p {\n    q: 1\n    r {\n      s: 'x'\n    }\n  }\n}\n"),
        ("layer {\n\ta: 1\n}\n", "layer {\n\ta: 1\n\tp {\n\t\tq: 1\n\t\tr {\n\t\t\ts: 'x'\n\t\t}\n\t}\n}\n"),
        ("layer { a: 1 }\n", "layer { a: 1 p { q: 1 r { s: 'x' } } }\n"),
        ("layer {a: 1}\n", "layer {a: 1 p { q: 1 r { s: 'x' } }}\n"),
        ("layer {}\n", "layer {\n  p {\n    q: 1\n    r {\n      s: 'x'\n    }\n  }\n}\n"),
        (
            "layer {\r\n  a: 1\r\n}\r\n",
            "layer {\r\n  a: 1\r\n  p {\r\n    q: 1\r\n    r {\r\n      s: 'x'\r\n    }\r\n  }\r\n}\r\n",
        ),
        (
            "layer{\n    a:1\n}\n",
            "layer{\n    a:1\n    p{\n        q:1\n        r{\n            s:'x'\n        }\n    }\n}\n",
        ),
        ("layer {\n  a: 1;\n}\n", "layer {\n  a: 1;\n  p {\n    q: 1\n    r {\n      s: 'x'\n    }\n  };\n}\n"),
        ("layer {\n  p { q: 2 }\n}\n", "layer {\n  p { q: 2 }\n  p { q: 1 r { s: 'x' } }\n}\n"),
        (
            "layer {\n  a: 1 # one\n  # end\n}",
            "layer {\n  a: 1 # one\n  p {\n    q: 1\n    r {\n      s: 'x'\n    }\n  }\n  # end\n}",
        ),
        ("layer {\na: 1\n}\n", "layer {\na: 1\np {\nq: 1\nr {\ns: 'x'\n}\n}\n}\n"),
    ],
    ids=[
        "spaces",
        "tabs",
        "one line",
        "tight line",
        "empty",
        "crlf",
        "tight",
        "semicolons",
        "twin",
        "comments",
        "flush",
    ],
)
def test_new_messages_follow_the_files_style(text, expected):
    tree = parse(text)
    message = tree.root.items[0].message
    log = log_for()
    insert_fields(log, message, len(message.items), parse_fields(NEW), style_of(tree))
    assert str(tree) == expected
    assert not parse(str(tree)).problems
    log.undo()
    assert str(tree) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "a: 1\n"), ("b: 2", "b: 2\na: 1"), ("b: 2\n", "b: 2\na: 1\n"), ("# c\n", "a: 1\n# c\n")],
)
def test_new_fields_at_the_top_begin_lines(text, expected):
    tree = parse(text)
    insert_fields(log_for(), tree.root, len(tree.root.items), parse_fields("a: 1"), style_of(tree))
    assert str(tree) == expected


@pytest.mark.parametrize("text", ["1", '"a" "b"', "MAX", "[1, 2]", "{ a: 1 }", "- 0.5", " 7 "])
def test_single_values_are_read(text):
    assert parse_value(text).text == text.strip()


@pytest.mark.parametrize("text", ["", "1 2", "1 b: 2", "}", '"a', "1 # c", "1;", "a/b", "{ a: 1", "1\nb: 2"])
def test_anything_but_one_value_is_refused(text):
    with pytest.raises(PrototxtError, match="one value"):
        parse_value(text)


@pytest.mark.parametrize("slip", ["layer= {\n  name= 'a'\n}\n", "layer = { name = 'a' }\n"])
def test_slips_are_not_taken_for_a_style(slip: str) -> None:
    style = style_of(parse(slip))
    assert (style.head, style.gap) == (" ", ": ")
