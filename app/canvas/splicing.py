"""Putting a node on a wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas import edits
from app.canvas.docking import dock_point, followers, root_of
from app.canvas.face import NODE_WIDTH
from app.canvas.insert import Origin, insert, works_in_place
from app.canvas.steps import take_step
from app.placement import Point

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from app.canvas.edgeitem import EdgeItem
    from app.canvas.nodeitem import NodeItem
    from app.canvas.scene import CanvasScene
    from engine.graph import Edge, NodeId, OpGraph
    from engine.registry import LayerInfo

__all__ = ["can_be_spliced", "insert_on_wire", "refuses", "refuses_type", "splice", "wire_under"]

_GAP = 56.0
_MARGIN = 30.0


def can_be_spliced(item: NodeItem) -> bool:
    """Whether a node has an input to spare and feeds nothing, so that dropping it on a wire can mean to insert it."""
    if not item.face.inputs or not item.face.outputs or 0 in item.wired_inputs:
        return False
    return not any(edge.source is item and not edge.docked for edge in item.edges)


def wire_under(scene: CanvasScene, item: NodeItem, moving: Collection[NodeItem]) -> EdgeItem | None:
    """The wire on which a node lies, nearest to its middle; no wire of what moves with it."""
    center = item.scene_body().center()
    reach = min(item.face.height / 2, 34.0)
    best: tuple[float, int, EdgeItem] | None = None
    for wire in scene.wires_in(item.scene_body()):
        if wire.source in moving or wire.target in moving or wire.docked:
            continue
        found = (wire.distance(center), id(wire), wire)
        if found[0] <= reach and (best is None or found < best):
            best = found
    return best[2] if best is not None else None


def refuses(scene: CanvasScene, item: NodeItem, edge: Edge) -> str:
    """Why a node does not go on a wire, in one sentence; empty when it does."""
    document = scene.document
    return edits.refusal(document, edge.source, edge.top, item.node_id, 0) or edits.refusal(
        document, item.node_id, 0, edge.target, edge.bottom
    )


def refuses_type(info: LayerInfo | None, kind: str) -> str:
    """Why a layer of a type cannot be put on a wire, in one sentence; empty when it can."""
    if info is not None and info.max_bottoms == 0:
        return f"A {kind} layer has no input: it cannot be put on a wire."
    if info is not None and info.max_tops == 0:
        return f"A {kind} layer has no output: it cannot be put on a wire."
    return ""


def splice(scene: CanvasScene, item: NodeItem, edge: Edge, places: Mapping[NodeId, Point], before: object) -> None:
    """Insert a node that is there into a wire, in one undoable step; what is to its right makes room.

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
    graph = document.graph
    name, other = graph.node(item.node_id).name, graph.node(edge.target).name

    def edit(graph: OpGraph) -> None:
        graph.connect(edge.source, edge.top, item.node_id, 0)
        graph.connect(item.node_id, 0, edge.target, edge.bottom)

    take_step(
        document,
        f"Insert {name} before {other}",
        edit=edit,
        places=lambda: {**places, **_room(scene, item, edge, places)},
        before=before,  # type: ignore[arg-type]
    )


def insert_on_wire(scene: CanvasScene, kind: str, edge: Edge, at: QPointF) -> NodeId:
    """Add a layer of a type on a wire, in one undoable step, select it, and return it.

    Raises
    ------
    GraphError
        When a rule refuses; then nothing is changed.
    """
    document = scene.document
    origin = Origin(edge.source, "output", edge.top)
    if works_in_place(kind):
        return insert(scene, kind, None, origin)
    target = scene.nodes[edge.target]
    made: list[NodeId] = []

    def edit(graph: OpGraph) -> None:
        new = graph.add_node_on(kind, edge) if hasattr(graph, "add_node_on") else None
        assert new is None
        made.append(insert_plain(scene, graph, kind, origin, at))
        graph.connect(made[0], 0, edge.target, edge.bottom)

    def places() -> Mapping[NodeId, Point]:
        item = scene.nodes[made[0]]
        here = {made[0]: document.positions[made[0]]}
        return {**here, **_room(scene, item, edge, here)}

    take_step(document, f"Insert {kind} before {document.graph.node(target.node_id).name}", edit=edit, places=places)
    document.selection.set(made)
    return made[0]


def insert_plain(scene: CanvasScene, graph: OpGraph, kind: str, origin: Origin, at: QPointF) -> NodeId:
    raise NotImplementedError
