"""Leading a wire around cards that stand in its way, where no layout has led it.

The wire leaves its port, swings to a level that is free of cards, runs along it, and swings to its end. It is a matter
of what is near: a few cards are looked at, so that it can be done at each step of a drag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["CLEAR", "Box", "detour", "free_level"]

#: Room between a wire and a card, in pixels.
CLEAR = 14.0
#: Room that a swing from a port to a level takes at least.
_SWING = 28.0
_SAMPLES = 12


class Box(NamedTuple):
    """A card, in pixels of the scene."""

    left: float
    top: float
    right: float
    bottom: float


def detour(
    start: tuple[float, float], end: tuple[float, float], reach: float, boxes: Sequence[Box]
) -> tuple[tuple[float, float], ...]:
    """Return points through which a wire passes no card, or as few as need be; none where nothing is in its way.

    Parameters
    ----------
    start, end : tuple of float
        Its ports; it goes to the right.
    reach : float
        How far from the ports the control points of its free course are, in pixels.
    boxes : sequence of Box
        Cards near it, without those that it joins.
    """
    course = _cubic(start, end, reach)
    hit = [box for box in boxes if any(_within(box, x, y, CLEAR / 2) for x, y in course)]
    if not hit:
        return ()
    left = max(min(box.left for box in hit) - CLEAR, start[0] + _SWING)
    right = min(max(box.right for box in hit) + CLEAR, end[0] - _SWING)
    if right <= left:
        return ()
    level = free_level(left, right, (start[1], end[1]), boxes)
    if level is None:
        return ()
    return (left, level), (right, level)


def free_level(left: float, right: float, wanted: Iterable[float], boxes: Sequence[Box]) -> float | None:
    """Return the level nearest to those that are wanted on which nothing stands between two places; None for none.

    Parameters
    ----------
    left, right : float
        The way on that level.
    wanted : iterable of float
        Levels of the ends.
    boxes : sequence of Box
        Cards near.
    """
    ends = tuple(wanted)
    between = [box for box in boxes if box.right > left and box.left < right]
    levels = {*ends, *(box.top - CLEAR for box in between), *(box.bottom + CLEAR for box in between)}
    free = [y for y in levels if not any(box.top - CLEAR / 2 < y < box.bottom + CLEAR / 2 for box in between)]
    return min(free, key=lambda y: (sum(abs(y - end) for end in ends), y), default=None)


def _cubic(start: tuple[float, float], end: tuple[float, float], reach: float) -> list[tuple[float, float]]:
    """Return points on the free course of a wire."""
    found = []
    for step in range(1, _SAMPLES):
        t = step / _SAMPLES
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        x = a * start[0] + b * (start[0] + reach) + c * (end[0] - reach) + d * end[0]
        found.append((x, (a + b) * start[1] + (c + d) * end[1]))
    return found


def _within(box: Box, x: float, y: float, room: float) -> bool:
    return box.left - room < x < box.right + room and box.top - room < y < box.bottom + room
