"""Adding a layer: where it stands, what it starts with, and how it is wired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from app.canvas.edits import edits
from app.canvas.edits.room import room_on_wire
from app.canvas.edits.roombelow import room_below
from app.canvas.edits.steps import Routes, take_step
from app.canvas.layout.rows import GAP_X
from app.canvas.scene.docking import dock_point, followers, root_of
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point, Route, edge_key
from app.palette.entries import python_entry
from app.palette.starters import works_in_place
from app.palette.typed import fields_with
from engine.errors import CheckError

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document import Document
    from engine.graph import Edge, NodeId, OpGraph
    from engine.registry import LayerInfo

__all__ = ["Origin", "insert", "insert_on_wire", "refuses_type", "writer_to_follow"]

_NEW_HEIGHT = 150.0
#: Category of the layers that say how good a net is.
_MEASURES = "Loss"
#: How far above the nodes a wire is led, how far wires are apart there, and the room in which it swings up.
_OVER, _LANE, _SWING = 20.0, 10.0, 90.0


@dataclass(frozen=True, slots=True)
class Origin:
    """The port from which a new layer is wired.

    Attributes
    ----------
    side : str
        ``output``: the new layer reads it; ``input``: the new layer feeds it.
    """

    node: NodeId
    side: str
    index: int


def refuses_type(info: LayerInfo | None, kind: str) -> str:
    """Why a layer of a type cannot be put on a wire, in one sentence; empty when it can."""
    if info is not None and info.max_bottoms == 0:
        return f"A {kind} layer has no input: it cannot be put on a wire."
    if info is not None and info.max_tops == 0:
        return f"A {kind} layer has no output: it cannot be put on a wire."
    return ""


@dataclass(frozen=True, slots=True)
class _Starter:
    """What a new layer is made of; ``name`` is what the history calls it."""

    type: str
    name: str
    info: LayerInfo | None
    fields: str | None


def _starter(document: Document, kind: str) -> _Starter:
    python = python_entry(document, kind)
    if python is not None:
        return _Starter("Python", python[0].type, *python)
    kind, *numbers = kind.split(" ")
    return _Starter(kind, kind, document.registry.info(kind), fields_with(kind, numbers))


def insert(
    scene: CanvasScene, kind: str, at: QPointF | None = None, origin: Origin | None = None, *, wire: bool = True
) -> NodeId:
    """Add a layer in one undoable step, select it, and return it.

    Parameters
    ----------
    kind : str
        Type of the layer, with numbers behind it (see :mod:`app.palette.typed`), or which Python layer, as the palette
        says it.
    at : QPointF, optional
        Place in the scene of its middle; beside what it is wired to by default.
    origin : Origin, optional
        The port it is wired to; an output of the node selected last by default.
    wire : bool
        Whether to wire it to the selection where no ``origin`` is given.

    Raises
    ------
    GraphError
        When a rule refuses; then nothing is changed.
    """
    document = scene.document
    starter = _starter(document, kind)
    if origin is None and wire:
        origin = _from_selection(scene, starter.info)
    made: list[NodeId] = []

    def edit(graph: OpGraph) -> None:
        made.append(_add(scene, graph, starter, at, origin))

    def places() -> tuple[dict[NodeId, Point], Routes]:
        item = scene.nodes[made[0]]
        return room_below(scene, item) if item.docked else ({}, {})

    take_step(document, f"Add {starter.name}", edit=edit, places=places)
    _lead_around(scene, made[0])
    document.selection.set(made)
    return made[0]


def insert_on_wire(scene: CanvasScene, kind: str, edge: Edge, at: QPointF) -> NodeId:
    """Add a layer on a wire in one undoable step, select it, and return it; what is to its right makes room.

    A type that works in place hangs under what it reads, and all that reads the blob below it follows.

    Parameters
    ----------
    at : QPointF
        Place in the scene of its middle.

    Raises
    ------
    GraphError
        When a rule refuses; then nothing is changed.
    """
    document = scene.document
    starter = _starter(document, kind)
    origin = Origin(edge.source, "output", edge.top)
    refused = refuses_type(starter.info, starter.name)
    if refused:
        raise CheckError(refused, next_step="Connect it to a port.")
    if works_in_place(starter.type):
        return insert(scene, kind, None, origin)
    made: list[NodeId] = []

    def edit(graph: OpGraph) -> None:
        made.append(_add(scene, graph, starter, at, origin, after=writer_to_follow(graph, edge)))
        graph.connect(made[0], 0, edge.target, edge.bottom)

    def places() -> tuple[dict[NodeId, Point], Routes]:
        item = scene.nodes[made[0]]
        corner = at - QPointF(NODE_WIDTH / 2, item.face.height / 2)
        return room_on_wire(scene, item, edge, Point(corner.x(), corner.y()))

    name = document.graph.node(edge.target).name
    take_step(document, f"Insert {starter.name} before {name}", edit=edit, places=places)
    document.selection.set(made)
    return made[0]


def writer_to_follow(graph: OpGraph, edge: Edge) -> NodeId | None:
    """Return behind which layer one must stand to read just what a wire carries; None where any place below will do.

    A layer that stands below others that overwrite the blob in place would read what these left of it.
    """
    overwritten = any(
        each.top == edge.top and each.bottom < len(places) and places[each.bottom]
        for each in graph.edges_out(edge.source)
        for places in (graph.node(each.target).in_place,)
    )
    if not overwritten:
        return None
    writers = (each.source for each in graph.edges_in(edge.target) if each.bottom == edge.bottom)
    return max(writers, key=lambda node_id: graph.node(node_id).ordinal)


def _add(
    scene: CanvasScene,
    graph: OpGraph,
    starter: _Starter,
    at: QPointF | None,
    origin: Origin | None,
    after: NodeId | None = None,
) -> NodeId:
    """Add a layer to the graph, wired to a port, and give it a place."""
    source = origin if origin is not None and origin.side == "output" else None
    host = scene.folding.card(source.node) if source is not None else None
    in_place = source is not None and starter.info is not None and works_in_place(starter.type)
    bottoms, tops = _ports(graph, starter.info, source, in_place=in_place)
    is_python = starter.type == "Python" and starter.name != "Python"
    new = graph.add_node(
        starter.type,
        name=graph.fresh_layer_name(starter.name.removesuffix("Layer") or "Layer") if is_python else None,
        bottoms=bottoms,
        tops=tops,
        fields=starter.fields,
        after=source.node if source is not None and in_place else after,
    )
    place = _place(scene, at, host, origin, in_place=in_place)
    scene.document.positions.place(new, place.x(), place.y())
    if source is not None and not in_place:
        graph.connect(source.node, source.index, new, 0)
    if origin is not None and origin.side == "input":
        graph.connect(new, 0, origin.node, origin.index)
    return new


def _lead_around(scene: CanvasScene, new: NodeId) -> None:
    """Lead the long wires into a new node over the nodes that they would cross."""
    routes = scene.document.positions.routes
    for lane, edge in enumerate(scene.document.graph.edges_in(new)):
        item = scene.edges[edge]
        start, end = item.line.p1(), item.line.p2()
        if edge_key(edge) in routes or end.x() - start.x() < 2 * NODE_WIDTH:
            continue
        way = QRectF(start, end).normalized().adjusted(0.0, -1.0, 0.0, 1.0)
        ends = (item.tail, item.head)
        crossed = [each.scene_body() for each in scene.items_shown() if each not in ends]
        crossed = [body for body in crossed if body.intersects(way)]
        if not crossed:
            continue
        over = min(item.tail.pos().y(), item.head.pos().y(), *(body.top() for body in crossed))
        y = over - _OVER - _LANE * lane
        points = tuple(Point(x, y) for x in (start.x() + _SWING, end.x() - _SWING))
        routes[edge_key(edge)] = Route(points, _point_of(item.tail), _point_of(item.head))
        item.set_route(routes[edge_key(edge)])


def _point_of(item: NodeItem) -> Point:
    return Point(item.x(), item.y())


def _from_selection(scene: CanvasScene, info: LayerInfo | None) -> Origin | None:
    last = scene.document.selection.last
    if last is None or (info is not None and info.max_bottoms == 0):
        return None
    graph = scene.document.graph
    node = graph.node(last)
    selected = scene.document.registry.info(node.type)
    if info is not None and selected is not None and info.category == selected.category == _MEASURES:
        # Nobody measures a loss: an Accuracy beside it is of the same scores.
        edges = [edge for edge in graph.edges_in(last) if edge.bottom == 0]
        if edges:
            edge = max(edges, key=lambda each: graph.node(each.source).ordinal)
            return Origin(edge.source, "output", edge.top)
    return Origin(last, "output", 0) if node.tops else None


def _ports(
    graph: OpGraph, info: LayerInfo | None, source: Origin | None, *, in_place: bool
) -> tuple[list[str], list[str] | int]:
    if source is not None and in_place:
        blob = graph.node(source.node).tops[source.index]
        return [blob], [blob]
    least = info.min_bottoms if info is not None else 1
    if info is not None and info.max_bottoms is None and not info.paired:
        least = max(least, 2)
    bottoms = ["?"] * least
    for index in range(1, least):
        # Labels and the like are found by the name of the port, so that a loss is wired when it is added.
        name = info.bottom_name(index) if info is not None else ""
        for blob in (name, name.removesuffix("s")):
            if graph.writers(blob):
                bottoms[index] = blob
                break
    if info is not None and info.max_bottoms == 0 and info.max_tops is not None and info.max_tops > 1:
        return bottoms, [graph.fresh_blob_name(info.top_name(index)) for index in range(info.max_tops)]
    return bottoms, max(1, info.min_tops) if info is not None else 1


def _place(
    scene: CanvasScene, at: QPointF | None, host: NodeItem | None, origin: Origin | None, *, in_place: bool
) -> QPointF:
    if in_place and host is not None:
        return dock_point([host, *followers(host)][-1])
    if at is not None:
        return edits.free_place(scene, at - QPointF(NODE_WIDTH / 2, 20.0), _NEW_HEIGHT)
    if host is not None:
        return edits.free_place(scene, edits.place_after(root_of(host)), _NEW_HEIGHT)
    if origin is not None:
        target = scene.folding.card(origin.node).pos()
        return edits.free_place(scene, target - QPointF(NODE_WIDTH + GAP_X, 0.0), _NEW_HEIGHT)
    content = scene.content_rect()
    if content.isNull():
        return QPointF(0.0, 0.0)
    return edits.free_place(scene, QPointF(content.left(), content.bottom() + 40.0), _NEW_HEIGHT)
