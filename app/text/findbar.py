"""The bar that finds text in the pane."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.icons import icon
from app.qt import guard
from app.text.edit import NumberedEdit
from app.theme import GRID

__all__ = ["FindBar"]


class FindBar(QWidget):
    """Finds as you type; Enter goes to the next place, Shift+Enter to the one before, Escape closes.

    Parameters
    ----------
    edit : NumberedEdit
        Where to look.
    """

    def __init__(self, edit: NumberedEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edit = edit
        self.setObjectName("text.find_bar")
        self.line = QLineEdit(self)
        self.line.setObjectName("text.find")
        self.line.setPlaceholderText("Find")
        self.line.setAccessibleName("Find in text")
        self.line.setClearButtonEnabled(True)
        self.line.textChanged.connect(self._typed)
        self.count = QLabel(self)
        self.count.setProperty("muted", True)
        self.count.setMinimumWidth(18 * GRID)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.line, 1)
        layout.addWidget(self.count)
        for name, tip, slot in (
            ("caret-up", "Previous (Shift+F3)", self.find_previous),
            ("caret-down", "Next (F3)", self.find_next),
            ("x", "Close (Esc)", self.close_bar),
        ):
            button = QToolButton(self)
            button.setIcon(icon(name, "text_muted"))
            button.setIconSize(QSize(14, 14))
            button.setAutoRaise(True)
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.clicked.connect(slot)
            layout.addWidget(button)
        self.hide()

    def open_bar(self) -> None:
        """Show the bar with the selected word in it."""
        selected = self._edit.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self.line.setText(selected)
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        self._edit.set_searched(self.line.text())
        self._tell()

    def close_bar(self) -> None:
        """Hide the bar and go back to the text."""
        self.hide()
        self._edit.set_searched("")
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def find_next(self) -> None:
        """Select the next place, from the start again after the last."""
        self._find(QTextDocument.FindFlag(0))

    def find_previous(self) -> None:
        """Select the place before, from the end again before the first."""
        self._find(QTextDocument.FindFlag.FindBackward)

    def _typed(self, text: str) -> None:
        self._edit.set_searched(text)
        cursor = self._edit.textCursor()
        cursor.setPosition(cursor.selectionStart())
        self._edit.setTextCursor(cursor)
        self.find_next()

    def _find(self, flags: QTextDocument.FindFlag) -> None:
        wanted = self.line.text()
        if wanted and not self._edit.find(wanted, flags):
            before = self._edit.textCursor()
            backward = bool(flags & QTextDocument.FindFlag.FindBackward)
            cursor = QTextCursor(before)
            end = QTextCursor.MoveOperation.End if backward else QTextCursor.MoveOperation.Start
            cursor.movePosition(end)
            self._edit.setTextCursor(cursor)
            if not self._edit.find(wanted, flags):
                self._edit.setTextCursor(before)
        self._tell()

    def _tell(self) -> None:
        wanted = self.line.text().lower()
        if not wanted:
            self.count.setText("")
            return
        text = self._edit.document().toRawText().lower()
        total = text.count(wanted)
        if not total:
            self.count.setText("not found")
            return
        cursor = self._edit.textCursor()
        place = text.count(wanted, 0, cursor.selectionEnd()) if cursor.hasSelection() else 0
        self.count.setText(f"{place} of {total}" if place else f"{total} found")

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.find_previous()
            else:
                self.find_next()
        else:
            super().keyPressEvent(event)
