"""A bar in the pane that asks for one line: a new name, or the number of a line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QWidget

from app.qt import guard
from app.theme import GRID

__all__ = ["AskBar"]


class AskBar(QWidget):
    """Asks; Enter answers, Escape closes, and what is wrong with an answer stands beside it.

    Parameters
    ----------
    back : QWidget
        Gets the keyboard afterwards.
    """

    def __init__(self, back: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("text.ask_bar")
        self._back = back
        self._answer: Callable[[str], str] | None = None
        self.label = QLabel(self)
        self.line = QLineEdit(self)
        self.line.setObjectName("text.ask")
        self.refusal = QLabel(self)
        self.refusal.setProperty("problem", True)
        self.refusal.setWordWrap(True)
        box = QHBoxLayout(self)
        box.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        box.setSpacing(GRID)
        box.addWidget(self.label)
        box.addWidget(self.line, 1)
        box.addWidget(self.refusal, 1)
        self.hide()

    def ask(self, question: str, suggestion: str, answer: Callable[[str], str]) -> None:
        """Open the bar.

        Parameters
        ----------
        answer : callable
            Takes the answer; returns why it will not do, or an empty text.
        """
        self._answer = answer
        self.label.setText(question)
        self.line.setAccessibleName(question)
        self.line.setText(suggestion)
        self.refusal.hide()
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def close_bar(self) -> None:
        """Hide the bar and go back to the text."""
        self._answer = None
        self.hide()
        self._back.setFocus(Qt.FocusReason.OtherFocusReason)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._answer is not None:
            refusal = self._answer(self.line.text().strip())
            self.refusal.setText(refusal)
            self.refusal.setVisible(bool(refusal))
            if not refusal:
                self.close_bar()
        else:
            super().keyPressEvent(event)
