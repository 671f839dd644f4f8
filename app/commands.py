"""Undo commands: they hold ids and values, never snapshots.

They are pushed after the deed is done and checked, so that their first ``redo`` does nothing. PySide6 keeps a command
whose ``redo`` or ``undo`` raised on the stack; ours marks itself obsolete instead, and the stack drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

from app.placement import Point
from app.qt import fault_logger

if TYPE_CHECKING:
    from app.placement import Placement
    from engine.graph import Change, NodeId

__all__ = ["Command", "GraphCommand", "MoveCommand"]


class Command(QUndoCommand):
    """A command that was carried out before it was pushed."""

    def __init__(self, text: str, failed: Callable[[Exception], object]) -> None:
        super().__init__(text)
        self._failed = failed
        self._pushed = False

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
        try:
            action()
        except Exception as error:
            fault_logger.exception("Command '%s' failed and was taken off the history", self.text())
            self.setObsolete(True)
            self._failed(error)


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


class MoveCommand(Command):
    """New places for some nodes.

    Parameters
    ----------
    before, after : mapping of node id to Point
        Places of the same nodes, in scene pixels.
    """

    def __init__(
        self,
        text: str,
        placement: Placement,
        before: Mapping[NodeId, Point],
        after: Mapping[NodeId, Point],
        failed: Callable[[Exception], object],
    ) -> None:
        super().__init__(text, failed)
        self._placement = placement
        self._before = dict(before)
        self._after = dict(after)

    def _forward(self) -> None:
        self._placement.move(self._after)

    def _back(self) -> None:
        self._placement.move(self._before)
