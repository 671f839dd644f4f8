"""Python's cycle collector, kept to the window's own thread and to moments when it costs nothing.

A cycle may hold Qt's objects, which must go in the thread that they live in; left to itself Python collects in
whichever thread happens to allocate. And a net of 5,000 layers is some 350,000 objects: a full collection looks at
every one, for 0.2 to 0.4 s, and building the net starts several; even without a net it takes longer than a click may
wait. While the editor runs, young objects are collected by a timer. Very many that come at once are a net that is
opened, and are put aside with the old ones without being looked at. A document that is closed is taken apart (see
:mod:`app.window.closing.remains`), so that no search need find it; what little it leaves is collected when the user has
turned to another program.
"""

from __future__ import annotations

import gc
import threading
import time

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

from app.qt import Debounce, guard

__all__ = ["CalmCollector", "importing"]

#: So many young are looked at; few, for what goes is taken off the count, and there may be five times as many.
_YOUNG = 4_000
#: Every so many lots the middle-aged are looked at too.
_MIDDLE = 4
#: So many that come at once are not looked at.
_BURST = 24_000
#: Seconds that lots of young may have taken, for the middle-aged, which they are then, to be looked at with the next.
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
        self._left = False
        self._lots = 0
        self._spent = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._collect_young)
        self._timer.start()
        gc.disable()
        gc.freeze()  # what the program itself is made of stays; to look for what little its start left takes 40 ms
        _application().applicationStateChanged.connect(self._state_changed)

    @property
    def busy(self) -> bool:
        """Whether what documents left is about to be collected."""
        return self._due.pending

    def document_left(self, _document: object = None) -> None:
        """Collect what was left of a document, some time after it has gone, when nobody would feel it."""
        self._left = True
        self._state_changed(_application().applicationState())

    def close(self) -> None:
        """Have the collector as it was."""
        _application().applicationStateChanged.disconnect(self._state_changed)
        self._due.cancel()
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @guard
    def _state_changed(self, state: Qt.ApplicationState) -> None:
        """Wait until the user has turned to another program; at once is too soon, for he may come back."""
        if self._left and state != Qt.ApplicationState.ApplicationActive:
            self._due.trigger()
        else:
            self._due.cancel()

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
            self._spent += time.thread_time() - begun
            return
        if self._spent < _FELT:
            gc.collect(1)
        else:
            gc.collect(0)
            gc.freeze()
        self._spent = 0.0

    @guard
    def _collect_all(self) -> None:
        if importing.acquire(blocking=False):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            importing.release()
            self._left = False
        else:
            self._due.trigger()


def _application() -> QGuiApplication:
    application = QGuiApplication.instance()
    assert isinstance(application, QGuiApplication), "only a program with windows needs a calm collector"
    return application
