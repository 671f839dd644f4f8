"""A box for several lines of text, with the colours of what most parameter texts are made of."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.properties.editors.edits import is_undo_key, settles_shortcut
from app.qt import guard
from app.theme import GRID, Theme, monospace_font
from app.widgets.highlighting import ThemedHighlighter, text_format

__all__ = ["TextBox", "ValueHighlighter"]

_FEWEST_LINES, _MOST_LINES = 3, 12
_TOKEN = re.compile(
    r"""(?P<comment>(?:^|(?<=\s))\#.*)
    |(?P<key>(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.\-])[A-Za-z_][\w.\-]*)(?=\s*:(?:\s|$|["'\[{(\d]))|(?:^|(?<=\s))--?[A-Za-z_][\w.\-]*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>(?<![\w.])[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.]))
    |(?P<word>!![^\s\[\](){},]*|\b(?:True|False|None|true|false|null)\b)""",
    re.VERBOSE,
)


class ValueHighlighter(ThemedHighlighter):
    """Colours keys, texts, numbers, constants and remarks, whatever notation they are in."""

    def formats_of(self, theme: Theme) -> dict[str, QTextCharFormat]:
        return {
            "comment": text_format(theme.color("text_muted")),
            "key": text_format(theme.category("vision")),
            "string": text_format(theme.category("shape")),
            "number": text_format(theme.category("dense")),
            "word": text_format(theme.category("python")),
        }

    @guard
    def highlightBlock(self, text: str) -> None:
        for match in _TOKEN.finditer(text):
            self.setFormat(match.start(), len(match.group()), self.formats[match.lastgroup or "word"])


class TextBox(QPlainTextEdit):
    """Several lines of text that are committed with Ctrl+Enter or when the focus leaves."""

    committed = Signal(str)
    held = False  # see ValueEdit

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = ""
        self.setFont(monospace_font())
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._highlighter = ValueHighlighter(self.document())
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def pending(self) -> bool:
        """Whether something is typed that is not committed."""
        return self.toPlainText() != self._shown

    def show_text(self, text: str) -> None:
        """Show the text of the file; what is typed and not committed stays while the file's is the same."""
        if text == self._shown and self.pending:
            return
        self._shown = text
        if self.toPlainText() != text:
            self.setPlainText(text)

    def commit(self) -> None:
        """Hand on what is typed, if it differs from the file."""
        if self.pending:
            self.committed.emit(self.toPlainText())

    def revert(self) -> None:
        """Put back what the file says."""
        self.setPlainText(self._shown)

    def put_down(self) -> tuple[str | None, str]:
        """Put back what the file says; return that, and what was typed."""
        state = self._shown, self.toPlainText()
        self.revert()
        return state

    def take_up(self, shown: str | None, typed: str) -> None:
        """Go on with what was typed into another editor of this field, unless the file says something else now."""
        if shown == self._shown:
            self.setPlainText(typed)

    @guard
    def _fit(self) -> None:
        lines = min(max(self.blockCount(), _FEWEST_LINES), _MOST_LINES)
        self.setFixedHeight(lines * QFontMetrics(self.font()).lineSpacing() + 4 * GRID)

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        return settles_shortcut(event, self.pending) or super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if is_undo_key(event) and not self.pending:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
            self.commit()
        elif event.key() == Qt.Key.Key_Escape and self.pending:
            self.revert()
        else:
            super().keyPressEvent(event)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and not self.held:
            self.commit()
