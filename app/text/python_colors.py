"""Colours of Python, block by block; what spans lines is carried from one to the next."""

from __future__ import annotations

import builtins
import keyword
import re

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.qt import guard
from app.theme import Theme

__all__ = ["PythonColors"]

_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
    |(?P<long>[rRbBuUfF]{0,2}(?:'{3}|"{3}))
    |(?P<string>[rRbBuUfF]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?))
    |(?P<number>\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][-+]?\d+)?j?))
    |(?P<decorator>^\s*@[\w.]+)
    |(?P<defined>(?<=\bdef[ ])\w+|(?<=\bclass[ ])\w+)
    |(?P<word>\b[^\W\d]\w*)""",
    re.VERBOSE,
)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {"self"}
_LONG = {1: "'''", 2: '"""'}


class PythonColors(QSyntaxHighlighter):
    """Colours a document of Python code in the theme's colours."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        Theme.notifier().changed.connect(self._dress)
        self._dress(Theme.current())

    @guard
    def _dress(self, theme: Theme) -> None:
        colors = {
            "comment": theme.color("text_muted"),
            "string": theme.category("shape"),
            "number": theme.category("dense"),
            "keyword": theme.category("vision"),
            "builtin": theme.category("python"),
            "decorator": theme.category("python"),
            "defined": theme.color("text"),
        }
        for kind, color in colors.items():
            text_format = QTextCharFormat()
            text_format.setForeground(color)
            text_format.setFontItalic(kind == "comment")
            text_format.setFontWeight(QFont.Weight.DemiBold if kind == "defined" else QFont.Weight.Normal)
            self._formats[kind] = text_format
        self.rehighlight()

    @guard
    def highlightBlock(self, text: str) -> None:
        self.setCurrentBlockState(0)
        start = 0
        before = self.previousBlockState()
        if before in _LONG:
            start = self._long_string(text, 0, 0, before)
        while start < len(text) and (match := _TOKEN.search(text, start)):
            kind, start = match.lastgroup or "", match.end()
            if kind == "long":
                state = 1 if match.group().endswith("'") else 2
                start = self._long_string(text, match.start(), match.end(), state)
                continue
            if kind == "word":
                word = match.group()
                kind = "keyword" if keyword.iskeyword(word) else "builtin" if word in _BUILTINS else ""
            if kind:
                self.setFormat(match.start(), len(match.group()), self._formats[kind])

    def _long_string(self, text: str, start: int, inside: int, state: int) -> int:
        """Colour a string of three quotes from ``start`` on; return where it ends in this line."""
        close = text.find(_LONG[state], inside)
        end = len(text) if close < 0 else close + 3
        self.setFormat(start, end - start, self._formats["string"])
        if close < 0:
            self.setCurrentBlockState(state)
        return end
