"""One step of the history out of edits of the text, places of nodes and bends of wires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from app.commands import Command, GraphCommand, MoveCommand
from app.placement import edge_key

if TYPE_CHECKING:
    from PySide6.QtGui import QUndoCommand

    from app.canvas.edgeitem import EdgeItem
    from app.document import Document
    from app.placement import EdgeKey, Placement, Point, Route
    from engine.graph import NodeId, OpGraph

__all__ = ["BendCommand", "LeadCommand", "bend_wire", "take_step"]

Bends = Mapping["EdgeKey", "tuple[Point, ...]"]
Routes = Mapping["EdgeKey", "Route | None"]


class BendCommand(Command):
    """Other bends of some wires.

    Parameters
    ----------
    before, after : mapping of EdgeKey to tuple of Point
        Bends of the same wires, in scene pixels; none for a straight one.
    """

    def __init__(
        self, text: str, placement: Placement, before: Bends, after: Bends, failed: Callable[[Exception], object]
    ) -> None:
        super().__init__(text, failed)
        self._placement = placement
        self._before = dict(before)
        self._after = dict(after)

    def _forward(self) -> None:
        self._placement.bend(self._after)

    def _back(self) -> None:
        self._placement.bend(self._before)


class LeadCommand(Command):
    """Other courses of some wires around nodes.

    Parameters
    ----------
    before, after : mapping of EdgeKey to Route or None
        Courses of the same wires.
    """

    def __init__(
        self, text: str, placement: Placement, before: Routes, after: Routes, failed: Callable[[Exception], object]
    ) -> None:
        super().__init__(text, failed)
        self._placement = placement
        self._before = dict(before)
        self._after = dict(after)

    def _forward(self) -> None:
        self._placement.lead(self._after)

    def _back(self) -> None:
        self._placement.lead(self._before)


def take_step(
    document: Document,
    text: str,
    *,
    edit: Callable[[OpGraph], object] | None = None,
    places: Mapping[NodeId, Point] | Callable[[], tuple[Mapping[NodeId, Point], Routes]] | None = None,
    before: Mapping[NodeId, Point] | None = None,
    bends: Bends | None = None,
) -> None:
    """Do several things that one undo takes back.

    Parameters
    ----------
    text : str
        Name of the step in the history.
    edit : callable, optional
        Calls the graph's verbs; it comes first, and where it raises nothing at all is changed.
    places : mapping of node id to Point, or callable, optional
        New places of nodes; a callable is asked once the edit is made, and returns courses of wires too.
    before : mapping of node id to Point, optional
        Where nodes were, when they are shown elsewhere already.
    bends : mapping of EdgeKey to tuple of Point, optional
        New bends of wires.

    Raises
    ------
    GraphError
        When a rule refuses the edit.
    """
    positions, stack = document.positions, document.undo_stack

    def failed(error: Exception) -> None:
        document.edit_failed.emit(str(error))

    commands: list[QUndoCommand] = []
    if edit is not None:
        with document.graph.change(text) as change:
            edit(document.graph)
        if not change.is_empty:
            commands.append(GraphCommand(text, change, failed))
    found, routes = places() if callable(places) else (places or {}, {})
    points = dict(found)
    old = {**positions.of(points), **{key: point for key, point in (before or {}).items() if key in points}}
    if any(old.get(key) != point for key, point in points.items()):
        positions.move(points)
        commands.append(MoveCommand(text, positions, old, points, failed))
    led = {key: positions.routes.get(key) for key in routes}
    if led != dict(routes):
        positions.lead(routes)
        commands.append(LeadCommand(text, positions, led, routes, failed))
    was = {key: positions.bends.get(key, ()) for key in bends or {}}
    if bends is not None and was != dict(bends):
        positions.bend(bends)
        commands.append(BendCommand(text, positions, was, bends, failed))
    if len(commands) > 1:
        stack.beginMacro(text)
    for command in commands:
        stack.push(command)
    if len(commands) > 1:
        stack.endMacro()


def bend_wire(document: Document, item: EdgeItem, points: tuple[Point, ...], text: str) -> None:
    """Lead a wire through points, in one undoable step."""
    take_step(document, text, bends={edge_key(item.edge): points})
