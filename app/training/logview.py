"""The log of the run that is shown."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.theme import monospace_font

__all__ = ["LogView"]

_MOST_LINES = 5000
_PREFIX = re.compile(r"^[IWEF]\d{4} (\d\d:\d\d:\d\d)\.\d+ +\d+ [\w.]+:\d+\] ", re.MULTILINE)


class LogView(QPlainTextEdit):
    """Read-only text that follows its end unless the user has scrolled up; old lines fall out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.log")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setMaximumBlockCount(_MOST_LINES)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(monospace_font())
        self.setPlaceholderText("What the training writes appears here.")

    def add(self, text: str) -> None:
        """Add text at the end; of the prefix of each line only the time is shown."""
        if not text:
            return
        text = _PREFIX.sub(r"\1  ", text)
        lines = text.split("\n")
        if len(lines) > _MOST_LINES:
            text = "\n".join(lines[-_MOST_LINES:])
        bar = self.verticalScrollBar()
        followed = bar.value() >= bar.maximum()
        place = bar.value()
        cursor = self.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        cursor.insertText(text)
        bar.setValue(bar.maximum() if followed else place)
