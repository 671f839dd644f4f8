"""The solver that belongs to a net in the editor: opened when somebody looks at it, kept while it has changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import guard
from app.solver.shelf import SolverShelf
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
        self._shelf = SolverShelf(self)
        self.problem = ""

    @property
    def opened(self) -> SolverDocument | None:
        """The solver of the net, if it is open."""
        path = self._document.solver_path
        if path is None:
            return None
        held = self._opened.get(path.absolute())
        shared = self._shelf.find(path) if held is None else None
        return held if shared is None else self._take(path, partial(_same, shared))  # another net has it open

    def join(self, shelf: SolverShelf) -> None:
        """Have solvers in common with other nets from now on; what is open here goes along.

        Where another net has the same solver open, what was edited here becomes a step in its history.
        """
        opened, before = dict(self._opened), self._shelf
        self._shelf = shelf
        shelf.arrived.connect(self._arrived)
        for path, solver in opened.items():
            self._let_go(path)
            shared, text, edited = shelf.find(path), bytes(solver.graph), solver.modified
            before.release(solver, self, keeps=shared is None)
            held = self._take(path, partial(_same, solver))
            if shared is not None and edited and bytes(held.graph) != text:
                if solver.disk.digest != held.disk.digest:
                    held.disk.expect(solver.disk.digest)  # saving asks then
                held.apply(f"Edits of '{self._document.title}'", partial(_replace, text))

    def open(self) -> SolverDocument | None:
        """Return the solver of the net, opened if it is not yet; None without one, see ``problem``."""
        path, found = self._document.solver_path, self.opened
        self.problem = ""
        if path is None or found is not None:
            return found
        try:
            return self._take(path, partial(_read, path))
        except NetcanvasError as error:
            self.problem = str(error)
            return None
        except OSError as error:
            self.problem = f"'{path.name}' cannot be read: {error.strerror or error}."
            return None

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

        def make() -> SolverDocument:
            from app.solver.document import SolverDocument

            try:
                made = SolverDocument.open(path)
            except (NetcanvasError, OSError):
                made = SolverDocument(OpGraph.parse(b""), path.absolute())
            made.disk.expect(on_disk)
            return made

        held = self._opened.get(path.absolute()) or self._take(path, make)
        if bytes(held.graph) != text:
            held.apply("Restore unsaved changes", partial(_replace, text))

    def _take(self, path: Path, make: Callable[[], SolverDocument]) -> SolverDocument:
        """Use a solver from now on, which another net may have open already."""
        path = path.absolute()
        made = self._shelf.take(path, self, make)
        if self._opened.get(path) is not made:
            self._opened[path] = made
            made.changed.connect(self._changed)
            made.modified_changed.connect(self._changed)
            made.edit_failed.connect(self._document.edit_failed)
        return made

    def _let_go(self, path: Path) -> SolverDocument:
        """Listen to a solver no more."""
        solver = self._opened.pop(path)
        solver.changed.disconnect(self._changed)
        solver.modified_changed.disconnect(self._changed)
        solver.edit_failed.disconnect(self._document.edit_failed)
        return solver

    @guard
    def _arrived(self, solver: SolverDocument) -> None:
        path = self._document.solver_path
        if path is not None and path.absolute() not in self._opened and self._shelf.find(path) is solver:
            self._take(path, partial(_same, solver))
            self._changed()

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
        for path in list(self._opened):
            self._shelf.release(self._let_go(path), self)

    @guard
    def _changed(self, _value: object = None) -> None:
        self.changed.emit()
        self._document.modified_changed.emit(self._document.modified)


def _read(path: Path) -> SolverDocument:
    from app.solver.document import SolverDocument

    return SolverDocument.open(path)


def _same(solver: SolverDocument) -> SolverDocument:
    return solver


def _replace(text: bytes, graph: OpGraph) -> None:
    graph.replace_text(text)
