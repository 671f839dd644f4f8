"""Pasting a long text: in slices between which the window answers, and not at all where it would be too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from app.qt import guard
from app.slices import Slices

if TYPE_CHECKING:
    from app.text.prototxt_edit import PrototxtEdit

__all__ = ["Paster"]

_SLICE = 12_000  # characters


class Paster(QObject):
    """Puts a long text where the cursor is; Escape takes out again what is there of it.

    Parameters
    ----------
    edit : PrototxtEdit
        Its ``long_pasted`` is listened to. Meanwhile nothing can be typed into it.
    most : int
        Characters that it may hold.
    done : callable
        Called when all is there, or taken out again.
    say : callable
        Shows a sentence; takes it away when it is empty.
    """

    def __init__(self, edit: PrototxtEdit, most: int, done: Callable[[], object], say: Callable[[str], object]) -> None:
        super().__init__(edit)
        self._edit, self._most, self._done, self._say = edit, most, done, say
        self._slices = Slices(self)
        self._cursor = QTextCursor()
        self._start = 0
        edit.long_pasted.connect(self._begin)
        edit.installEventFilter(self)

    @property
    def active(self) -> bool:
        """Whether there is more to come."""
        return self._slices.active

    def finish(self) -> None:
        """Put all that is missing in now."""
        self._slices.finish()

    def cancel(self) -> None:
        """Take out what is there."""
        if not self.active:
            return
        self._slices.cancel()
        self._cursor.setPosition(self._start, QTextCursor.MoveMode.KeepAnchor)
        self._cursor.removeSelectedText()
        self._end()

    @guard
    def _begin(self, text: str) -> None:
        self.finish()
        cursor = self._edit.textCursor()
        chosen = cursor.selectionEnd() - cursor.selectionStart()
        length = self._edit.document().characterCount() - chosen + len(text)
        if length > self._most:
            self._say(
                f"The text would have {length / 2**20:.1f} MB, too much to be shown here. "
                "Save what you would paste as a file, and open that."
            )
            return
        cursor.removeSelectedText()
        self._cursor, self._start = cursor, cursor.position()
        self._edit.setReadOnly(True)
        self._slices.start(self._steps(text.replace("\r\n", "\n").replace("\r", "\n")), self._end)

    def _steps(self, text: str) -> Iterator[None]:
        for place in range(0, len(text), _SLICE):
            self._cursor.insertText(text[place : place + _SLICE])
            self._say(f"Pasting: {100 * place // len(text)} %. Escape stops it.")
            yield

    def _end(self) -> None:
        self._say("")
        self._edit.setReadOnly(False)
        self._edit.setTextCursor(self._cursor)
        self._edit.ensureCursorVisible()
        self._done()

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.active and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.cancel()
            event.accept()
            return True
        return super().eventFilter(watched, event)
