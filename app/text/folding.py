"""Folding: what stands between two brackets is hidden, and its first line stays.

Nothing is kept of the text but the lines that are folded, so that folding costs nothing until somebody folds. Where a
message ends is looked up when it is needed, from its brackets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextBlock
from PySide6.QtWidgets import QPlainTextEdit

from app.qt import guard
from app.text.brackets import brackets_of

__all__ = ["Folding"]

_SLICE = 4000  # lines that are hidden or shown before the window gets its turn
_MOST_LINES = 20_000
_MOST_MENDED = 400


class Folding(QObject):
    """Which messages of a text are folded.

    Parameters
    ----------
    edit : QPlainTextEdit
        The text.
    changed : callable
        Called when lines were hidden or shown.
    """

    def __init__(self, edit: QPlainTextEdit, changed: Callable[[], object]) -> None:
        super().__init__(edit)
        self._edit = edit
        self._changed = changed
        self._folded: list[int] = []
        self._blocks = edit.blockCount()
        self._work: tuple[QTextBlock, bool, int] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)
        edit.document().contentsChange.connect(self._shift)

    # What is folded

    @property
    def folded(self) -> Sequence[int]:
        """The folded lines, 0-based, in order."""
        return self._folded

    @property
    def working(self) -> bool:
        """Whether all lines are being folded or unfolded, which takes several turns."""
        return self._work is not None

    def is_folded(self, line: int) -> bool:
        """Whether what a line opens is hidden."""
        place = bisect_left(self._folded, line)
        return place < len(self._folded) and self._folded[place] == line

    @staticmethod
    def opens(block: QTextBlock) -> bool:
        """Whether a line opens a message that goes on below."""
        text = block.text()
        if "{" not in text and "[" not in text:
            return False
        depth, lowest = 0, 0
        for _, sign in brackets_of(text):
            depth += 1 if sign in "{[(" else -1
            lowest = min(lowest, depth)
        return depth > lowest and depth > 0

    @staticmethod
    def end_of(block: QTextBlock) -> QTextBlock:
        """Return the last line of what a line opens; the line itself where nothing closes it."""
        depth, line = 0, block
        for _ in range(_MOST_LINES):
            text = line.text()
            if "{" in text or "}" in text or "[" in text or "]" in text:
                depth += sum(1 if sign in "{[(" else -1 for _, sign in brackets_of(text))
            if depth <= 0:
                return line
            line = line.next()
            if not line.isValid():
                break
        return block

    # Folding

    def toggle(self, block: QTextBlock) -> None:
        """Fold what a line opens, or unfold it."""
        if self.is_folded(block.blockNumber()):
            self.unfold(block)
        else:
            self.fold(block)

    def fold(self, block: QTextBlock) -> None:
        """Hide what a line opens, and the line that closes it."""
        if not self.opens(block) or self.is_folded(block.blockNumber()):
            return
        end = self.end_of(block)
        if end == block:
            return
        self._folded.insert(bisect_left(self._folded, block.blockNumber()), block.blockNumber())
        line = block
        while line != end:
            line = line.next()
            _show(line, False)
        self._leave_hidden(block)
        self._tell()

    def unfold(self, block: QTextBlock) -> None:
        """Show what a line opens; what is folded inside of it stays so."""
        number = block.blockNumber()
        if not self.is_folded(number):
            return
        self._folded.remove(number)
        end = self.end_of(block)
        line, skip = block, block
        while line != end and line.next().isValid():
            line = line.next()
            if line.blockNumber() <= skip.blockNumber():
                continue
            _show(line, True)
            if self.is_folded(line.blockNumber()):
                skip = self.end_of(line)
        self._tell()

    def around(self, block: QTextBlock) -> QTextBlock | None:
        """Return the line that opens the message around a line; the line itself if it opens one."""
        if self.opens(block):
            return block
        depth, line = 0, block.previous()
        for _ in range(_MOST_LINES):
            if not line.isValid():
                return None
            for _, sign in reversed(brackets_of(line.text())):
                depth += -1 if sign in "{[(" else 1
            if depth < 0:
                return line
            line = line.previous()
        return None

    def reveal(self, block: QTextBlock) -> None:
        """Unfold whatever hides a line."""
        while block.isValid() and not block.isVisible():
            opener = block.previous()
            while opener.isValid() and not opener.isVisible():
                opener = opener.previous()
            if not opener.isValid() or not self.is_folded(opener.blockNumber()):
                self.show_all()
                return
            self.unfold(opener)

    # All of them

    def fold_all(self) -> None:
        """Fold every message at the top of the text: all layers."""
        self._start(True)

    def unfold_all(self) -> None:
        """Unfold everything."""
        self._start(False)

    def show_all(self) -> None:
        """Unfold everything, at once."""
        self._start(False)
        while self._work is not None:
            self._step()

    def _start(self, fold: bool) -> None:
        if not fold and not self._folded and self._work is None:
            return
        self._folded = []
        self._work = (self._edit.document().begin(), fold, 0)
        self._step()
        if self._work is not None:
            self._timer.start()

    @guard
    def _go_on(self) -> None:
        self._step()

    def _step(self) -> None:
        """Hide or show the next lines."""
        if self._work is None:
            self._timer.stop()
            return
        line, fold, depth = self._work
        for _ in range(_SLICE):
            if not line.isValid():
                break
            text = line.text() if fold else ""
            _show(line, depth <= 0)
            if "{" in text or "}" in text:
                was, depth = depth, max(depth + sum(1 if s in "{[(" else -1 for _, s in brackets_of(text)), 0)
                if was == 0 and depth > 0 and line.next().isValid():
                    self._folded.append(line.blockNumber())
            line = line.next()
        self._work = (line, fold, depth) if line.isValid() else None
        if self._work is None:
            self._timer.stop()
            if fold and depth > 0 and self._folded:  # the last one is not closed
                self.unfold(self._edit.document().findBlockByNumber(self._folded[-1]))
            self._leave_hidden(None)
        self._tell()

    def _leave_hidden(self, opener: QTextBlock | None) -> None:
        """Take the cursor out of what is hidden, to the line that stays."""
        cursor = self._edit.textCursor()
        block = cursor.block()
        if block.isVisible():
            return
        while block.isValid() and not block.isVisible():
            block = block.previous()
        if opener is None:
            opener = block
        cursor.setPosition(opener.position() + max(opener.length() - 1, 0))
        self._edit.setTextCursor(cursor)

    def _tell(self) -> None:
        layout = self._edit.document().documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())
        self._edit.viewport().update()
        self._changed()

    # Following the text

    def _shift(self, position: int, removed: int, added: int) -> None:
        count = self._edit.blockCount()
        delta, self._blocks = count - self._blocks, count
        if self._work is not None and delta:
            self.show_all()
        if not self._folded:
            return
        document = self._edit.document()
        line = document.findBlock(position).blockNumber()
        if delta:
            gone = line - delta if delta < 0 else line
            self._folded = [
                each if each <= line else each + delta for each in self._folded if each <= line or each > gone
            ]
        last = document.findBlock(position + added).blockNumber()
        touched = [each for each in self._folded if line <= each <= last]
        hidden = not document.findBlockByNumber(line).isVisible() or not document.findBlockByNumber(last).isVisible()
        if hidden or any(not self.opens(document.findBlockByNumber(each)) for each in touched):
            QTimer.singleShot(0, self, self._mend)

    @guard
    def _mend(self) -> None:
        """Hide again what is folded, after an edit that may have changed where it ends."""
        document = self._edit.document()
        kept = [each for each in self._folded if self.opens(document.findBlockByNumber(each))]
        if len(kept) > _MOST_MENDED:  # to look all of them up again would take longer than anybody waits
            self.unfold_all()
            return
        self.show_all()
        for each in kept:
            self.fold(document.findBlockByNumber(each))
        self.reveal(self._edit.textCursor().block())


def _show(line: QTextBlock, visible: bool) -> None:
    line.setVisible(visible)
    line.setLineCount(1 if visible else 0)
