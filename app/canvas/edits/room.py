"""Making room: what stands to the right moves on when a node is put into a row."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from app.canvas.layout.rows import GAP_X
from app.canvas.scene.docking import followers, root_of
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point, Route

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document.placement import EdgeKey
    from engine.graph import Edge, NodeId

__all__ = ["room_on_wire"]

_GAP = GAP_X
_GRID = 10.0
_LEVEL = 40.0
#: How far around a row wires are led that belong to it, in pixels.
_BESIDE, _ABOVE, _BELOW = 16.0, 60.0, 120.0


def room_on_wire(
    scene: CanvasScene, item: NodeItem, edge: Edge, at: Point
) -> tuple[dict[NodeId, Point], dict[EdgeKey, Route | None]]:
    """Return places for a node that goes on a wire and for what must make room for it, and courses of wires.

    The node comes to stand behind the wire's source, level with it where the wire runs level. Its target, and what
    follows that or the source in the same row, move on as far as needed, and with them the wires led around these.

    Parameters
    ----------
    item : NodeItem
        The node.
    edge : Edge
        The wire as it was.
    at : Point
        Where the node was let go, as the upper left corner.
    """
    source, target = root_of(scene.folding.card(edge.source)), root_of(scene.folding.card(edge.target))
    out, into = source.output_point(0).y(), target.input_point(0).y()
    forward = target.pos().x() > source.pos().x()
    x, y = at.x, at.y
    if forward:
        x = max(x, source.scene_body().right() + _GAP)
        level = out - item.face.input_y(0)
        if abs(out - into) < 0.5 and abs(y - level) < max(_LEVEL, item.face.height):
            y = level
    x = math.ceil(x / _GRID) * _GRID
    hung = followers(item)
    step_x, step_y = x - item.pos().x(), y - item.pos().y()
    places = {item.node_id: Point(x, y)}
    places.update((each.node_id, Point(each.x() + step_x, each.y() + step_y)) for each in hung)
    missing = x + NODE_WIDTH + _GAP - target.pos().x()
    if not forward or missing <= 0:
        return places, {}
    step = math.ceil(missing / _GRID) * _GRID
    row = [each for each in _row_from(scene, source, target) if each.node_id not in places and each is not source]
    places.update((each.node_id, Point(each.x() + step, each.y())) for each in row)
    return places, _led_on(scene, row, step)


def _led_on(scene: CanvasScene, row: list[NodeItem], step: float) -> dict[EdgeKey, Route | None]:
    """Return the courses of wires that pass a row which moves to the right, moved with it where they pass it."""
    boxes = [each.scene_body() for each in row]
    left = min(box.left() for box in boxes) - _BESIDE
    top, bottom = min(box.top() for box in boxes) - _ABOVE, max(box.bottom() for box in boxes) + _BELOW
    moved = {node_id for each in row for node_id in each.ids}
    found: dict[EdgeKey, Route | None] = {}
    for key, route in scene.document.positions.routes.items():
        goes, comes = key[0] in moved, key[2] in moved
        if goes and comes:
            continue  # it goes along as it is
        points: list[Point] = []
        for beside, run in groupby(route.points, lambda point: point.x >= left):
            passing = list(run)
            if beside and any(top <= point.y <= bottom for point in passing):
                passing = [Point(point.x + step, point.y) for point in passing]
            points += passing
        if tuple(points) != route.points or goes or comes:
            source, target = route.source, route.target
            source = Point(source.x + step, source.y) if goes else source
            found[key] = Route(tuple(points), source, Point(target.x + step, target.y) if comes else target)
    return found


def _row_from(scene: CanvasScene, source: NodeItem, start: NodeItem) -> list[NodeItem]:
    """Return a card with what follows it to the right, and what hangs under these; where a row ends, it ends.

    Other branches that begin at the same source go along, so that columns stay columns.
    """
    readers: dict[NodeItem, list[NodeItem]] = {}
    for edge in scene.folding.edges():
        readers.setdefault(root_of(edge.tail), []).append(root_of(edge.head))
    branches = [each for each in readers.get(source, ()) if each.x() >= start.x()]
    found = dict.fromkeys((start, *branches))
    waiting = list(found)
    while waiting:
        here = waiting.pop()
        for after in readers.get(here, ()):
            if after not in found and after.x() > here.x():
                found[after] = None
                waiting.append(after)
    return [each for root in found for each in (root, *followers(root))]
