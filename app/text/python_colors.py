"""Colours of Python, block by block; what spans lines is carried from one to the next."""

from __future__ import annotations

import builtins
import keyword
import re

from PySide6.QtGui import QTextCharFormat

from app.qt import guard
from app.theme import Theme
from app.widgets.highlighting import ThemedHighlighter, text_format

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


class PythonColors(ThemedHighlighter):
    """Colours a document of Python code in the theme's colours."""

    def formats_of(self, theme: Theme) -> dict[str, QTextCharFormat]:
        return {
            "comment": text_format(theme.color("text_muted"), italic=True),
            "string": text_format(theme.category("shape")),
            "number": text_format(theme.category("dense")),
            "keyword": text_format(theme.category("vision")),
            "builtin": text_format(theme.category("python")),
            "decorator": text_format(theme.category("python")),
            "defined": text_format(theme.color("text"), strong=True),
        }

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
                self.setFormat(match.start(), len(match.group()), self.formats[kind])

    def _long_string(self, text: str, start: int, inside: int, state: int) -> int:
        """Colour a string of three quotes from ``start`` on; return where it ends in this line."""
        close = text.find(_LONG[state], inside)
        end = len(text) if close < 0 else close + 3
        self.setFormat(start, end - start, self.formats["string"])
        if close < 0:
            self.setCurrentBlockState(state)
        return end
