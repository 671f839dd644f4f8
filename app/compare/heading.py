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


class Heading(QWidget):
    """A line of words with buttons at its end; they go below it where there is no room for both.

    Parameters
    ----------
    words : QLabel
        What is said; :meth:`fit` tells that it says something else.
    buttons : sequence of QWidget
        From left to right.
    """

    def __init__(self, words: QLabel, buttons: Sequence[QWidget], parent: QWidget) -> None:
        super().__init__(parent)
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
        needed = self._words.sizeHint().width() + GRID + row
        fits = needed <= self.width() - margins.left() - margins.right()
        directions = QBoxLayout.Direction
        self._box.setDirection(directions.LeftToRight if fits else directions.TopToBottom)
        self._row.setMinimumWidth(row if fits else 0)

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
