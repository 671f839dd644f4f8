"""Undo commands: they hold ids and values, never snapshots.

They are pushed after the deed is done and checked, so that their first ``redo`` does nothing. PySide6 keeps a command
whose ``redo`` or ``undo`` raised on the stack; ours marks itself obsolete instead, and the stack drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand, QUndoStack

from app.qt import fault_logger

if TYPE_CHECKING:
    from engine.graph import Change

__all__ = ["Command", "GraphCommand", "History", "SwapCommand"]

K = TypeVar("K")
V = TypeVar("V")


class Command(QUndoCommand):
    """A command that was carried out before it was pushed."""

    def __init__(self, text: str, failed: Callable[[Exception], object]) -> None:
        super().__init__(text)
        self._failed = failed
        self._pushed = False
        self.history: History | None = None

    def redo(self) -> None:
        if not self._pushed:
            self._pushed = True
            return
        self._attempt(self._forward)

    def undo(self) -> None:
        self._attempt(self._back)

    def _forward(self) -> None:
        raise NotImplementedError

    def _back(self) -> None:
        raise NotImplementedError

    def _attempt(self, action: Callable[[], None]) -> None:
        history = self.history
        if history is not None:
            history.is_stepping = True
        try:
            action()
        except Exception as error:
            fault_logger.exception("Command '%s' failed and was taken off the history", self.text())
            self.setObsolete(True)
            self._failed(error)
        finally:
            if history is not None:
                history.is_stepping = False


class History(QUndoStack):
    """The commands of a document.

    While one of them is taken back or made again, none is pushed: Qt would free those that were taken back, and with
    them the one that is at work. What asks for that has edited where it was only told of an edit.

    Attributes
    ----------
    is_stepping : bool
        Whether a command is at work.
    postpone : callable
        Is given each step back or forth; returns True where it does that later itself, after what was asked for before.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_stepping = False
        self.postpone: Callable[[Callable[[], object]], bool] = _never

    def push(self, command: QUndoCommand) -> None:
        """Make a command the last one."""
        if self.is_stepping:
            fault_logger.error("'%s' was done while another step was shown, and cannot be taken back", command.text())
            return
        if isinstance(command, Command):
            command.history = self
        super().push(command)

    def undo(self) -> None:
        """Take back the last step."""
        if not self.postpone(super().undo):
            super().undo()

    def redo(self) -> None:
        """Make the step again that was taken back last."""
        if not self.postpone(super().redo):
            super().redo()

    def beginMacro(self, text: str) -> None:
        if not self.is_stepping:
            super().beginMacro(text)

    def endMacro(self) -> None:
        if not self.is_stepping:
            super().endMacro()


def _never(_step: Callable[[], object]) -> bool:
    return False


class GraphCommand(Command):
    """One change of the graph.

    Parameters
    ----------
    text : str
        What the history shows.
    change : engine.graph.Change
        The finished change; the graph rolls itself back when its undo or redo raises.
    failed : callable
        Gets the error when undo or redo raises.
    """

    def __init__(self, text: str, change: Change, failed: Callable[[Exception], object]) -> None:
        super().__init__(text, failed)
        self._change = change

    def _forward(self) -> None:
        self._change.redo()

    def _back(self) -> None:
        self._change.undo()


class SwapCommand(Command):
    """Other values for some things that have names: places of nodes, bends of wires, words of notes.

    Parameters
    ----------
    put : callable
        Gives things the values of a mapping.
    before, after : mapping
        Values of the same things.
    """

    def __init__(
        self,
        text: str,
        put: Callable[[Mapping[K, V]], object],
        before: Mapping[K, V],
        after: Mapping[K, V],
        failed: Callable[[Exception], object],
    ) -> None:
        super().__init__(text, failed)
        self._forth = partial(put, dict(after))
        self._back_again = partial(put, dict(before))

    def _forward(self) -> None:
        self._forth()

    def _back(self) -> None:
        self._back_again()
