"""The order of the vertices in each rank of a layered drawing, so that few wires cross.

It comes from fast-sugiyama where it is installed and from barycentre sweeps else, which know vertices only. Then it is
mended with an eye on the ports: two wires from the ports of one card cross if their ends stand in another order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Segment", "order_ranks"]

_SWEEPS = 10
#: Ports are minded in ranks of that many vertices together, and neighbours change places so many times at most.
_MINDED, _ROUNDS = 600, 6

Order = list[list[int]]


class Segment(NamedTuple):
    """A piece of a wire between two ranks that are neighbours.

    Attributes
    ----------
    above, below : int
        Its vertices.
    source_level, target_level : float
        Levels below the tops of its vertices that should be brought in line.
    port : float
        Level of its port at the first vertex.
    """

    above: int
    below: int
    source_level: float
    target_level: float
    port: float


def order_ranks(ranks: Order, segments: Sequence[Segment], entries: Sequence[Segment] = ()) -> Order:
    """Return the ranks, each in its order from top to bottom.

    Parameters
    ----------
    ranks : list of list of int
        Vertices of each rank.
    segments : sequence of Segment
    entries : sequence of Segment
        Wires that come into the first rank from elsewhere, from top to bottom in the order in which they do not cross;
        their first vertices are negative.
    """
    if all(len(rank) == 1 for rank in ranks):
        return ranks
    keys = _sugiyama_keys(segments)
    if keys is not None:
        last = max(keys.values(), default=0.0) + 1.0
        order = [sorted(rank, key=lambda v: (keys.get(v, last), v)) for rank in ranks]
    else:
        order = _sweep(ranks, segments)
    return _Ports(segments, entries).mend(order) if sum(map(len, ranks)) <= _MINDED else order


def _sugiyama_keys(segments: Sequence[Segment]) -> dict[int, float] | None:
    try:
        from fast_sugiyama import from_edges
    except ImportError:
        return None
    pairs = list(dict.fromkeys((segment.above, segment.below) for segment in segments))
    if not pairs:
        return {}
    keys: dict[int, float] = {}
    offset = 0.0
    for positions, width, *_rest in from_edges(pairs, vertex_spacing=1, dummy_vertices=False, check_layout=False):
        for vertex, (x, _y) in positions:
            keys[int(vertex)] = offset + float(x)
        offset += float(width) + 2.0
    return keys


def _sweep(ranks: Order, segments: Sequence[Segment]) -> Order:
    """Order by barycentres, up and down in turns, and keep the order with the fewest crossings."""
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for segment in segments:
        below[segment.above].append(segment.below)
        above[segment.below].append(segment.above)
    order = [list(rank) for rank in ranks]
    best, fewest = [list(rank) for rank in order], _crossings(order, below)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        for rank in range(1, len(order)) if down else range(len(order) - 2, -1, -1):
            place = {vertex: index for index, vertex in enumerate(order[rank - 1 if down else rank + 1])}
            own = {vertex: index for index, vertex in enumerate(order[rank])}
            keys = {
                v: sum(place[n] for n in neighbours[v]) / len(neighbours[v]) if neighbours[v] else float(own[v])
                for v in order[rank]
            }
            order[rank].sort(key=lambda v: (keys[v], own[v]))
        crossings = _crossings(order, below)
        if crossings < fewest:
            best, fewest = [list(rank) for rank in order], crossings
        if not crossings:
            break
    return best


def _crossings(order: Sequence[Sequence[int]], below: dict[int, list[int]]) -> int:
    total = 0
    for upper, lower in pairwise(order):
        place = {vertex: index for index, vertex in enumerate(lower)}
        seen: list[int] = []
        for vertex in upper:
            targets = sorted(place[after] for after in below[vertex])
            total += sum(len(seen) - bisect_right(seen, target) for target in targets)
            for target in targets:
                insort(seen, target)
    return total


#: Where a wire ends: a vertex or its place in its rank, and a level below the top of it.
_End = tuple[int, float]


class _Ports:
    """Orders ranks with an eye on the ports."""

    def __init__(self, segments: Sequence[Segment], entries: Sequence[Segment]) -> None:
        self.entries = list(dict.fromkeys(segment.above for segment in entries))
        self.before: dict[int, list[Segment]] = defaultdict(list)
        self.after: dict[int, list[Segment]] = defaultdict(list)
        for segment in (*segments, *entries):
            self.before[segment.below].append(segment)
            self.after[segment.above].append(segment)
        self.segments = segments
        #: How far down its vertex an end is, from 0 to 1.
        self.outs: dict[_End, float] = {}
        self.ins: dict[_End, float] = {}

    def mend(self, order: Order) -> Order:
        """Return an order in which no more wires cross than in that given."""
        best, fewest = order, self._count(order)
        if not fewest:
            return order
        self.outs = _shares((segment.above, segment.port) for segment in self.segments)
        self.ins = _shares((segment.below, segment.target_level) for segment in self.segments)
        for start in (order, [sorted(rank) for rank in order]):
            tried = [list(rank) for rank in start]
            for sweep in range(_SWEEPS):
                if not fewest:
                    return best
                self._sweep(tried, down=sweep % 2 == 0)
                crossings = self._count(tried)
                if crossings < fewest:
                    best, fewest = [list(rank) for rank in tried], crossings
        if fewest:
            best = [list(rank) for rank in best]
            for _round in range(_ROUNDS):
                if not self._swap_neighbours(best):
                    break
        return best

    def _sweep(self, order: Order, *, down: bool) -> None:
        numbers = range(len(order)) if down else range(len(order) - 2, -1, -1)
        for number in numbers:
            near = self._rank(order, number - 1 if down else number + 1)
            place = {vertex: float(index) for index, vertex in enumerate(near)}
            keys = {}
            for own, vertex in enumerate(order[number]):
                if down:
                    ends = [place[s.above] + self.outs.get((s.above, s.port), 0.5) for s in self.before[vertex]]
                else:
                    ends = [place[s.below] + self.ins.get((s.below, s.target_level), 0.5) for s in self.after[vertex]]
                keys[vertex] = sum(ends) / len(ends) if ends else float(own), own
            order[number].sort(key=keys.__getitem__)

    def _rank(self, order: Order, number: int) -> list[int]:
        return self.entries if number < 0 else order[number]

    def _count(self, order: Order) -> int:
        """Count crossings."""
        total = 0
        for number, lower in enumerate(order):
            place = {vertex: index for index, vertex in enumerate(lower)}
            ends = sorted(
                ((index, segment.port), (place[segment.below], segment.target_level))
                for index, vertex in enumerate(self._rank(order, number - 1))
                for segment in self.after[vertex]
            )
            seen: list[_End] = []
            for _start, end in ends:
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return total

    def _swap_neighbours(self, order: Order) -> bool:
        """Let neighbours change places where fewer wires cross then; return whether any did."""
        changed = False
        for number, rank in enumerate(order):
            before = {vertex: index for index, vertex in enumerate(self._rank(order, number - 1))}
            after = {v: index for index, v in enumerate(order[number + 1])} if number + 1 < len(order) else {}
            for index in range(len(rank) - 1):
                ends = [
                    (
                        [(before[s.above], s.port) for s in self.before[vertex]],
                        [(after[s.below], s.target_level) for s in self.after[vertex]],
                    )
                    for vertex in rank[index : index + 2]
                ]
                (left, right), (lower_left, lower_right) = ends
                now = _inverted(left, lower_left) + _inverted(right, lower_right)
                if now > _inverted(lower_left, left) + _inverted(lower_right, right):
                    rank[index], rank[index + 1] = rank[index + 1], rank[index]
                    changed = True
        return changed


def _inverted(upper: Sequence[_End], lower: Sequence[_End]) -> int:
    """Count wires that cross between two vertices, by the other ends of their wires."""
    return sum(a > b for a in upper for b in lower)


def _shares(ends: Iterable[_End]) -> dict[_End, float]:
    """Return how far down its vertex each end is, counted by the ends that there are."""
    levels: dict[int, set[float]] = defaultdict(set)
    for vertex, level in ends:
        levels[vertex].add(level)
    return {
        (vertex, level): (index + 0.5) / len(found)
        for vertex, found in levels.items()
        for index, level in enumerate(sorted(found))
    }
