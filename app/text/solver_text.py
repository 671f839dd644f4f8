"""A net's solver as the text pane sees it: like a net that has no layers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.document.bridge import Selection
from app.qt import guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QUndoStack

    from app.document import Document
    from app.solver.document import SolverDocument
    from engine.diagnostics import Diagnostic
    from engine.graph import Events, OpGraph
    from engine.schema import Schema

__all__ = ["SolverText"]


class SolverText(QObject):
    """The solver of a document, with what the pane asks of what it shows.

    Parameters
    ----------
    document : Document
        The net.
    solver : SolverDocument
        Its solver, open.

    Attributes
    ----------
    changed : Signal(engine.graph.Events)
        After each change of the text, its undo and its redo.
    diagnostics_changed : Signal()
        ``diagnostics`` are others.
    selection : Selection
        Nothing: a solver has no layers.
    """

    changed = Signal(object)
    diagnostics_changed = Signal()

    def __init__(self, document: Document, solver: SolverDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.solver = solver
        self.selection = Selection(self)
        solver.bridge.changed.connect(self._solver_changed)
        document.diagnostics_changed.connect(self.diagnostics_changed)

    @guard
    def _solver_changed(self, events: Events) -> None:
        self.changed.emit(events)

    @property
    def graph(self) -> OpGraph:
        """The text."""
        return self.solver.graph

    @property
    def schema(self) -> Schema:
        """What its fields mean."""
        return self.solver.schema

    @property
    def undo_stack(self) -> QUndoStack:
        """The history of the solver."""
        return self.solver.undo_stack

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What is told of the solver's file; its quick fixes are edits of this text."""
        told = [each for each in self._document.diagnostics if each.file is not None]
        path = self.solver.path
        return [dataclasses.replace(each, file=None) for each in told if each.file == path]

    def apply(self, text: str, edit: Callable[[OpGraph], object]) -> object:
        """Do one undoable edit; see :meth:`app.document.editing.Editable.apply`."""
        return self.solver.apply(text, edit)
