"""Applying the automatic layout to a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QPointF

from app.canvas.edits import edits
from app.canvas.edits.steps import take_step
from app.canvas.layout.layout import Flow, LayoutEdge, LayoutNode, Room, lay_out
from app.canvas.scene.docking import dock_point, followers, host_of
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point, Route, edge_key

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from app.canvas.view import CanvasView
    from app.document.placement import EdgeKey
    from engine.graph import Edge, NodeId

__all__ = [
    "Arrangement",
    "Flow",
    "arrange",
    "arranged_places",
    "find_places",
    "gather_inputs",
    "layout_inputs",
    "place_new",
    "room_of",
    "take_routes",
]

_NAMES = {
    Flow.WRAPPED: "Lay out",
    Flow.ACROSS: "Lay out in one row",
    Flow.DOWN: "Lay out from top to bottom",
}
_IN_THREAD_FROM = 150
#: What the layout must know of so many cards is gathered in slices, between which the window answers.
_IN_SLICES_FROM = 1000


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Places of cards, courses of wires that do not run straight, and all wires that were looked at."""

    places: dict[NodeId, Point]
    routes: dict[EdgeKey, Route]
    wires: frozenset[EdgeKey]


def arrange(
    view: CanvasView,
    *,
    undoable: bool = True,
    flow: Flow = Flow.WRAPPED,
    done: Callable[[], object] | None = None,
) -> None:
    """Lay out the whole net; big nets in the document's thread."""

    def finish(found: Arrangement) -> None:
        scene, positions = view.canvas, view.document.positions
        points = take_routes(scene, found)
        scene.show_routes(moving=True)
        if undoable:
            straight: dict[EdgeKey, tuple[Point, ...]] = dict.fromkeys(positions.bends, ())
            take_step(view.document, _NAMES[flow], places=points, bends=straight or None)
        else:
            positions.move(points, by_user=False)
        scene.lead_stale()
        scene.make_room()
        if done is not None:
            done()

    _lay_out(view, flow, finish)


def _lay_out(view: CanvasView, flow: Flow, finish: Callable[[Arrangement], object]) -> None:
    nodes: list[LayoutNode[NodeId]] = []
    edges: list[LayoutEdge[NodeId]] = []
    gathering, room = gather_inputs(view.canvas, nodes, edges), room_of(view)

    def submit() -> None:
        view.document.jobs.submit("layout", lambda: find_places(nodes, edges, room, flow), finish)

    count = len(view.canvas.items_shown())
    if count >= _IN_SLICES_FROM:
        view.gathering.start(gathering, submit)
        return
    for _step in gathering:
        pass
    if count < _IN_THREAD_FROM:
        finish(find_places(nodes, edges, room, flow))
    else:
        submit()


def find_places(
    nodes: Sequence[LayoutNode[NodeId]],
    edges: Sequence[LayoutEdge[NodeId]],
    room: Room,
    flow: Flow = Flow.WRAPPED,
) -> Arrangement:
    """Lay out; in any thread."""
    result = lay_out(nodes, edges, room, flow)
    places = {key: Point(*place) for key, place in result.places.items()}
    routes: dict[EdgeKey, Route] = {}
    for edge in edges:
        via = result.routes.get(edge.key)
        if via is not None:
            course = tuple(Point(*point) for point in via)
            routes[edge_key(cast("Edge", edge.key))] = Route(course, places[edge.source], places[edge.target])
    return Arrangement(places, routes, frozenset(edge_key(cast("Edge", edge.key)) for edge in edges))


def take_routes(scene: CanvasScene, found: Arrangement) -> dict[NodeId, Point]:
    """Give the document the courses of wires that a layout found; return the places of what is there still."""
    positions, item = scene.document.positions, scene.folding.item
    points = {key: place for key, place in found.places.items() if item(key) is not None}
    kept = {key: route for key, route in positions.routes.items() if key not in found.wires}
    positions.routes = kept | found.routes
    return points


def room_of(view: CanvasView) -> Room:
    """Return the room that a net has in the view, or would have in a window of the usual size."""
    return Room(*view.room()) if view.isVisible() else Room()


def arranged_places(view: CanvasView) -> tuple[dict[NodeId, Point], dict[EdgeKey, Route]]:
    """Return places for all that is shown, and the courses of its wires, without moving anything yet."""
    found = find_places(*layout_inputs(view.canvas), room_of(view))
    return found.places, found.routes


def place_new(scene: CanvasScene) -> None:
    """Give a place to nodes that have none, such as those typed in the text pane: beside what they read."""
    if not scene.is_built:
        scene.growth.when_done(lambda: place_new(scene))
        return
    positions = scene.document.positions
    missing = [item for item in scene.items_shown() if item.node_id not in positions]
    if not missing:
        return
    points: dict[NodeId, Point] = {}
    for item in missing:
        host = host_of(item)
        if host is not None:
            place = dock_point([host, *followers(host)][-1])
        else:
            sources = [edge.tail for edge in item.edges if edge.head is item]
            known = [source for source in sources if source.node_id in positions or source.node_id in points]
            if known:
                wanted = edits.place_after(max(known, key=lambda source: source.pos().x()))
            else:
                content = scene.content_rect(each.node_id for each in scene.items_shown() if each.node_id in positions)
                wanted = QPointF(content.left(), content.bottom() + 60.0) if not content.isNull() else QPointF()
            place = edits.free_place(scene, wanted, item.face.height)
        points[item.node_id] = Point(place.x(), place.y())
        item.setPos(place)
    positions.move(points, by_user=False)


def layout_inputs(scene: CanvasScene) -> tuple[list[LayoutNode[NodeId]], list[LayoutEdge[NodeId]]]:
    """Return what :func:`lay_out` needs to know of a scene."""
    nodes: list[LayoutNode[NodeId]] = []
    edges: list[LayoutEdge[NodeId]] = []
    for _step in gather_inputs(scene, nodes, edges):
        pass
    return nodes, edges


def gather_inputs(
    scene: CanvasScene, nodes: list[LayoutNode[NodeId]], edges: list[LayoutEdge[NodeId]]
) -> Iterator[None]:
    """Fill lists with what :func:`lay_out` needs to know of a scene as it is now, a card or a wire a step."""
    scene.folding.finish()
    graph = scene.document.graph
    places = {node_id: ordinal for ordinal, node_id in enumerate(graph.node_ids())}
    cards = sorted(scene.items_shown(), key=lambda item: places[item.ids[0]])
    wires = [(wire, wire.tail, wire.out_port, wire.head, wire.in_port) for wire in scene.folding.edges()]
    yield
    for item in cards:
        host = host_of(item)
        variant = ""
        if host is None and item.node_id in graph:
            node = graph.node(item.node_id)
            variant = "\n".join(node.tops) or node.name if len(node.phases) == 1 else ""
        hung = host.node_id if host is not None and host.isVisible() else None
        nodes.append(LayoutNode(item.node_id, NODE_WIDTH, item.face.height, hung, variant))
        yield
    for wire, tail, out, head, into in wires:
        levels = tail.face.output_y(out), head.face.input_y(into)
        edges.append(LayoutEdge(tail.node_id, head.node_id, wire.edge, *levels))
        yield
