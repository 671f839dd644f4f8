"""What can be edited: a graph that changes by undoable commands only, and trials that a drag makes before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.document.commands import GraphCommand, History
from engine.errors import GraphError
from engine.graph import Change, OpGraph

__all__ = ["Editable", "Trial"]

T = TypeVar("T")


class Trial:
    """An edit that is tried out, shown everywhere, and replaced until it is kept or dropped.

    Parameters
    ----------
    graph : OpGraph
        What is edited; nothing else may edit it meanwhile.
    push : callable
        Takes the name and the change of an edit that is kept.
    """

    def __init__(self, graph: OpGraph, push: Callable[[str, Change], object]) -> None:
        self._graph = graph
        self._push = push
        self._held: tuple[str, Change] | None = None
        self.is_over = False

    def attempt(self, text: str, edit: Callable[[OpGraph], object]) -> None:
        """Take back the last attempt and make another; after an error nothing is changed."""
        self._take_back()
        with self._graph.change(text) as change:
            edit(self._graph)
        if not change.is_empty:
            self._held = text, change

    def keep(self) -> None:
        """Make the last attempt a step of the history."""
        held, self._held = self._held, None
        self.is_over = True
        if held is not None:
            self._push(*held)

    def drop(self) -> None:
        """Leave everything as it was."""
        self.is_over = True
        self._take_back()

    def _take_back(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held[1].undo()


class Editable(QObject):
    """A file that is edited as a graph, with its own history.

    Attributes
    ----------
    graph : OpGraph
        What is edited; change it with :meth:`apply` only.
    undo_stack : History
        Its history.
    edit_failed : Signal(str)
        An undo or redo that could not be done.
    """

    edit_failed = Signal(str)

    def __init__(self, graph: OpGraph, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.graph = graph
        self.undo_stack = History(self)
        self._trial: Trial | None = None

    def apply(self, text: str, edit: Callable[[OpGraph], T]) -> T:
        """Do one undoable edit. This is the only way to change the graph.

        Parameters
        ----------
        text : str
            Name of the step in the history, such as ``"Connect data to conv1"``.
        edit : callable
            Calls the graph's verbs.

        Raises
        ------
        GraphError
            When a rule refuses the edit, or another step is being taken back or made again; then nothing is changed.
        """
        self._check_still(text)
        self.settle()
        with self.graph.change(text) as change:
            result = edit(self.graph)
        if not change.is_empty:
            self._push(text, change)
        return result

    def _check_still(self, text: str) -> None:
        """Refuse to edit while a step is taken back or made again: the edit could not be a step of the history."""
        if self.undo_stack.is_stepping:
            raise GraphError(
                f"'{text}' was asked for while another step of the history was being shown.", next_step="Do it again."
            )

    def try_out(self) -> Trial:
        """Begin a gesture that shows its edit before it is made; it is one step, or none."""
        self.settle()
        self._trial = Trial(self.graph, self._push)
        return self._trial

    @property
    def is_trying(self) -> bool:
        """Whether a gesture shows an edit that is not made yet."""
        return self._trial is not None and not self._trial.is_over

    def settle(self) -> None:
        """Keep what a gesture that is still going on has done so far."""
        trial, self._trial = self._trial, None
        if trial is not None and not trial.is_over:
            trial.keep()

    def _push(self, text: str, change: Change) -> None:
        self.undo_stack.push(GraphCommand(text, change, self._command_failed))

    def _command_failed(self, error: Exception) -> None:
        self.edit_failed.emit(str(error))
