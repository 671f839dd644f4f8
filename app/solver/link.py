"""The solver that belongs to a net in the editor: opened when somebody looks at it, kept while it has changes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import guard
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from app.solver.document import SolverDocument

__all__ = ["SolverLink"]

_log = logging.getLogger(__name__)


class SolverLink(QObject):
    """What of its solvers is open together with a net.

    Parameters
    ----------
    document : Document
        The net; its ``solver_path`` says which solver is meant.

    Attributes
    ----------
    changed : Signal()
        The text of a solver was edited, or saved.
    problem : str
        Why the solver cannot be opened, after :meth:`open` returned None.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._opened: dict[Path, SolverDocument] = {}
        self.problem = ""

    @property
    def opened(self) -> SolverDocument | None:
        """The solver of the net, if it is open."""
        path = self._document.solver_path
        return None if path is None else self._opened.get(path.absolute())

    def open(self) -> SolverDocument | None:
        """Return the solver of the net, opened if it is not yet; None without one, see ``problem``."""
        path, found = self._document.solver_path, self.opened
        self.problem = ""
        if path is None or found is not None:
            return found
        from app.solver.document import SolverDocument

        try:
            made = SolverDocument.open(path, self)
        except NetcanvasError as error:
            self.problem = str(error)
            return None
        except OSError as error:
            self.problem = f"'{path.name}' cannot be read: {error.strerror or error}."
            return None
        made.changed.connect(self._changed)
        made.modified_changed.connect(self._changed)
        made.edit_failed.connect(self._document.edit_failed)
        self._opened[made.path] = made
        return made

    @property
    def text(self) -> str | None:
        """Text of the net's solver as it is edited, or read anew; None without one."""
        path, opened = self._document.solver_path, self.opened
        if opened is not None and opened.modified:
            return opened.text
        if path is None or not path.is_file():
            return None
        return path.read_text(encoding="utf-8", errors="surrogateescape")

    @property
    def modified(self) -> bool:
        """Whether a solver of the net has changes that are not saved."""
        return any(each.modified for each in self._opened.values())

    def unsaved(self) -> list[SolverDocument]:
        """Return the solvers with changes that are not saved."""
        return [each for each in self._opened.values() if each.modified]

    def close(self) -> None:
        """Close all that is open."""
        for each in self._opened.values():
            each.close()
        self._opened.clear()

    @guard
    def _changed(self, _value: object = None) -> None:
        self.changed.emit()
        self._document.modified_changed.emit(self._document.modified)
