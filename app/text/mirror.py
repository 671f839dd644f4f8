r"""What the editor widget shows against what the file says.

A ``QTextDocument`` knows one kind of line end and no lone surrogates, and a prototxt may have any bytes. The mirror
keeps the file's text beside the widget's, line by line, so that lines nobody touched come back byte for byte: their
``\r\n``, their bytes that are not UTF-8, a byte order mark before the first, everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["BLOCK_END", "LineChange", "TextMirror", "same_ends"]

BLOCK_END = "\u2029"
"""What separates the lines in ``QTextDocument.toRawText()``."""

_LINE_END = re.compile("\r\n|[\n\r\u2029\ufdd0\ufdd1]")
_LINE = re.compile("([^\n\r\u2029\ufdd0\ufdd1]*)(\r\n|[\n\r\u2029\ufdd0\ufdd1]|)")
_LONGEST_DIFF = 4000
_BYTE_ORDER_MARK = "\ufeff"
_SURROGATES = range(0xDC80, 0xDD00)


@dataclass(frozen=True, slots=True)
class LineChange:
    """Lines ``first`` to ``last`` (half-open, 0-based) of the widget give way to ``lines``."""

    first: int
    last: int
    lines: tuple[str, ...]


class TextMirror:
    """The file's text and the lines that show it.

    Parameters
    ----------
    text : str
        The file's text; bytes that are not UTF-8 as surrogate escapes.
    """

    def __init__(self, text: str = "") -> None:
        self._read(text)

    @property
    def text(self) -> str:
        """The file's text."""
        return self._text

    @property
    def lines(self) -> list[str]:
        """The lines as the widget shows them; not to be changed."""
        return self._lines

    def _read(self, text: str) -> None:
        self._text = text
        self._mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
        self._lines, self._ends = _split(text.removeprefix(_BYTE_ORDER_MARK))
        self._plain = text.isascii()
        self._is_even = set(self._ends) <= {"\n", ""}  # one kind of line end, as in most files
        used = set() if self._plain else {ord(char) for char in set(text) if "\ue000" <= char <= "\uf8ff"}
        # A byte that is not UTF-8 is shown as a private-use character that the text itself does not use.
        base = next((b for b in range(0xF800, 0xE000, -0x80) if used.isdisjoint(range(b, b + 0x80))), 0xF800)
        self._show = {code: base + code - _SURROGATES.start for code in _SURROGATES}
        self._hide = {shown: code for code, shown in self._show.items()}
        if not self._plain:
            self._lines = [line.translate(self._show) for line in self._lines]

    def shown(self) -> str:
        """Return the whole text for the widget, with line feeds between the lines."""
        return "\n".join(self._lines)

    def update(self, text: str) -> LineChange | None:
        """Take over a new text of the file and return which of the widget's lines change; None if none does."""
        if text == self._text:
            return None
        if self._is_simple(text):
            return self._update_between(text)
        old = self._lines
        self._read(text)
        first, tail = _common(old, self._lines)
        change = LineChange(first, len(old) - tail, tuple(self._lines[first : len(self._lines) - tail]))
        return change if change.lines or change.first != change.last else None

    def _is_simple(self, text: str) -> bool:
        """Whether lines of the old and of the new text end alike, and are shown as they are."""
        return self._plain and self._is_even and text.isascii() and "\r" not in text

    def _update_between(self, text: str) -> LineChange | None:
        """Take over a text of which only what differs is split into lines."""
        old, lines = self._text, self._lines
        head, tail = same_ends(old, text)
        first = text.count("\n", 0, head)
        last = len(lines) - old.count("\n", len(old) - tail)  # the line in which the common end begins differs too
        new = text[text.rfind("\n", 0, head) + 1 : _line_end(text, len(text) - tail)].split("\n")
        while first < last and new and lines[first] == new[0]:
            first += 1
            del new[0]
        while first < last and new and lines[last - 1] == new[-1]:
            last -= 1
            del new[-1]
        self._lines = [*lines[:first], *new, *lines[last:]]  # others may hold the old ones
        self._text = text
        self._ends[first:last] = ["\n"] * len(new)
        self._ends[-1] = ""
        return LineChange(first, last, tuple(new)) if new or first != last else None

    def merge(self, raw: str) -> str:
        """Return the file's text after edits in the widget; take it over with :meth:`update` or :meth:`accept`.

        Parameters
        ----------
        raw : str
            ``QTextDocument.toRawText()``.
        """
        if self._is_even:
            text = raw.replace(BLOCK_END, "\n")
            return self._mark + (text if self._plain else text.translate(self._hide))
        new = raw.split(BLOCK_END)
        old = self._lines
        first, tail = _common(old, new)
        ends = self._ends[:first]
        pairs = [(first, len(old) - tail, first, len(new) - tail)]
        if max(len(old), len(new)) - first - tail <= _LONGEST_DIFF:
            matcher = SequenceMatcher(None, old[first : len(old) - tail], new[first : len(new) - tail], autojunk=False)
            pairs = [(a + first, b + first, c + first, d + first) for _, a, b, c, d in matcher.get_opcodes()]
        for old_start, old_end, new_start, new_end in pairs:
            kept = self._ends[old_start:old_end][: new_end - new_start]
            ends += kept + [self._usual_end()] * (new_end - new_start - len(kept))
        ends += self._ends[len(old) - tail :]
        ends = [end or self._usual_end() for end in ends[:-1]] + [""]
        for index in range(len(ends) - 1) if "\r" in ends else ():
            if ends[index] == "\r" and ends[index + 1] == "\n" and not new[index + 1]:
                ends[index] = "\n"  # an emptied line must not make one "\r\n" of two line ends
        if not self._plain:
            new = [line.translate(self._hide) for line in new]
        return self._mark + "".join(line + end for line, end in zip(new, ends, strict=True))

    def accept(self, text: str) -> None:
        """Take over a text that the widget shows already."""
        self.update(text)

    def _usual_end(self) -> str:
        return next((end for end in self._ends if end), "\n")


def _split(text: str) -> tuple[list[str], list[str]]:
    if "\r" not in text and (text.isascii() or not _LINE_END.search(text.replace("\n", ""))):
        lines = text.split("\n")
        return lines, ["\n"] * (len(lines) - 1) + [""]
    pairs = _LINE.findall(text)
    if len(pairs) > 1 and not pairs[-2][1]:
        pairs.pop()
    return [line for line, _ in pairs], [end for _, end in pairs]


def same_ends(old: str, new: str) -> tuple[int, int]:
    """Return how many characters at the start and how many at the end are the same, without overlap."""
    shortest = min(len(old), len(new))
    head = _alike(shortest, lambda start, stop: old[start:stop] == new[start:stop])
    tail = _alike(
        shortest - head,
        lambda start, stop: old[len(old) - stop : len(old) - start] == new[len(new) - stop : len(new) - start],
    )
    return head, tail


def _alike(most: int, same: Callable[[int, int], bool]) -> int:
    """Return up to where all is the same, by halves: slices are compared many times faster than their characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _common(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return how many lines at the start and how many at the end are the same, without overlap."""
    shortest = min(len(old), len(new))
    first = 0
    if old[:shortest] == new[:shortest]:
        first = shortest
    else:
        while old[first] == new[first]:
            first += 1
    tail = 0
    while tail < shortest - first and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return first, tail
