from __future__ import annotations

import ast
import re

import pytest

from engine.errors import CheckError
from engine.param_str import parse_param_str
from engine.param_values import ParamStyle, as_typed
from tests.support import shared_files

FLAGS = "--mnBallSz 25 --ncpu=1 --posLabel --no-isForce --mnForce=3e+5 --box -1 4 --name 'a b'"

CASES = [
    ("", "empty", {}),
    ("  \n", "empty", {}),
    ("# only a remark", "text", {}),
    ("10", "number", {"": 10}),
    (" -2.5e3 ", "number", {"": -2500.0}),
    ("1, 2,3", "list", {"0": 1, "1": 2, "2": 3}),
    ("[1, 'a, b', (2, 3),]", "list", {"0": 1, "1": "a, b", "2": (2, 3)}),
    ("train,val", "list", {"0": "train", "1": "val"}),
    ('{"a": 1, "b": [true, null], "c": {"d": "x, y: z"}}', "json", {"a": 1, "b": [True, None], "c": {"d": "x, y: z"}}),
    ("{'a': True, 'm': (1.5, 2), u'p': '../x'}", "dict", {"a": True, "m": (1.5, 2), "p": "../x"}),
    ("{'a': 1,  # one, two: three\n 'b': 2}", "dict", {"a": 1, "b": 2}),
    ("{a: 1, b: some text}", "yaml", {"a": 1, "b": "some text"}),
    ("'a': 1, 'b': [1, 2], 'c': 'x'", "pairs", {"a": 1, "b": [1, 2], "c": "x"}),
    ("'feat_stride': 16", "yaml", {"feat_stride": 16}),
    ("'s': 16 \n'scales': !!python/tuple [4, 8]", "yaml", {"s": 16, "scales": "!!python/tuple [4, 8]"}),
    ("a: true\n# note\nb: C:/x, y\nc: don't # end", "yaml", {"a": True, "b": "C:/x, y", "c": "don't"}),
    ("a:\n  - 1\n  - 2\nb: 3", "yaml", {"a": "- 1\n  - 2", "b": 3}),
    ("PoolMethod: MAX", "yaml", {"PoolMethod": "MAX"}),
    (
        FLAGS,
        "flags",
        {
            "mnBallSz": 25,
            "ncpu": 1,
            "posLabel": True,
            "no-isForce": True,
            "mnForce": 3e5,
            "box": "-1 4",
            "name": "a b",
        },
    ),
    ("just some words", "text", {}),
    ("http://host:80/x", "text", {}),
    ("{'a': 1", "text", {}),
    ("{'a' 1}", "text", {}),
    ("__import__('os').system('x')", "text", {}),
    ("{'a': __import__('os')}", "yaml", {"a": "__import__('os')"}),
]


@pytest.mark.parametrize(("text", "kind", "values"), CASES)
def test_forms_are_recognised(text: str, kind: str, values: dict[str, object]) -> None:
    found = parse_param_str(text)
    assert (found.kind, {item.key: item.value for item in found.items}) == (kind, values)
    for item in found.items:
        assert text[item.start : item.end] == item.text


@pytest.mark.parametrize("text", [case[0] for case in CASES if case[2]])
def test_replacing_a_value_changes_its_bytes_only(text: str) -> None:
    found = parse_param_str(text)
    for item in found.items:
        assert found.replace(item.key, item.text) == text
        changed = found.replace(item.key, "77")
        assert changed[: item.start] == text[: item.start]
        assert changed.endswith(text[item.end :])
        assert changed[item.start :].removesuffix(text[item.end :]).strip() == "77"
        assert parse_param_str(changed).item(item.key).value == 77


@pytest.mark.parametrize(
    ("text", "key", "new"),
    [("{'a': 1, 'b': 2}", "a", "1, 'x': 3"), ("{'a': 1, 'b': 2}", "a", "{"), ("a: 1\nb: 2", "a", "1\nc: 4")],
)
def test_a_value_that_would_change_the_rest_is_refused(text: str, key: str, new: str) -> None:
    with pytest.raises(CheckError, match=f"'{key}'"):
        parse_param_str(text).replace(key, new)


def test_an_unknown_key_is_named_with_the_known_ones() -> None:
    with pytest.raises(CheckError, match=r"a, b.*'c'"):
        parse_param_str("{'a': 1, 'b': 2}").replace("c", "1")


@pytest.mark.parametrize(
    ("text", "value", "spelled"),
    [
        ('{"k": true}', False, "false"),
        ("{'k': True}", False, "False"),
        ("k: true", False, "false"),
        ("'k': True", False, "False"),
        ("{'k': 'a'}", "it's", '"it\'s"'),
        ('{"k": "a"}', "q\"'", '"q\\"\'"'),
        ("k: plain", "other", "other"),
        ("k: plain", "16", "'16'"),
        ("k: plain", "a: b", "'a: b'"),
        ("--k v", "w", "w"),
        ("--k v", "w w", '"w w"'),
        ("{'k': (1, 2)}", (3, 4), "(3, 4)"),
        ("k: 0.1", 1e-05, "1.0e-05"),
        ("k: 0.1", 2.5e-07, "2.5e-07"),
        ("k: 0.1", 1e30, "1.0e+30"),
        ("k: [0.1]", [1e-05], "[1.0e-05]"),
        ('{"k": 0.1}', 1e-05, "1e-05"),
        ("k: None", None, "null"),
        ("k: a", "1e3", "'1e3'"),
        ("k: a", "it's: x", '"it\'s: x"'),
    ],
)
def test_values_are_spelled_in_the_style_of_the_text(text: str, value: object, spelled: str) -> None:
    found = parse_param_str(text)
    assert found.spell("k", value) == spelled
    assert parse_param_str(found.replace("k", spelled)).item("k").value == value


def public_param_strs() -> list[str]:
    pattern = re.compile(r"""param_str\s*:\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
    texts: set[str] = set()
    for path in shared_files("corpus/prototxt/**/*.prototxt"):
        for written in pattern.findall(path.read_text("utf-8", "surrogateescape")):
            texts.add(str(ast.literal_eval(written)))
    return sorted(texts)


@pytest.mark.parametrize("text", public_param_strs())
def test_every_public_param_str_is_recognised_and_can_be_edited(text: str) -> None:
    found = parse_param_str(text)
    assert found.kind != "text"
    for item in found.items:
        changed = found.replace(item.key, "5")
        assert changed[: item.start] == text[: item.start] and changed.endswith(text[item.end :])


@pytest.mark.parametrize("text", ["yes", "Off", "=", "<<", "0x1f", "1_000", "1:30", "2020-01-01", ".inf", "? a", "-"])
def test_text_that_yaml_takes_for_something_else_is_quoted(text: str) -> None:
    """By YAML 1.1, which ``yaml.load`` of old layers reads."""
    assert parse_param_str("k: a").spell("k", text) == f"'{text}'"


@pytest.mark.parametrize(
    ("text", "spelled"), [("\x7f", r'"\x7f"'), ("\ufeff", r'"\ufeff"'), ("a\nb", r'"a\nb"'), ("\u65e5", "\u65e5")]
)
def test_letters_that_yaml_refuses_are_escaped(text: str, spelled: str) -> None:
    assert parse_param_str("k: a").spell("k", text) == spelled


@pytest.mark.parametrize(
    ("typed", "style", "written"),
    [
        ("1e-5", "yaml", "1.0e-05"),
        ("1.5e-5", "yaml", "1.5e-5"),
        ("7", "yaml", "7"),
        ("1e-5", "json", "1e-5"),
        ("x", "yaml", "x"),
    ],
)
def test_a_typed_number_stays_one(typed: str, style: ParamStyle, written: str) -> None:
    assert as_typed(typed, style) == written
