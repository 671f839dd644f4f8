"""Syntax colours that are those of the theme."""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.qt import guard
from app.theme import Theme

__all__ = ["ThemedHighlighter", "text_format"]


class ThemedHighlighter(QSyntaxHighlighter):
    """Keeps a format for each kind of token, and makes them anew when the theme changes.

    A subclass makes them, in :meth:`formats_of`, and uses them in its ``highlightBlock``.

    Attributes
    ----------
    formats : dict of str to QTextCharFormat
        By kinds of tokens.
    """

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.formats: dict[str, QTextCharFormat] = {}
        Theme.notifier().changed.connect(self._dress)
        self._dress(Theme.current())

    def formats_of(self, theme: Theme) -> dict[str, QTextCharFormat]:
        """Return the formats in the colours of a theme."""
        raise NotImplementedError

    @guard
    def _dress(self, theme: Theme) -> None:
        self.formats = self.formats_of(theme)
        self.rehighlight()


def text_format(color: QColor, *, italic: bool = False, strong: bool = False) -> QTextCharFormat:
    """Return the format of text in a colour."""
    made = QTextCharFormat()
    made.setForeground(color)
    made.setFontItalic(italic)
    if strong:
        made.setFontWeight(QFont.Weight.DemiBold)
    return made
