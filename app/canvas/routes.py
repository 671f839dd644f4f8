"""The course of a wire."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF
from PySide6.QtGui import QPainterPath

__all__ = ["bent_path", "crosses", "distance_to", "dock_path", "flattened", "wire_path"]

_CORNER = 14.0


def wire_path(start: QPointF, end: QPointF, via: Sequence[QPointF] = ()) -> QPainterPath:
    """Return a smooth course from an output to an input.

    Parameters
    ----------
    start, end : QPointF
        Places of the ports in the scene.
    via : sequence of QPointF
        Points that the layout wants the wire to pass. Between points on one level the wire runs straight; otherwise it
        swings over with level tangents. Where it turns down and back, the corners are rounded.
    """
    if via:
        return _guided(start, end, via)
    path = QPainterPath(start)
    dx = end.x() - start.x()
    reach = max(32.0, min(abs(dx) * 0.5, 160.0)) if dx >= 0 else min(240.0, 60.0 + abs(dx) * 0.3)
    path.cubicTo(start.x() + reach, start.y(), end.x() - reach, end.y(), end.x(), end.y())
    return path


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


def _guided(start: QPointF, end: QPointF, via: Sequence[QPointF]) -> QPainterPath:
    points = [start, *via, end]
    path = QPainterPath(start)
    for index in range(1, len(points)):
        here, there = points[index - 1], points[index]
        level = abs(here.y() - there.y()) < 0.5
        upright = abs(here.x() - there.x()) < 0.5
        if not level and not upright:
            reach = max(24.0, abs(there.x() - here.x()) * 0.5)
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
