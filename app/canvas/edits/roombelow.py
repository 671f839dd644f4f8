"""Making room below: what is lower moves down when a layer is hung under a card, and wires go on from the layer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from app.canvas.layout.avoiding import CLEAR
from app.canvas.scene.docking import followers, root_of
from app.document.placement import Point, Route, edge_key

if TYPE_CHECKING:
    from PySide6.QtCore import QRectF

    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document.placement import EdgeKey
    from engine.graph import NodeId

__all__ = ["room_below"]

_GRID = 10.0


def room_below(scene: CanvasScene, item: NodeItem) -> tuple[dict[NodeId, Point], dict[EdgeKey, Route | None]]:
    """Return places and courses that keep off a layer which was hung under a card.

    The wires that went on from the card go on from the layer on the same way. If the layer stands on another card or
    wire, all that is lower moves down.

    Parameters
    ----------
    item : NodeItem
        The layer, at its place.
    """
    courses = _taken_over(scene, item)
    body = item.scene_body()
    near = body.adjusted(-CLEAR / 2, 0.0, CLEAR / 2, CLEAR)
    root = root_of(item)
    lower = [each for each in scene.items_shown() if not each.docked and each is not root and each.y() > body.top()]
    levels = [each.y() for each in lower if each.scene_body().intersects(near)]
    levels += _levels(scene, item, near, scene.document.positions.routes | courses)
    if not levels:
        return {}, dict(courses)
    step = math.ceil((near.bottom() - min(levels)) / _GRID) * _GRID
    moved = [each for card in lower for each in (card, *followers(card))]
    places = {each.node_id: Point(each.x(), each.y() + step) for each in moved}
    ids = {node_id for each in moved for node_id in each.ids}
    return places, {**courses, **_led_lower(scene, body.top(), step, ids, courses)}


def _taken_over(scene: CanvasScene, item: NodeItem) -> dict[EdgeKey, Route]:
    """Return the courses of wires from the layer, as they were from what it hangs under."""
    routes = scene.document.positions.routes
    writer = next(edge for edge in item.edges if edge.head is item)
    was, level = writer.tail.output_point(writer.out_port).y(), item.output_point(0).y()
    found: dict[EdgeKey, Route] = {}
    for wire in item.edges:
        old = routes.get((writer.edge.source, writer.edge.top, wire.edge.target, wire.edge.bottom))
        if wire.tail is item and old is not None:
            points = tuple(Point(x, level if abs(y - was) < 0.5 else y) for x, y in old.points)
            found[edge_key(wire.edge)] = Route(points, Point(item.x(), item.y()), old.target)
    return found


def _levels(scene: CanvasScene, item: NodeItem, area: QRectF, routes: Mapping[EdgeKey, Route]) -> Iterator[float]:
    """Yield where wires run through an area: the level pieces of those that are led, and the courses of others."""
    for wire in scene.folding.edges():
        route = routes.get(edge_key(wire.edge))
        if route is not None:
            for a, b in pairwise(route.points):
                passes = min(a.x, b.x) < area.right() and max(a.x, b.x) > area.left()
                if a.y == b.y and passes and area.top() < a.y < area.bottom():
                    yield a.y
        elif wire not in item.edges and not wire.docked and area.intersects(wire.box):
            yield from (point.y() for point in wire.course() if area.contains(point))


def _led_lower(
    scene: CanvasScene, limit: float, step: float, moved: set[NodeId], courses: Mapping[EdgeKey, Route]
) -> dict[EdgeKey, Route | None]:
    """Return the courses of wires that pass below a limit, moved down there; what is level with a port goes with it."""
    found: dict[EdgeKey, Route | None] = {}
    for wire in scene.folding.edges():
        key = edge_key(wire.edge)
        route = courses.get(key, scene.document.positions.routes.get(key))
        goes, comes = wire.edge.source in moved, wire.edge.target in moved
        if route is None or (goes and comes):
            continue  # it goes along as it is
        out, into = wire.tail.output_point(wire.out_port).y(), wire.head.input_point(wire.in_port).y()
        points = tuple(
            Point(x, y + step if (goes if y == out else comes if y == into else y > limit) else y)
            for x, y in route.points
        )
        source, target = route.source, route.target
        source = Point(source.x, source.y + step) if goes else source
        target = Point(target.x, target.y + step) if comes else target
        if (points, source, target) != tuple(route):
            found[key] = Route(points, source, target)
    return found
