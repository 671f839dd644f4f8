"""Reading a long text away from the window, before the graph takes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.qt import guard
from app.text.mirror import same_ends

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Reading

__all__ = ["ReadAhead"]

_KIND = "text"
#: So many characters between the first and the last difference are worth another thread.
_LONG = 24 * 2**10


class ReadAhead(QObject):
    """Finds out in the background what a text makes of the graph.

    Parameters
    ----------
    ready : callable
        Called when that is known; :meth:`take` then hands it out.
    """

    def __init__(self, ready: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._ready = ready
        self._document: Document | None = None
        self._text = ""
        self._reading: Reading | None = None

    def start(self, document: Document, text: str) -> bool:
        """Begin to read a text where that takes long; return whether it is under way."""
        if document is self._document and text == self._text and self._reading is None:
            return True
        self.cancel()
        if _differing(document.graph.text, text) < _LONG:
            return False
        self._document, self._text = document, text
        document.jobs.submit(_KIND, partial(document.graph.read_ahead, text), self._read, self._failed)
        return True

    def take(self, document: object, text: str) -> Reading | None:
        """Return what was found out of a text, if it was; what is under way is given up."""
        found = self._reading if document is self._document and text == self._text else None
        self.cancel()
        return found

    def cancel(self) -> None:
        """Give up what is under way, and forget what was found."""
        document, self._document, self._reading = self._document, None, None
        if document is not None:
            document.jobs.cancel(_KIND)

    @guard
    def _read(self, reading: Reading) -> None:
        self._reading = reading
        self._ready()

    def _failed(self, _error: Exception) -> None:
        self.cancel()
        self._ready()  # reads it again, and says what is wrong


def _differing(old: str, new: str) -> int:
    """Return how many characters lie between the first and the last difference of two texts, in the longer stretch."""
    head, tail = same_ends(old, new)
    return max(len(old), len(new)) - head - tail
