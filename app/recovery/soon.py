"""Writing soon after a change, and not much later while changes go on."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.qt import Debounce

__all__ = ["Soon"]

_QUIET, _LATEST = 250, 1.5


class Soon(QObject):
    """Calls a function in the first pause after a change, or at most 1.5 s after it where there is none.

    Parameters
    ----------
    function : callable
        What to call, without arguments.
    parent : QObject
        Owner; the timer dies with it.
    """

    def __init__(self, function: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._function = function
        self._since: float | None = None
        self._due = Debounce(self._call, _QUIET, self)

    def trigger(self) -> None:
        """There is a change."""
        now = time.monotonic()
        self._since = self._since if self._since is not None else now
        self._due.trigger()
        if now - self._since >= _LATEST:
            self._due.flush()

    def cancel(self) -> None:
        """Take back the call that is due."""
        self._due.cancel()

    def _call(self) -> None:
        self._since = None
        self._function()
