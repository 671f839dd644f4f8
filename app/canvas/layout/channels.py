"""Leading wires from one row of a wrapped drawing to a later one.

Such a wire turns down in the gap behind its source, runs along the gutter below that row, turns down again in the gap
before its target, and passes the rows between on its way; so it crosses no card, and no more wires than need be. In a
gap each wire has a lane of its own, in a gutter a track.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["TRACK", "Channels", "Leg", "Trunk", "assign_tracks", "share_lanes"]

#: Space between wires that run side by side, in pixels.
TRACK = 10.0

#: Where something is from top to bottom: twice the number of its row, or one more for the gutter below, and a level.
Level = tuple[int, float]
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
    """

    row: int
    gap: int
    level: float
    number: int


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
        return all(leg.gap == self.gap for leg in self.legs)


@dataclass(slots=True)
class Channels:
    """Lanes and tracks of all trunks.

    Attributes
    ----------
    falls : list of int
        By trunk: its lane from the left edge of the gap behind its source.
    drops : dict
        By number of a trunk and gap: the lane from the right edge of that gap.
    left, right : dict of int
        By gap: how many lanes there are from either of its edges.
    """

    falls: list[int]
    drops: dict[tuple[int, int], int]
    left: dict[int, int]
    right: dict[int, int]


def share_lanes(trunks: Sequence[Trunk]) -> Channels:
    """Give each trunk its lanes in the gaps.

    Of those that begin in one gap the lowest is nearest to its source, of those that end in one the uppermost is
    nearest to its target: so they do not cross.
    """
    starts: dict[int, list[tuple[Level, Level, int]]] = defaultdict(list)
    ends: dict[int, list[tuple[Level, Level, int]]] = defaultdict(list)
    for number, trunk in enumerate(trunks):
        gutter = (2 * trunk.row + 1, 0.0)
        if trunk.falls_straight:
            gutter = (2 * trunk.row, trunk.level)
        else:
            starts[trunk.gap].append(((2 * trunk.row, trunk.level), gutter, number))
        deepest: dict[int, Level] = {}
        for leg in trunk.legs:
            deepest[leg.gap] = max(deepest.get(leg.gap, gutter), (2 * leg.row, leg.level))
        for gap, end in deepest.items():
            ends[gap].append((gutter, end, number))
    found = Channels([0] * len(trunks), {}, {}, {})
    for gap, spans in starts.items():
        spans.sort(key=lambda span: (-span[0][1], span[2]))
        lanes, found.left[gap] = _lanes(spans)
        for (_start, _end, number), lane in zip(spans, lanes, strict=True):
            found.falls[number] = lane
    for gap, spans in ends.items():
        spans.sort(key=lambda span: (span[1], span[2]))
        lanes, found.right[gap] = _lanes(spans)
        for (_start, _end, number), lane in zip(spans, lanes, strict=True):
            found.drops[number, gap] = lane
    return found


def _lanes(spans: Iterable[tuple[Level, Level, int]]) -> tuple[list[int], int]:
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
