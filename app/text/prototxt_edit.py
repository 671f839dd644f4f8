"""The editor of prototxt: colours, no history of its own, and keys that belong to the document."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QTextBlock
from PySide6.QtWidgets import QWidget

from app.qt import guard, key_text
from app.text.completer import Completer
from app.text.edit import NumberedEdit
from app.text.highlighter import Highlighter
from app.theme import Theme

__all__ = ["PrototxtEdit"]

_NAMED = re.compile(r"""^\s*name\s*:\s*("[^"]*"|'[^']*')""")
_NAME_WITHIN = 4  # lines below the head of a layer
_LONG = 48 * 2**10  # characters


class PrototxtEdit(NumberedEdit):
    """A prototxt editor without an undo of its own.

    Attributes
    ----------
    undo_asked : Signal(bool)
        Ctrl+Z (False) or Ctrl+Y (True) was pressed: the document's history is meant.
    leaving : Signal()
        The focus leaves, or a shortcut with Ctrl is about to run: what is typed should be committed.
    producer_asked : Signal()
        Ctrl+click: go to what the word under the cursor is made by.
    long_pasted : Signal(str)
        A text was pasted or dropped that is too long to be taken at once.
    completer : Completer
        What could be typed at the cursor.
    """

    folds = True
    undo_asked = Signal(bool)
    leaving = Signal()
    producer_asked = Signal()
    long_pasted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("text.edit")
        self.setAccessibleName("Prototxt")
        self.document().setUndoRedoEnabled(False)
        self._highlighter = Highlighter()
        self.completer = Completer(self)
        self.add_command("complete", "Complete", ("Ctrl+Space",), self.completer.open, edits=True)

    def dress(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._highlighter.dress(theme)
        super().dress(theme)

    def color_block(self, block: QTextBlock) -> None:
        """Colour a block that is about to be painted."""
        if self._highlighter.color(block):
            self.document().markContentsDirty(block.position(), block.length())

    def hint_of(self, block: QTextBlock) -> str:
        """Return the name of the layer that a folded line hides."""
        line = block
        for _ in range(_NAME_WITHIN):
            line = line.next()
            found = _NAMED.match(line.text()) if line.isValid() else None
            if found:
                return f"{found[1]} }}"
        return "}"

    def tip_at(self, place: QPoint) -> str:
        """Return what is wrong at a place, and how it is mended by a key; else what the field there means."""
        wrong = self.mistake_at(place)
        if not wrong:
            return self.completer.doc_at(self.cursorForPosition(place))
        line = self.cursorForPosition(place).blockNumber()
        fix = next((each.fix for each in self.mistakes_on(line) if each.fix is not None), None)
        if fix is None:
            return wrong
        command = next((each for each in self.actions() if each.objectName() == "text.fix"), None)
        key = key_text(command) if command is not None else ""
        return f"{wrong}\n{key or 'Quick fix'}: {fix.label}"

    @guard
    def insertFromMimeData(self, source: QMimeData) -> None:
        text = source.text() if source.hasText() else ""
        if len(text) < _LONG:
            super().insertFromMimeData(source)
        elif not self.isReadOnly():
            self.long_pasted.emit(text)

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if self.completer.wants(event):
                event.accept()
                return True
            modifiers = event.modifiers()
            own = self.command_for(event) is not None
            if modifiers & Qt.KeyboardModifier.ControlModifier and event.key() != Qt.Key.Key_Control and not own:
                self.leaving.emit()
        return super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completer.key(event):
            return
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit(False)
        elif event.matches(QKeySequence.StandardKey.Redo) or (
            event.key() == Qt.Key.Key_Y and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        ):
            self.undo_asked.emit(True)
        else:
            command = self.command_for(event)
            super().keyPressEvent(event)
            if command is None:
                self.completer.typed(event)

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.completer.close()
        super().mousePressEvent(event)
        left = event.button() == Qt.MouseButton.LeftButton
        if left and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.setTextCursor(self.cursorForPosition(event.position().toPoint()))
            self.producer_asked.emit()

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.completer.close()
        self.leaving.emit()
