"""Long lists in the panel: their first lines at once, more as their end comes into view, all in slices when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.qt import Debounce, guard
from app.slices import Slices

__all__ = ["FIRST_LINES", "Growing", "MoreButton"]

#: Lines of a list that are made at once, and so many more each time that its end is seen.
FIRST_LINES = 12


class MoreButton(QPushButton):
    """Stands for the lines that are not made yet; ``seen`` goes out when it is painted, or pressed."""

    seen = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("quiet", True)
        self._due = Debounce(self.seen.emit, 0, self)  # not in the middle of painting
        self.clicked.connect(self._due.trigger)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._due.trigger()


class Growing(QObject):
    """How many lines of a list there are to be.

    Parameters
    ----------
    fill : callable
        Makes the lines that are missing, up to a number of them.
    parent : QWidget
        Parent of :attr:`more`.

    Attributes
    ----------
    more : MoreButton
        To be put below the lines; hidden where none is missing.
    """

    def __init__(self, fill: Callable[[int], object], parent: QWidget) -> None:
        super().__init__(parent)
        self.more = MoreButton(parent)
        self.more.hide()
        self.more.seen.connect(self._grow)
        self._fill = fill
        self._wanted = FIRST_LINES
        self._length = 0
        self._slices = Slices(self)

    def reset(self) -> None:
        """Begin with the first lines again: another list is shown."""
        self._slices.cancel()
        self._wanted = FIRST_LINES

    def count(self, length: int) -> int:
        """Return how many lines of a list of a length there are to be now."""
        self._length = length
        missing = length - self._wanted
        self.more.setText(f"{missing:,} more")
        self.more.setVisible(missing > 0)
        return min(length, self._wanted)

    def reach_end(self, done: Callable[[], object]) -> None:
        """Make all lines, in slices that are not felt where they are many; then call ``done``."""
        if self._wanted >= self._length:
            done()
            return
        self._slices.start(self._steps(), done)

    def _steps(self) -> Iterator[None]:
        while self._wanted < self._length:
            self._make(1)
            yield

    @guard
    def _grow(self) -> None:
        if self._wanted < self._length and not self._slices.active:
            self._make(FIRST_LINES)

    def _make(self, count: int) -> None:
        self._wanted += count
        self._fill(self.count(self._length))
