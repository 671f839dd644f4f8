from __future__ import annotations

import pytest

from engine.errors import CheckError
from engine.param_edit import add_value, nested, plain_values, remove_value, replace_value
from engine.param_str import parse_param_str

YAML = "a:\n  - 1\n  - 2  # two\nb:\n  c: x\n  d: [3, 4]\ne: !!python/tuple [8, 16]"

REPLACED = [
    ('{"a": {"b": [1, 2]}, "c": 0}', ("a", "b", "1"), "7", '{"a": {"b": [1, 7]}, "c": 0}'),
    ("{'a': (1.5, 2), 'b': {'c': 'x'}}", ("b", "c"), "'y'", "{'a': (1.5, 2), 'b': {'c': 'y'}}"),
    (YAML, ("a", "1"), "9", YAML.replace("- 2", "- 9")),
    (YAML, ("a", "0"), "9", YAML.replace("- 1", "- 9")),
    (YAML, ("b", "c"), "y", YAML.replace("c: x", "c: y")),
    (YAML, ("b", "d", "0"), "5", YAML.replace("[3, 4]", "[5, 4]")),
    (YAML, ("e", "1"), "32", YAML.replace("16", "32")),
    ("[[1, 2], [3]]", ("0", "0"), "5", "[[5, 2], [3]]"),
]
ADDED = [
    ('{"a": 1}', ("b",), True, '{"a": 1, "b": true}'),
    ("{'a': 1,\n 'b': 2}", ("c",), "x", "{'a': 1,\n 'b': 2,\n 'c': 'x'}"),
    ("{'a':1}", ("b",), False, "{'a':1, 'b':False}"),
    ("{}", ("b",), 1, '{"b": 1}'),
    ("'a': 1, 'b': 2", ("c",), None, "'a': 1, 'b': 2, 'c': None"),
    ("a: 1\nb: x # end\n", ("c",), "y", "a: 1\nb: x # end\nc: y\n"),
    ("'a': 16", ("b",), [1, 2], "'a': 16\n'b': [1, 2]"),
    ("'a':\n- 1\n", ("b",), True, "'a':\n- 1\n'b': true\n"),
    ("--a 1 --fast", ("b",), "x y", '--a 1 --fast --b "x y"'),
    ("--a=1", ("b",), True, "--a=1 --b"),
    ("--a 1", ("b",), [1, -2], "--a 1 --b 1 -2"),
    ("1,2", ("",), 3, "1,2,3"),
    ("[1, 2,]", ("",), 3, "[1, 2, 3,]"),
    ('{"a": [1, 2]}', ("a", ""), True, '{"a": [1, 2, true]}'),
    ("{'a': [True]}", ("a", ""), False, "{'a': [True, False]}"),
    (YAML, ("a", ""), 3, YAML.replace("- 2  # two", "- 2  # two\n  - 3")),
    (YAML, ("b", "f"), 1, YAML.replace("[3, 4]", "[3, 4]\n  f: 1")),
    (YAML, ("e", ""), 32, YAML.replace("16]", "16, 32]")),
    ("", ("a",), 1, '{"a": 1}'),
]
REMOVED = [
    ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
    ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
    ("{'a': 1}", ("a",), "{}"),
    ("a: 1\nb: 2 # two\nc: 3", ("b",), "a: 1\nc: 3"),
    ("a: 1\nb: 2", ("b",), "a: 1"),
    ("'a': 1, 'b': 2", ("a",), "'b': 2"),
    ("--a 1 --fast --b=2", ("fast",), "--a 1 --b=2"),
    ("--a 1 --b 2", ("b",), "--a 1"),
    ("1,2,3", ("1",), "1,3"),
    ("1,2", ("1",), "1"),
    ('{"a": [1, 2, 3]}', ("a", "2"), '{"a": [1, 2]}'),
    (YAML, ("a", "0"), YAML.replace("- 1\n  ", "")),
    (YAML, ("a", "1"), YAML.replace("\n  - 2  # two", "")),
    (YAML, ("b",), YAML.replace("b:\n  c: x\n  d: [3, 4]\n", "")),
]


@pytest.mark.parametrize(("text", "path", "new", "expected"), REPLACED)
def test_a_nested_value_is_changed_alone(text: str, path: tuple[str, ...], new: str, expected: str) -> None:
    assert replace_value(parse_param_str(text), path, new) == expected


@pytest.mark.parametrize(("text", "path", "value", "expected"), ADDED)
def test_a_value_is_added_in_the_texts_own_style(
    text: str, path: tuple[str, ...], value: object, expected: str
) -> None:
    assert add_value(parse_param_str(text), path, value) == expected


@pytest.mark.parametrize(("text", "path", "expected"), REMOVED)
def test_an_entry_is_taken_out_alone(text: str, path: tuple[str, ...], expected: str) -> None:
    assert remove_value(parse_param_str(text), path) == expected


def test_what_cannot_be_done_is_refused() -> None:
    for text, path in (("{'a': 1}", ("a",)), ("some words (", ("a",)), ("7", ("a",)), ("--a 1", ("a b",))):
        with pytest.raises(CheckError):
            add_value(parse_param_str(text), path, 1)
    with pytest.raises(CheckError):
        remove_value(parse_param_str("{'a': 1}"), ("b",))
    with pytest.raises(CheckError):
        replace_value(parse_param_str("{'a': 1}"), ("a", "b"), "1")


def test_nothing_is_constructed() -> None:
    found = parse_param_str("'a': !!python/tuple [1, 2]\n'b': !!python/object/apply:os.system [x]")
    inside = nested(found, found.item("a"))
    assert inside is not None and [item.value for item in inside.parsed.items] == [1, 2]
    assert plain_values(found) == {"a": [1, 2], "b": ["x"]}


def test_values_for_a_schema_are_lists_in_every_notation() -> None:
    assert plain_values(parse_param_str(YAML)) == {"a": [1, 2], "b": {"c": "x", "d": [3, 4]}, "e": [8, 16]}
    assert plain_values(parse_param_str("{'m': (1, 2)}")) == {"m": [1, 2]}
