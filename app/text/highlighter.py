"""Colours of prototxt, line by line.

Nothing in prototxt spans lines, so a line is coloured when it is first painted: a file of a megabyte costs no more to
open than the lines on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from PySide6.QtGui import QColor, QTextBlock, QTextCharFormat, QTextLayout

from app.theme import Theme

__all__ = ["Highlighter", "TokenKind", "tokens"]

_GENERATIONS = 64
_STATES = 2**24  # with the generation, what fits into the state of a block

TokenKind = Literal["comment", "string", "open_string", "number", "block", "field", "word", "junk"]

_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<open_string>["'].*)
    |(?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?)(?![\w.]))
    |(?P<block>[A-Za-z_][\w.]*(?=\s*:?\s*[{<]))
    |(?P<field>[A-Za-z_][\w.]*(?=\s*:))
    |(?P<word>[A-Za-z_][\w.]*)
    |(?P<junk>[^\s\w\[\]{}<>:;,."'\#+-]+)""",
    re.VERBOSE,
)


def tokens(line: str) -> Iterator[tuple[int, int, TokenKind]]:
    """Yield start, length and kind of each token of a line that has a colour."""
    for match in _TOKEN.finditer(line):
        kind: TokenKind = match.lastgroup  # type: ignore[assignment]
        yield match.start(), match.end() - match.start(), kind


class Highlighter:
    """Colours blocks of a text document on demand."""

    def __init__(self) -> None:
        self._formats: dict[TokenKind, QTextCharFormat] = {}
        self._generation = 0
        self.dress(Theme.current())

    def dress(self, theme: Theme) -> None:
        """Take the colours of a theme; blocks are coloured anew when they are painted next."""
        self._generation = (self._generation + 1) % _GENERATIONS
        colors: dict[TokenKind, QColor] = {
            "comment": theme.color("text_muted"),
            "string": theme.category("shape"),
            "open_string": theme.color("error"),
            "number": theme.category("dense"),
            "block": theme.category("vision"),
            "field": theme.color("text"),
            "word": theme.category("python"),
            "junk": theme.color("error"),
        }
        self._formats = {kind: _format(color, italic=kind == "comment") for kind, color in colors.items()}

    def color(self, block: QTextBlock) -> bool:
        """Colour a block unless that is done; return whether it was."""
        line = block.text()
        # Not the block's revision: without an undo stack of its own, Qt gives the same one to each letter typed.
        state = hash(line) % _STATES * _GENERATIONS + self._generation
        if block.userState() == state:
            return False
        wide = not line.isascii() and any(ord(char) > 0xFFFF for char in line)
        ranges = []
        for start, length, kind in tokens(line):
            each = QTextLayout.FormatRange()
            each.start = _units(line[:start]) if wide else start
            each.length = _units(line[start : start + length]) if wide else length
            each.format = self._formats[kind]
            ranges.append(each)
        block.layout().setFormats(ranges)
        block.setUserState(state)
        return True


def _format(color: QColor, *, italic: bool) -> QTextCharFormat:
    text_format = QTextCharFormat()
    text_format.setForeground(color)
    text_format.setFontItalic(italic)
    return text_format


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
