"""Applying the automatic layout to a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas import edits
from app.canvas.docking import dock_point, followers, host_of
from app.canvas.face import NODE_WIDTH
from app.canvas.layout import LayoutEdge, LayoutNode, LayoutResult, lay_out
from app.placement import Point, Route, edge_key

if TYPE_CHECKING:
    from app.canvas.scene import CanvasScene
    from app.canvas.view import CanvasView
    from engine.graph import NodeId

__all__ = ["arrange", "arrange_if_needed", "layout_inputs", "place_new"]

_IN_THREAD_FROM = 150
_ASPECT = 1.9


def arrange_if_needed(view: CanvasView, done: Callable[[], object]) -> None:
    """Lay out a net that has no places yet, then call ``done``; nodes that came without one find a free place."""
    scene = view.canvas
    placed = sum(1 for node_id in scene.nodes if node_id in view.document.positions)
    if placed == 0 and scene.nodes:
        arrange(view, undoable=False, done=done)
        return
    place_new(scene)
    done()


def arrange(view: CanvasView, *, undoable: bool = True, done: Callable[[], object] | None = None) -> None:
    """Lay out the whole net; big nets in the document's thread."""
    scene = view.canvas
    nodes, edges = layout_inputs(scene)
    size = view.viewport().size()
    aspect = max(1.0, min(2.6, size.width() / max(1, size.height()))) if view.isVisible() else _ASPECT

    def finish(result: LayoutResult[NodeId]) -> None:
        points = {key: Point(*place) for key, place in result.places.items() if key in scene.nodes}
        view.document.positions.routes = {
            edge_key(edge): Route(tuple(Point(*point) for point in via), points[edge.source], points[edge.target])
            for edge, via in result.routes.items()
            if edge in scene.edges
        }
        if undoable:
            view.document.move_nodes(points, "Lay out")
            scene.show_routes()
        else:
            scene.show_routes(moving=True)
            view.document.positions.move(points, by_user=False)
        scene.fit_scene_rect()
        if done is not None:
            done()

    if len(nodes) < _IN_THREAD_FROM:
        finish(lay_out(nodes, edges, aspect))
    else:
        view.document.jobs.submit("layout", lambda: lay_out(nodes, edges, aspect), finish)


def place_new(scene: CanvasScene) -> None:
    """Give a place to nodes that have none, such as those typed in the text pane: beside what they read."""
    positions = scene.document.positions
    missing = [item for node_id, item in scene.nodes.items() if node_id not in positions]
    if not missing:
        return
    points: dict[NodeId, Point] = {}
    for item in missing:
        host = host_of(item)
        if host is not None:
            place = dock_point([host, *followers(host)][-1])
        else:
            sources = [edge.source for edge in item.edges if edge.target is item]
            known = [source for source in sources if source.node_id in positions or source.node_id in points]
            if known:
                wanted = edits.place_after(max(known, key=lambda source: source.pos().x()))
            else:
                content = scene.content_rect(key for key in scene.nodes if key in positions)
                wanted = QPointF(content.left(), content.bottom() + 60.0) if not content.isNull() else QPointF()
            place = edits.free_place(scene, wanted, item.face.height)
        points[item.node_id] = Point(place.x(), place.y())
        item.setPos(place)
    positions.move(points, by_user=False)


def layout_inputs(scene: CanvasScene) -> tuple[list[LayoutNode[NodeId]], list[LayoutEdge[NodeId]]]:
    """Return what :func:`lay_out` needs to know of a scene."""
    graph = scene.document.graph
    nodes: list[LayoutNode[NodeId]] = []
    for node in graph.nodes():
        item = scene.nodes[node.id]
        host = host_of(item)
        variant = "\n".join(node.tops) or node.name if len(node.phases) == 1 and host is None else ""
        nodes.append(LayoutNode(node.id, NODE_WIDTH, item.face.height, host.node_id if host else None, variant))
    edges = [
        LayoutEdge(
            edge.source,
            edge.target,
            edge,
            item.source.face.output_y(edge.top),
            item.target.face.input_y(edge.bottom),
        )
        for edge, item in scene.edges.items()
    ]
    return nodes, edges
