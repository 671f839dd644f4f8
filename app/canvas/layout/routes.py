"""The course of a wire."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainterPath

__all__ = ["bent_path", "crosses", "distance_to", "dock_path", "flattened", "free_reach", "wire_box", "wire_path"]

_CORNER = 14.0


def wire_path(start: QPointF, end: QPointF, via: Sequence[QPointF] = (), trunk: float = 0.0) -> QPainterPath:
    """Return a smooth course from an output to an input.

    Parameters
    ----------
    start, end : QPointF
        Places of the ports in the scene.
    via : sequence of QPointF
        Points that the layout wants the wire to pass. Between points on one level the wire runs straight; otherwise it
        swings over with level tangents. Where it turns down and back, the corners are rounded.
    trunk : float
        How far it runs straight at first, with others of its port, if there is room.
    """
    path = QPainterPath(start)
    if trunk and (via[0] if via else end).x() - start.x() > 3 * trunk:
        start = QPointF(start.x() + trunk, start.y())
        path.lineTo(start)
    if via:
        return _guided(path, start, end, via)
    reach = free_reach(end.x() - start.x())
    path.cubicTo(start.x() + reach, start.y(), end.x() - reach, end.y(), end.x(), end.y())
    return path


def wire_box(start: QPointF, end: QPointF, via: Sequence[QPointF] = ()) -> QRectF:
    """Return a rectangle around :func:`wire_path`, without making the path: that of its control points."""
    xs, ys = [start.x(), end.x()], [start.y(), end.y()]
    if not via:
        reach = free_reach(xs[1] - xs[0])
        xs += (xs[0] + reach, xs[1] - reach)
    else:
        xs[1:1], ys[1:1] = [point.x() for point in via], [point.y() for point in via]
        for index in range(1, len(ys)):
            if abs(ys[index] - ys[index - 1]) >= 0.5 and abs(xs[index] - xs[index - 1]) >= 0.5:
                reach = _swing(xs[index] - xs[index - 1])
                xs += (xs[index - 1] + reach, xs[index] - reach)
    left, top = min(xs), min(ys)
    return QRectF(left, top, max(xs) - left, max(ys) - top)


def free_reach(dx: float) -> float:
    """How far from its ends a wire without a route has its control points, for the way it goes to the right."""
    return max(32.0, min(dx * 0.5, 160.0)) if dx >= 0 else min(240.0, 60.0 - dx * 0.3)


def _swing(dx: float) -> float:
    """The same for a piece of a route that changes its level."""
    return max(24.0, abs(dx) * 0.5)


def bent_path(start: QPointF, end: QPointF, bends: Sequence[QPointF]) -> QPainterPath:
    """Return a smooth course through points: level at the ports, and at each bend along the way past it."""
    points = [start, *bends, end]
    path = QPainterPath(start)
    for index in range(1, len(points)):
        here, there = points[index - 1], points[index]
        reach = _distance(here, there) / 3
        leave = QPointF(reach, 0.0) if index == 1 else _along(points[index - 2], there, reach)
        arrive = QPointF(reach, 0.0) if there is end else _along(here, points[index + 1], reach)
        path.cubicTo(here + leave, there - arrive, there)
    return path


def flattened(path: QPainterPath) -> list[QPointF]:
    """Return a course as the corners of short straight pieces."""
    return [point for polygon in path.toSubpathPolygons() for point in polygon.toList()]


def distance_to(point: QPointF, course: Sequence[QPointF]) -> float:
    """Distance of a point from a flattened course, in pixels; infinite from none."""
    best, x, y = math.inf, point.x(), point.y()
    for a, b in pairwise(course):
        dx, dy = b.x() - a.x(), b.y() - a.y()
        square = dx * dx + dy * dy
        along = ((x - a.x()) * dx + (y - a.y()) * dy) / square if square else 0.0
        along = min(1.0, max(0.0, along))
        best = min(best, math.hypot(a.x() + along * dx - x, a.y() + along * dy - y))
    return best


def crosses(stroke: QLineF, course: Sequence[QPointF]) -> bool:
    """Whether a straight stroke crosses a flattened course."""
    bounded = QLineF.IntersectionType.BoundedIntersection
    return any(stroke.intersects(QLineF(a, b))[0] == bounded for a, b in pairwise(course))


def dock_path(start: QPointF, end: QPointF) -> QPainterPath:
    """Return the short straight wire between a node and what is docked under it."""
    path = QPainterPath(start)
    path.lineTo(end)
    return path


def _guided(path: QPainterPath, start: QPointF, end: QPointF, via: Sequence[QPointF]) -> QPainterPath:
    points = [start, *via, end]
    for index in range(1, len(points)):
        here, there = points[index - 1], points[index]
        level = abs(here.y() - there.y()) < 0.5
        upright = abs(here.x() - there.x()) < 0.5
        if not level and not upright:
            reach = _swing(there.x() - here.x())
            path.cubicTo(here.x() + reach, here.y(), there.x() - reach, there.y(), there.x(), there.y())
            continue
        after = points[index + 1] if index + 1 < len(points) else None
        turns = after is not None and (
            (level and abs(after.x() - there.x()) < 0.5) or (upright and abs(after.y() - there.y()) < 0.5)
        )
        if not turns or after is None:
            path.lineTo(there)
            continue
        room = min(_CORNER, _distance(here, there) / 2, _distance(there, after) / 2)
        path.lineTo(_towards(there, here, room))
        path.quadTo(there, _towards(there, after, room))
    return path


def _distance(a: QPointF, b: QPointF) -> float:
    return math.hypot(a.x() - b.x(), a.y() - b.y())


def _towards(origin: QPointF, target: QPointF, length: float) -> QPointF:
    distance = _distance(origin, target)
    if distance < 1e-6:
        return origin
    return origin + (target - origin) * (length / distance)


def _along(before: QPointF, after: QPointF, length: float) -> QPointF:
    distance = _distance(before, after)
    return (after - before) * (length / distance) if distance > 1e-6 else QPointF(length, 0.0)
