"""The log of the run that is shown."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.qt import guard
from app.theme import monospace_font

__all__ = ["LogView"]

_MOST_LINES = 5000
_PREFIX = re.compile(r"^[IWEF]\d{4} (\d\d:\d\d:\d\d)\.\d+ +\d+ [\w.]+:\d+\] ", re.MULTILINE)


class LogView(QPlainTextEdit):
    """Read-only text that follows its end unless the user has scrolled up; old lines fall out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.log")
        self.setAccessibleName("Log")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setMaximumBlockCount(_MOST_LINES)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(monospace_font())
        self.setPlaceholderText("What the training writes appears here.")
        self._following = True
        self._adding = False
        self.verticalScrollBar().valueChanged.connect(self._moved)
        self.verticalScrollBar().rangeChanged.connect(self._range_changed)

    def add(self, text: str) -> None:
        """Add text at the end; of the prefix of each line only the time is shown."""
        if not text:
            return
        text = _PREFIX.sub(r"\1  ", text)
        lines = text.split("\n")
        if len(lines) > _MOST_LINES:
            text = "\n".join(lines[-_MOST_LINES:])
        bar = self.verticalScrollBar()
        place = bar.value()
        cursor = self.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self._adding = True
        cursor.insertText(text)
        bar.setValue(bar.maximum() if self._following else place)
        self._adding = False

    @guard
    def _moved(self, value: int) -> None:
        if not self._adding:
            self._following = value >= self.verticalScrollBar().maximum()

    @guard
    def _range_changed(self, _least: int, most: int) -> None:
        if self._following:  # lines were added, or the view became lower
            self.verticalScrollBar().setValue(most)
