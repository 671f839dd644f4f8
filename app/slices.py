"""Long work on the window's thread, done in slices between which the window answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject

from app.qt import Debounce

__all__ = ["Slices"]

_SLICE = 0.006


class Slices(QObject):
    """Does a work step by step, for some milliseconds each time that the window has nothing else to do.

    Parameters
    ----------
    parent : QObject, optional
        Owner; what is not done when it dies is not done.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: Iterator[object] | None = None
        self._done: Callable[[], object] | None = None
        self._next = Debounce(self._go_on, 0, self)

    @property
    def active(self) -> bool:
        """Whether there is more to do."""
        return self._work is not None

    def start(self, work: Iterator[object], done: Callable[[], object] | None = None) -> None:
        """Begin a work, in the place of what is under way.

        Parameters
        ----------
        work : iterator
            Does one step each time that it is asked; a step must be short, and must bear that anything may have
            happened since the last one.
        done : callable, optional
            Called at the end.
        """
        self._work, self._done = work, done
        self._next.trigger()

    def finish(self) -> None:
        """Do all that is left now."""
        self._next.cancel()
        self._run(float("inf"))

    def cancel(self) -> None:
        """Leave the rest undone."""
        self._next.cancel()
        self._work = self._done = None

    def _go_on(self) -> None:
        self._run(time.perf_counter() + _SLICE)

    def _run(self, until: float) -> None:
        work = self._work
        if work is None:
            return
        try:
            for _step in work:
                if self._work is not work:  # a step gave it up
                    return
                if time.perf_counter() > until:
                    self._next.trigger()
                    return
        except BaseException:
            self.cancel()  # a work that failed is over
            raise
        if self._work is work:
            done, self._work, self._done = self._done, None, None
            if done is not None:
                done()
