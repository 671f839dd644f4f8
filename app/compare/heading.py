"""What differs in words, and the buttons beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QWidget

from app.qt import guard
from app.theme import GRID
from app.widgets.flowrow import FlowRow

__all__ = ["Heading"]

#: The words have room for so many lines from the beginning, and beside the buttons for so many letters in each.
_LINES, _LETTERS = 2, 40


class Heading(QWidget):
    """Two lines of words with buttons at their end; they go below where there is no room for both.

    What is said first is short, and grows as more is known: neither the buttons nor what is below may move then.

    Parameters
    ----------
    words : QLabel
        What is said.
    buttons : sequence of QWidget
        From left to right.
    """

    def __init__(self, words: QLabel, buttons: Sequence[QWidget], parent: QWidget) -> None:
        super().__init__(parent)
        words.setWordWrap(True)
        self._words, self._buttons = words, buttons
        self._row = QWidget(self)
        self._flow = FlowRow(GRID, self._row)
        for button in buttons:
            self._flow.addWidget(button)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self._box.setSpacing(GRID)
        self._box.addWidget(words, 1)
        self._box.addWidget(self._row)

    def minimumSizeHint(self) -> QSize:
        """So narrow that each button has a line of its own."""
        margins = self._box.contentsMargins()
        width = self._flow.minimumSize().width() + margins.left() + margins.right()
        return QSize(width, super().minimumSizeHint().height())

    def fit(self) -> None:
        """Put the buttons where there is room for them."""
        margins = self._box.contentsMargins()
        row = sum(button.sizeHint().width() + GRID for button in self._buttons) - GRID
        letters = self._words.fontMetrics()
        self._words.setMinimumHeight(_LINES * letters.lineSpacing())
        needed = _LETTERS * letters.averageCharWidth() + GRID + row
        fits = needed <= self.width() - margins.left() - margins.right()
        directions = QBoxLayout.Direction
        self._box.setDirection(directions.LeftToRight if fits else directions.TopToBottom)
        self._row.setMinimumWidth(row if fits else 0)

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
