"""The solver that belongs to a net in the editor: opened when somebody looks at it, kept while it has changes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import guard
from engine.errors import NetcanvasError
from engine.graph import OpGraph

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
        return self._keep(made)

    def restore(self, path: Path, text: bytes, on_disk: str | None) -> None:
        """Give a solver of the net what was kept of it, as a step that can be undone.

        Parameters
        ----------
        path : Path
            Its file; it need not be there any more.
        text : bytes
            What it shall say.
        on_disk : str or None
            Digest of what the file held before it was edited: saving asks before it overwrites something else.
        """
        from app.solver.document import SolverDocument

        held = self._opened.get(path.absolute())
        if held is None:
            try:
                held = SolverDocument.open(path, self)
            except (NetcanvasError, OSError):
                held = SolverDocument(OpGraph.parse(b""), path.absolute(), self)
            held.disk.expect(on_disk)
            self._keep(held)
        held.apply("Restore unsaved changes", lambda graph: graph.replace_text(text))

    def _keep(self, made: SolverDocument) -> SolverDocument:
        made.changed.connect(self._changed)
        made.modified_changed.connect(self._changed)
        made.edit_failed.connect(self._document.edit_failed)
        self._opened[made.path] = made
        return made

    @property
    def text(self) -> str | None:
        """Text of the net's solver as it is edited, or read anew; None without one."""
        path, opened = self._document.solver_path, self.opened
        if opened is not None and (opened.modified or not opened.path.is_file()):
            return opened.text
        if path is None or not path.is_file():
            return None
        return path.read_text(encoding="utf-8", errors="surrogateescape")

    @property
    def modified(self) -> bool:
        """Whether a solver of the net has changes that are not saved."""
        return bool(self.unsaved())

    def unsaved(self) -> list[SolverDocument]:
        """Return the solvers with changes that are not saved; that of the net has some where its file is gone."""
        current = self.opened
        return [each for each in self._opened.values() if each.modified or (each is current and each.disk.gone)]

    def close(self) -> None:
        """Close all that is open."""
        for each in self._opened.values():
            each.close()
        self._opened.clear()

    @guard
    def _changed(self, _value: object = None) -> None:
        self.changed.emit()
        self._document.modified_changed.emit(self._document.modified)
