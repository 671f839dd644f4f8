"""Leading wires from one row of a wrapped drawing to a later one.

Such a wire turns down in the gap behind its source, runs along the gutter below that row, turns down again in the gap
before its target, and passes the rows between on its way; or it passes them on a rail beside all columns, and comes
to its target through the gutter above. So it crosses no card, and no more wires than need be. In a gap each wire has a
lane of its own, in a gutter a track.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["TRACK", "Channels", "Leg", "Trunk", "assign_tracks", "share_lanes"]

#: Space between wires that run side by side, in pixels.
TRACK = 10.0

#: Where something is from top to bottom: twice the number of its row, or one more for the gutter below, and a level.
Level = tuple[int, float]
#: A wire on its way down: from where, to where, and its number.
_Way = tuple[Level, Level, int]
#: A wire in a gutter: its number, where it comes from above, where it leaves, and its ends to the left and right.
_Course = tuple[int, float, Sequence[float], float, float]
_Span = TypeVar("_Span")


@dataclass(frozen=True, slots=True)
class Leg:
    """A wire of a trunk on its way down in the gap before its target.

    Attributes
    ----------
    row, gap : int
        Row of the target, and the gap before it: 0 is left of the first column.
    level : float
        Level of the target's port in its row.
    number : int
        Number of the wire.
    rail : int or None
        The gap beside all columns, at the left or the right, in which it passes the rows between; None where it passes
        them in the gap before its target.
    """

    row: int
    gap: int
    level: float
    number: int
    rail: int | None = None

    @property
    def turns(self) -> int:
        """The gap in which it leaves the track below its source."""
        return self.gap if self.rail is None else self.rail


@dataclass(slots=True)
class Trunk:
    """The wires of one port that go to later rows.

    Attributes
    ----------
    row, gap : int
        Row of the source, and the gap behind it.
    level : float
        Level of the source's port in its row.
    legs : list of Leg
    """

    row: int
    gap: int
    level: float
    legs: list[Leg] = field(default_factory=list)

    @property
    def falls_straight(self) -> bool:
        """Whether it ends in the gap where it begins, so that it needs no track."""
        return all(leg.gap == self.gap and leg.rail is None for leg in self.legs)


@dataclass(slots=True)
class Channels:
    """Lanes and tracks of all trunks.

    Attributes
    ----------
    falls : list of int
        By trunk: its lane from the left edge of the gap behind its source.
    drops : dict
        By number of a trunk and gap: the lane from the right edge of that gap.
    rails : dict
        By number of a trunk: its lane behind all columns, from the left edge of that gap.
    left, right : dict of int
        By gap: how many lanes there are from either of its edges.
    """

    falls: list[int]
    drops: dict[tuple[int, int], int]
    rails: dict[int, int]
    left: dict[int, int]
    right: dict[int, int]


def share_lanes(trunks: Sequence[Trunk]) -> Channels:
    """Give each trunk its lanes in the gaps.

    Of those that begin in one gap the lowest is nearest to its source, of those that end in one the uppermost is
    nearest to its target, and of the rails the shortest is nearest to the columns: so they do not cross.
    """
    ways = _Ways()
    for number, trunk in enumerate(trunks):
        ways.add(number, trunk)
    found = Channels([0] * len(trunks), {}, {}, {}, {})
    for gap, starts in ways.starts.items():
        starts.sort(key=lambda way: (-way[0][1], way[2]))
        lanes, found.left[gap] = _lanes(starts)
        for (_start, _end, number), lane in zip(starts, lanes, strict=True):
            found.falls[number] = lane
    for gap, ends in ways.ends.items():
        ends.sort(key=lambda way: (way[1], way[2]))
        lanes, found.right[gap] = _lanes(ends)
        for (_start, _end, number), lane in zip(ends, lanes, strict=True):
            found.drops[number, gap] = lane
    for gap, rails in ways.rails.items():
        rails.sort(key=lambda way: (way[1][0] - way[0][0], way[2]))
        lanes, count = _lanes(rails)
        first = found.left.get(gap, 0)
        found.left[gap] = first + count
        for (_start, _end, number), lane in zip(rails, lanes, strict=True):
            found.rails[number] = first + lane
    return found


class _Ways:
    """The ways down of all trunks, by the gaps in which they are."""

    def __init__(self) -> None:
        self.starts: dict[int, list[_Way]] = defaultdict(list)
        self.ends: dict[int, list[_Way]] = defaultdict(list)
        self.rails: dict[int, list[_Way]] = defaultdict(list)

    def add(self, number: int, trunk: Trunk) -> None:
        """Add those of a trunk; in a gap its legs share one."""
        gutter: Level = (2 * trunk.row + 1, 0.0)
        if trunk.falls_straight:
            gutter = (2 * trunk.row, trunk.level)
        else:
            self.starts[trunk.gap].append(((2 * trunk.row, trunk.level), gutter, number))
        drops: dict[int, list[Level]] = defaultdict(list)
        rails: dict[int, Level] = {}
        for leg in trunk.legs:
            above: Level = gutter if leg.rail is None else (2 * leg.row - 1, 0.0)
            drops[leg.gap] += above, (2 * leg.row, leg.level)
            if leg.rail:
                rails[leg.rail] = max(rails.get(leg.rail, above), above)
            elif leg.rail == 0:
                drops[0] += gutter, (2 * leg.row, math.inf)  # behind those that end in that row
        for gap, levels in drops.items():
            self.ends[gap].append((min(levels), max(levels), number))
        for gap, level in rails.items():
            self.rails[gap].append((gutter, level, number))


def _lanes(spans: Iterable[_Way]) -> tuple[list[int], int]:
    """Give each span the first lane behind those of earlier ones that it meets; return the lanes, and how many."""
    taken: list[list[tuple[Level, Level]]] = []
    lanes = []
    for start, end, _number in spans:
        met = [any(start <= last and first <= end for first, last in others) for others in taken]
        lanes.append(_put_behind((start, end), taken, met))
    return lanes, len(taken)


def _put_behind(span: _Span, taken: list[list[_Span]], met: Sequence[bool]) -> int:
    """Put a span into the first lane behind all in which it meets another; return the number of that lane."""
    lane = max((n for n, meets in enumerate(met) if meets), default=-1) + 1
    if lane == len(taken):
        taken.append([])
    taken[lane].append(span)
    return lane


def assign_tracks(courses: Sequence[tuple[int, float, Sequence[float]]]) -> tuple[dict[int, int], int]:
    """Give each wire in a gutter its track, counted from above, so that few cross; return them, and how many there are.

    Parameters
    ----------
    courses : sequence
        Of each wire its number, where it comes from above, and where it leaves downwards.
    """
    order: list[_Course] = []
    for name, start, ends in sorted(courses, key=lambda course: course[1] > course[2][0]):
        course = name, start, ends, min(start, *ends), max(start, *ends)
        costs, best, at = 0, 0, len(order)
        for place in range(len(order) - 1, -1, -1):
            other = order[place]
            costs += _crossings(course, other) - _crossings(other, course)
            if costs < best:
                best, at = costs, place
        order.insert(at, course)
    tracks: list[list[tuple[float, float]]] = []
    found: dict[int, int] = {}
    for name, _start, _ends, low, high in order:
        met = [any(low < b + TRACK and a < high + TRACK for a, b in others) for others in tracks]
        found[name] = _put_behind((low, high), tracks, met)
    return found, len(tracks)


def _crossings(upper: _Course, lower: _Course) -> int:
    """Count where two wires cross, if the first runs above the second."""
    _name, _start, ends, low, high = upper
    return sum(lower[3] < end < lower[4] for end in ends) + (low < lower[1] < high)
