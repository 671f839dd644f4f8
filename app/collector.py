"""Python's cycle collector, kept from walking through a whole net between two keystrokes.

A net of 5,000 layers is some 350,000 objects that Python follows, and a full collection looks at every one: it takes
0.2 to 0.4 s, and building the net starts several. While the editor runs, young objects are collected in larger
lots, and old ones only when a document has gone, at a moment when the window waits for the user.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject

from app.qt import Debounce

__all__ = ["CalmCollector"]

_YOUNG, _MIDDLE, _NEVER = 50_000, 20, 1_000_000
_QUIET = 3000


class CalmCollector(QObject):
    """Sets the collector up for an editor, and takes that back with :meth:`close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._before = gc.get_threshold()
        self._due = Debounce(self._collect, _QUIET, self)
        gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
        gc.collect()
        gc.freeze()  # what the program itself is made of stays

    def document_left(self, _document: object = None) -> None:
        """Collect what was left of a document, some time after it has gone."""
        self._due.trigger()

    def close(self) -> None:
        """Have the collector as it was."""
        self._due.cancel()
        gc.unfreeze()
        gc.set_threshold(*self._before)

    @staticmethod
    def _collect() -> None:
        gc.collect()
