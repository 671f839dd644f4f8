"""The button that measures times, and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QToolButton, QWidget

from app.qt import guard
from app.theme import GRID

if TYPE_CHECKING:
    from app.live.timing import Timings

__all__ = ["MeasureBar"]

_TIP = "Run the net forward and backward, and measure how long each layer takes"


class MeasureBar(QWidget):
    """Starts a measurement and stops it.

    Attributes
    ----------
    changed : Signal()
        The times that are to be shown are others.
    told : Signal(str, str)
        What stands in the way, and its kind.
    timings : Timings or None
        Of the document that is shown.
    """

    changed = Signal()
    told = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.timings: Timings | None = None
        self.button = QToolButton(self)
        self.button.setObjectName("costs.measure")
        self.button.setProperty("toggle", True)
        self.button.clicked.connect(self._clicked)
        self.bar = QProgressBar(self)
        self.bar.setObjectName("costs.progress")
        self.bar.setAccessibleName("Passes measured")
        self.bar.setMinimumWidth(14 * GRID)
        self.bar.setMaximumWidth(40 * GRID)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(2 * GRID)
        line.addWidget(self.bar)
        line.addWidget(self.button)
        self._show()

    def set_timings(self, timings: Timings | None) -> None:
        """Follow the times of another document, or of none."""
        if self.timings is not None:
            self.timings.changed.disconnect(self._changed)
            self.timings.progressed.disconnect(self._progressed)
        self.timings = timings
        if timings is not None:
            timings.changed.connect(self._changed)
            timings.progressed.connect(self._progressed)
        self._changed()

    @guard
    def _changed(self) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        timings = self.timings
        running = timings is not None and timings.is_running
        self.bar.setVisible(running)
        self.button.setEnabled(timings is not None)
        if running:
            self.button.setText("Stop")
            self.button.setToolTip("Stop measuring; what was measured before stays")
            self._progressed(*(timings.progress if timings is not None else (0, 0)))
            return
        known = timings is not None and bool(timings.times)
        self.button.setText("Measure again" if known else "Measure times")
        said = f"\n{timings.words}" if timings is not None and known else ""
        stale = "\nThe net was changed since." if timings is not None and timings.is_stale else ""
        self.button.setToolTip(f"{_TIP}{said}{stale}")

    @guard
    def _progressed(self, done: int, of: int) -> None:
        self.bar.setRange(0, of)
        self.bar.setValue(done)
        self.bar.setFormat("%v of %m")
        self.bar.setToolTip(f"{done} of {of} passes" if of else "Building the net\u2026")

    @guard
    def _clicked(self) -> None:
        timings = self.timings
        if timings is None:
            return
        if timings.is_running:
            timings.cancel()
        else:
            timings.measure(self.told.emit)
