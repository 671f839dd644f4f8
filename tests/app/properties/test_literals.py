from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.properties.literals import changed_span, splice_literal
from engine.prototxt import quote, unquote


@pytest.mark.parametrize(
    ("written", "start", "end", "text", "expected"),
    [
        ('"{\\"a\\": 1, \\"b\\": 2}"', 6, 7, "10", '"{\\"a\\": 10, \\"b\\": 2}"'),
        ("'{\"a\": 1}'", 6, 7, '"x"', '\'{"a": "x"}\''),
        ("'{\"a\": 1}'", 6, 7, "'x'", "'{\"a\": \\'x\\'}'"),
        ('"a: 1\\nb: 2"', 8, 9, "3", '"a: 1\\nb: 3"'),
        ('"a: \\x31 \\062"', 5, 6, "5", '"a: \\x31 5"'),
        ('"a: 1"  "b: 2"', 3, 4, "9", '"a: 9"  "b: 2"'),
        ("\"a\"\n  'b'", 1, 2, "c", "\"a\"\n  'c'"),
        ('""', 0, 0, "x", '"x"'),
        ('"é1"', 1, 2, "2", '"é2"'),
        ('"\\303\\2511"', 1, 2, "2", '"\\303\\2512"'),
    ],
)
def test_only_the_span_changes(written: str, start: int, end: int, text: str, expected: str) -> None:
    assert splice_literal(written, start, end, text) == expected


TEXT = st.text(st.sampled_from("ab'\"\\\n\té\U0001f600,: "), max_size=12)


@given(TEXT, TEXT, TEXT, TEXT, st.sampled_from("\"'"))
def test_the_string_becomes_what_is_asked(head: str, old: str, tail: str, new: str, mark: str) -> None:
    written = quote(head + old + tail, mark)
    result = splice_literal(written, len(head), len(head) + len(old), new)
    assert unquote(result) == head + new + tail


@given(TEXT, TEXT)
def test_changed_span(before: str, after: str) -> None:
    start, end, text = changed_span(before, after)
    assert before[:start] + text + before[end:] == after
