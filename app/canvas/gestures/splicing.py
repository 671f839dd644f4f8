"""Putting a node that is there on a wire."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from app.canvas.edits.insert import writer_to_follow
from app.canvas.edits.room import room_on_wire
from app.canvas.edits.steps import take_step
from app.canvas.scene.docking import dock_point, followers
from app.document.placement import Point
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.edits.steps import Routes
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import Edge, NodeId, OpGraph

__all__ = ["can_be_spliced", "refuses", "splice", "wire_under"]

_REACH = 34.0


class _TriedError(Exception):
    """Has a change taken back that was only tried."""


def can_be_spliced(item: NodeItem) -> bool:
    """Whether a node has an input to spare and feeds nothing, so that dropping it on a wire can mean to insert it."""
    if not item.face.inputs or not item.face.outputs or 0 in item.wired_inputs:
        return False
    return not any(edge.source is item and not edge.docked for edge in item.edges)


def wire_under(scene: CanvasScene, item: NodeItem, moving: Collection[NodeItem]) -> EdgeItem | None:
    """The wire on which a node lies, nearest to its middle; no wire of what moves with it."""
    center = item.scene_body().center()
    reach = min(max(item.face.height / 2, 20.0), _REACH)
    best: tuple[float, int, EdgeItem] | None = None
    for wire in scene.wires_in(item.scene_body()):
        if wire.source in moving or wire.target in moving or wire.docked:
            continue
        found = (wire.distance(center), id(wire), wire)
        if found[0] <= reach and (best is None or found < best):
            best = found
    return best[2] if best is not None else None


def refuses(scene: CanvasScene, item: NodeItem, edge: Edge) -> str:
    """Why a node does not go on a wire, in one sentence; empty when it does. It is tried, and taken back."""
    graph = scene.document.graph
    try:
        with suppress(_TriedError), graph.change():
            _put_on(graph, item.node_id, edge)
            raise _TriedError
    except GraphError as error:
        return error.message
    return ""


def _put_on(graph: OpGraph, node_id: NodeId, edge: Edge) -> None:
    """Have a node read what a wire carries, and the wire's target read the node."""
    others = any(each.bottom for each in graph.edges_in(node_id))
    after = writer_to_follow(graph, edge)
    if after is not None and not others:
        graph.move_node(node_id, after=after)
    graph.connect(edge.source, edge.top, node_id, 0)
    graph.connect(node_id, 0, edge.target, edge.bottom)


def splice(
    scene: CanvasScene, item: NodeItem, edge: Edge, places: Mapping[NodeId, Point], before: Mapping[NodeId, Point]
) -> None:
    """Insert a node that is there into a wire, in one undoable step; what is to its right makes room.

    An in-place layer comes to hang under what it reads.

    Parameters
    ----------
    places, before : mapping of node id to Point
        Where the node and what moves with it are shown, and where they were.

    Raises
    ------
    GraphError
        When a rule refuses; then nothing is changed.
    """
    document = scene.document
    name, other = document.graph.node(item.node_id).name, document.graph.node(edge.target).name

    def room() -> tuple[dict[NodeId, Point], Routes]:
        if item.face.chip:
            host = scene.nodes[edge.source]
            place = dock_point([host, *followers(host)][-1])
            return {**places, item.node_id: Point(place.x(), place.y())}, {}
        moved, routes = room_on_wire(scene, item, edge, places[item.node_id])
        return {**places, **moved}, routes

    text = f"Insert {name} before {other}"
    take_step(document, text, edit=lambda graph: _put_on(graph, item.node_id, edge), places=room, before=before)
