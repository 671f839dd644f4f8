from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.mirror import BLOCK_END, TextMirror

TEXT = st.text(st.sampled_from('ab{}:" \n\r\u2028\u2029\udc80\udcff\uf800\ufeffé\U0001f600'), max_size=40)


@given(TEXT)
def test_untouched_text_comes_back(text: str) -> None:
    mirror = TextMirror(text)
    assert mirror.merge(BLOCK_END.join(mirror.lines)) == text


PLAIN = st.text(st.sampled_from('ab "\n'), max_size=40)


@given(st.one_of(st.tuples(TEXT, TEXT), st.tuples(PLAIN, PLAIN)))
def test_changed_lines_lead_to_the_new_text(texts: tuple[str, str]) -> None:
    before, after = texts
    mirror = TextMirror(before)
    lines = list(mirror.lines)
    change = mirror.update(after)
    if change:
        lines[change.first : change.last] = change.lines
    assert mirror.text == after
    assert [*lines] == mirror.lines == TextMirror(after).lines
    assert mirror.merge(BLOCK_END.join(lines)) == after


@given(TEXT.filter(lambda text: "\uf800" not in text), st.integers(0, 40), st.sampled_from(["x", "x\ny", ""]))
def test_editing_one_line_keeps_what_the_widget_shows(text: str, where: int, line: str) -> None:
    mirror = TextMirror(text)
    shown = list(mirror.lines)
    index = where % len(shown)
    shown[index : index + 1] = line.split("\n")
    merged = mirror.merge(BLOCK_END.join(shown))
    assert TextMirror(merged).lines == shown


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("a\r\nb\r\nc", (1, ["B"]), "a\r\nB\r\nc"),
        ("a\r\nb\r\nc", (1, ["b", "new"]), "a\r\nb\r\nnew\r\nc"),
        ("a\nb\r\nc\n", (0, ["A"]), "A\nb\r\nc\n"),
        ("a\nb", (1, ["b", ""]), "a\nb\n"),
        ("\ufeffa\nb", (0, ["A"]), "\ufeffA\nb"),
        ("caf\udce9\nb", (1, ["B"]), "caf\udce9\nB"),
        ("caf\udce9 b", (0, None), "caf\udce9 c"),
        ("", (0, ["a", "b"]), "a\nb"),
    ],
)
def test_edits(text: str, edit: tuple[int, list[str] | None], expected: str) -> None:
    mirror = TextMirror(text)
    shown = list(mirror.lines)
    index, lines = edit
    shown[index : index + 1] = [shown[index].replace("b", "c")] if lines is None else lines
    assert mirror.merge(BLOCK_END.join(shown)) == expected


def test_two_far_edits_keep_the_line_ends_between() -> None:
    mirror = TextMirror("a\nb\r\nc\rd\ne")
    shown = list(mirror.lines)
    shown[0], shown[4] = "A", "E"
    assert mirror.merge(BLOCK_END.join(shown)) == "A\nb\r\nc\rd\nE"
