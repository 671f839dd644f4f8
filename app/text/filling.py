"""Putting a long text into the widget in slices, so that the window stays alive meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.qt import guard

__all__ = ["Filler"]

_FIRST, _SLICE = 300, 700  # lines


class Filler(QObject):
    """Fills an editor from its first line on.

    Parameters
    ----------
    edit : QPlainTextEdit
    done : callable
        Called when the whole text is there, within :meth:`fill` if it is short.
    """

    def __init__(self, edit: QPlainTextEdit, done: Callable[[], object]) -> None:
        super().__init__(edit)
        self._edit = edit
        self._done = done
        self._lines: Sequence[str] = ()
        self._filled = 0
        self.inserting = False
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)

    @property
    def active(self) -> bool:
        """Whether there is more to come."""
        return self._filled < len(self._lines)

    def fill(self, lines: Sequence[str]) -> None:
        """Show other lines: the first of them at once, the rest when the window is idle."""
        self._timer.stop()
        self._lines, self._filled = lines, min(_FIRST, len(lines))
        self.inserting = True
        self._edit.setPlainText("\n".join(lines[: self._filled]))
        self.inserting = False
        if self.active:
            self._timer.start()
        else:
            self._finished()

    def finish(self) -> None:
        """Put all that is missing in now."""
        if self.active:
            self._insert(len(self._lines))

    @guard
    def _go_on(self) -> None:
        if self.active:
            self._insert(self._filled + _SLICE)

    def _insert(self, end: int) -> None:
        """Append the lines up to ``end``; nothing of it counts as typed."""
        slice_ = self._lines[self._filled : end]
        self._filled += len(slice_)
        cursor = QTextCursor(self._edit.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.inserting = True
        cursor.insertText("".join(f"\n{line}" for line in slice_))
        self.inserting = False
        if not self.active:
            self._finished()

    def _finished(self) -> None:
        self._timer.stop()
        self._lines, self._filled = (), 0
        self._done()
