"""Python's cycle collector, kept to the window's own thread and to moments when it costs nothing.

A cycle may hold Qt's objects, which must go in the thread that they live in; left to itself Python collects in
whichever thread happens to allocate. And a net of 5,000 layers is some 350,000 objects: a full collection looks at
every one, for 0.2 to 0.4 s, and building the net starts several. While the editor runs, young objects are collected
by a timer, and old ones only when a document has gone, at a moment when the window waits for the user. Very many that
come at once are a net that is opened, and are put aside with the old ones without being looked at.
"""

from __future__ import annotations

import gc
import threading
import time

from PySide6.QtCore import QObject, QTimer

from app.qt import Debounce, guard

__all__ = ["CalmCollector", "importing"]

_YOUNG, _MIDDLE = 8_000, 2
#: So many that come at once are not looked at.
_BURST = 24_000
#: Seconds that the young may have taken, for the middle-aged, which they are then, to be looked at with the next.
_FELT = 0.01
_TICK = 30
_QUIET = 3000
#: Held by a thread that imports a library of Qt's: its half-made classes are not to be walked through.
importing = threading.Lock()


class CalmCollector(QObject):
    """Sets the collector up for an editor, and takes that back with :meth:`close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._due = Debounce(self._collect_all, _QUIET, self)
        self._lots = 0
        self._spent = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._collect_young)
        self._timer.start()
        gc.disable()
        gc.collect()
        gc.freeze()  # what the program itself is made of stays

    def document_left(self, _document: object = None) -> None:
        """Collect what was left of a document, some time after it has gone."""
        self._due.trigger()

    def close(self) -> None:
        """Have the collector as it was."""
        self._due.cancel()
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @guard
    def _collect_young(self) -> None:
        young = gc.get_count()[0]
        if young > _YOUNG and importing.acquire(blocking=False):
            if young > _BURST:
                gc.freeze()
            else:
                self._collect_lot()
            importing.release()

    def _collect_lot(self) -> None:
        self._lots += 1
        if self._lots % _MIDDLE:
            begun = time.thread_time()
            gc.collect(0)
            self._spent = time.thread_time() - begun
        elif self._spent < _FELT:
            gc.collect(1)
        else:
            gc.collect(0)
            gc.freeze()

    @guard
    def _collect_all(self) -> None:
        if importing.acquire(blocking=False):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            importing.release()
        else:
            self._due.trigger()
