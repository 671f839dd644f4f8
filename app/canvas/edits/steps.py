"""One step of the history out of edits of the text, places of nodes and bends of wires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from app.document.commands import GraphCommand, SwapCommand
from app.document.placement import edge_key

if TYPE_CHECKING:
    from PySide6.QtGui import QUndoCommand

    from app.canvas.scene.edgeitem import EdgeItem
    from app.document import Document
    from app.document.placement import EdgeKey, Point, Route
    from engine.graph import NodeId, OpGraph

__all__ = ["Routes", "bend_wire", "take_step"]

Bends = Mapping["EdgeKey", "tuple[Point, ...]"]
Routes = Mapping["EdgeKey", "Route | None"]


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
        commands.append(SwapCommand(text, positions.move, old, points, failed))
    led = {key: positions.routes.get(key) for key in routes}
    if led != dict(routes):
        positions.lead(routes)
        commands.append(SwapCommand(text, positions.lead, led, routes, failed))
    was = {key: positions.bends.get(key, ()) for key in bends or {}}
    if bends is not None and was != dict(bends):
        positions.bend(bends)
        commands.append(SwapCommand(text, positions.bend, was, bends, failed))
    if len(commands) > 1:
        stack.beginMacro(text)
    for command in commands:
        stack.push(command)
    if len(commands) > 1:
        stack.endMacro()


def bend_wire(document: Document, item: EdgeItem, points: tuple[Point, ...], text: str) -> None:
    """Lead a wire through points, in one undoable step."""
    take_step(document, text, bends={edge_key(item.edge): points})
