"""The bar that says how far measuring has come, and stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.qt import guard

if TYPE_CHECKING:
    from app.live.timing import Timings
    from app.window.bars import InfoArea, InfoBar

__all__ = ["MeasuringNote"]

_TEXT = "Measuring how long the layers take"


class MeasuringNote(QObject):
    """Keeps a bar in step with a measurement, and takes it away at the end; it lives as long as the bar.

    Parameters
    ----------
    bar : InfoBar
        What tells of it.
    timings : Timings
        What measures.
    """

    def __init__(self, bar: InfoBar, timings: Timings) -> None:
        super().__init__(bar)
        self._bar, self._timings = bar, timings
        bar.keep()
        timings.changed.connect(self._changed)
        timings.progressed.connect(self._progressed)

    @classmethod
    def show(cls, bars: InfoArea, timings: Timings) -> MeasuringNote:
        """Add a bar that tells of a measurement, with a button that stops it."""
        return cls(bars.add(f"{_TEXT}\u2026", "info", (("Stop", timings.cancel),)), timings)

    @guard
    def _changed(self) -> None:
        if not self._timings.is_running:
            self._bar.dismiss()

    @guard
    def _progressed(self, done: int, of: int) -> None:
        self._bar.say(f"{_TEXT}: {done} of {of} passes")
