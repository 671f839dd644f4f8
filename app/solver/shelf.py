"""The solvers that are open in a window: nets that one solver trains have it in common, with its text and history."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.solver.document import SolverDocument

__all__ = ["SolverShelf"]


class SolverShelf(QObject):
    """Holds solvers while some net uses them.

    Attributes
    ----------
    arrived : Signal(SolverDocument)
        A solver was opened that was not open before.
    """

    arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._held: dict[Path, SolverDocument] = {}
        self._users: dict[Path, set[QObject]] = {}

    def find(self, path: Path) -> SolverDocument | None:
        """Return the solver of a file, if some net has it open, by whatever path."""
        return self._held.get(_key(path))

    def take(self, path: Path, user: QObject, make: Callable[[], SolverDocument]) -> SolverDocument:
        """Return the solver of a file, made if none has it open yet; the user gives it back with :meth:`release`."""
        key = _key(path)
        held = self._held.get(key)
        is_new = held is None
        if held is None:
            held = self._held[key] = make()
            held.setParent(self)
        self._users.setdefault(key, set()).add(user)
        if is_new:
            self.arrived.emit(held)
        return held

    def release(self, solver: SolverDocument, user: QObject, *, keeps: bool = False) -> None:
        """Let go of a solver; it is closed when nobody uses it any more, unless the last user ``keeps`` it."""
        key = next((key for key, held in self._held.items() if held is solver), None)
        if key is None:
            return
        self._users[key].discard(user)
        if not self._users[key]:
            del self._held[key], self._users[key]
            if not keeps:
                solver.close()
                solver.setParent(None)  # whoever still shows it may look at it


def _key(path: Path) -> Path:
    return Path(os.path.realpath(path))
