"""Putting a long text into the widget in slices, so that the window stays alive meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.qt import guard
from app.text.differing import differing_lines, replace_each, replace_lines
from app.text.mirror import LineChange

__all__ = ["Filler"]

_FIRST, _SLICE = 300, 700  # lines
#: So many lines are replaced one by one where as many others come; more than the second number are put in in slices.
_FEW, _MANY = 1000, 2000
#: So many lines are taken out at a time.
_CUT = 4000


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
        self._excess = 0  # lines after those, which are still to be taken out
        self._awaited: tuple[int, Callable[[], object]] | None = None
        self.inserting = False
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)

    @property
    def active(self) -> bool:
        """Whether there is more to come."""
        return self._filled < len(self._lines) or self._excess > 0

    def fill(self, lines: Sequence[str]) -> None:
        """Show other lines: the first of them at once, the rest when the window is idle."""
        self._timer.stop()
        self._awaited = None
        self._excess = 0
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
            if self._excess:
                self._take_out(self._excess)
            self._insert(len(self._lines))

    def when_there(self, line: int, action: Callable[[], object]) -> None:
        """Do something once a line (from 1) is there, in the place of what waited for another one."""
        self._awaited = line, action
        self._look()

    def follow(self, change: LineChange, old: Sequence[str], lines: Sequence[str]) -> None:
        """Follow a change of the text that is shown, or still put in; very much of it in slices, too.

        Parameters
        ----------
        change : LineChange
        old, lines : sequence of str
            All lines before it and after it.
        """
        first = change.first
        there = self._filled if self.active else len(old)
        few = differing_lines(change, old, _FEW) if len(change.lines) > _FEW and there == len(old) else None
        self.inserting = True
        if few is not None:
            replace_each(self._edit, change, few)
        elif max(len(change.lines), (change.last - first) // 2) <= _MANY and (change.last < there or there == len(old)):
            replace_lines(self._edit, change)
            there += len(lines) - len(old)
        elif not first:
            awaited = self._awaited
            self._edit.setReadOnly(True)
            self.fill(lines)
            self._awaited = awaited
            return
        elif first < there:
            self._excess += there - first
            there = first
        self.inserting = False
        self._lines, self._filled = lines, there
        if self.active:
            self._edit.setReadOnly(True)
            self._timer.start()
        else:
            self._finished()

    def _look(self) -> None:
        """Do what waits for a line that is there now; one beyond the end counts as there once all is."""
        if self._awaited is not None and (not self.active or self._awaited[0] <= self._filled):
            action, self._awaited = self._awaited[1], None
            action()

    @guard
    def _go_on(self) -> None:
        if self._excess:
            self._take_out(min(self._excess, _CUT))
            if not self.active:
                self._finished()
        elif self.active:
            self._insert(self._filled + _SLICE)

    def _take_out(self, count: int) -> None:
        """Take out the last lines, which are none of the text any more."""
        last = self._filled + self._excess
        self._excess -= count
        self.inserting = True
        replace_lines(self._edit, LineChange(last - count, last, ()))
        self.inserting = False

    def _insert(self, end: int) -> None:
        """Append the lines up to ``end``; nothing of it counts as typed."""
        slice_ = self._lines[self._filled : end]
        self._filled += len(slice_)
        cursor = QTextCursor(self._edit.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.inserting = True
        cursor.insertText("".join(f"\n{line}" for line in slice_))
        self.inserting = False
        if self.active:
            self._look()
        else:
            self._finished()

    def _finished(self) -> None:
        self._timer.stop()
        self._lines, self._filled = (), 0
        self._done()
        self._look()
