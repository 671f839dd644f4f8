"""Ranks, order and levels of a layered drawing.

Ranks are longest paths with slack pulled in. A wire that passes ranks gets one invisible vertex in each; wires from one
port share them. The levels are the least-squares fit to straight wires that keeps the order and the gaps (pool adjacent
violators, Barlow et al. 1972, "Statistical inference under order restrictions").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from app.canvas.layout.ordering import Segment, order_ranks

__all__ = ["Chain", "Layering", "Link", "layer_graph", "rank_blocks"]


class Link(NamedTuple):
    """A wire between blocks.

    Attributes
    ----------
    source_level, target_level : float
        Levels below the tops of the blocks that should be brought in line.
    number : int
        The wire's number, returned with its chain.
    port : float
        Wires of one source with the same port share their course.
    """

    source: int
    target: int
    source_level: float
    target_level: float
    number: int
    port: float


#: An odd number, so that the last goes along the flow: a chain stays straight where it branches at its end.
_LEVEL_SWEEPS = 9


class Chain(NamedTuple):
    """The vertices one wire passes, ends included, with the wire's number and the number of its port."""

    number: int
    port: int
    vertices: tuple[int, ...]


@dataclass(slots=True)
class Layering:
    """A layered drawing.

    Attributes
    ----------
    ranks : list of list of int
        Vertices of each rank from top to bottom; numbers from the count of blocks on are the invisible ones.
    y : list of float
        Top of each vertex.
    """

    ranks: list[list[int]]
    rank_of: list[int]
    y: list[float] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)


def rank_blocks(count: int, links: Sequence[Link]) -> tuple[list[Link], list[int]]:
    """Return the links without those that close a cycle, and the rank of each block along the flow.

    Parameters
    ----------
    count : int
        How many blocks there are.
    links : sequence of Link
        Wires between blocks.
    """
    links = _acyclic(count, links)
    return links, _rank(count, links)


def layer_graph(
    heights: Sequence[float],
    links: Sequence[Link],
    ranks: Sequence[int],
    gap: float,
    lane: float,
    entries: Sequence[Segment] = (),
) -> Layering:
    """Order and level the blocks.

    Parameters
    ----------
    heights : sequence of float
        Height of each block.
    links : sequence of Link
        Wires between blocks, each to a higher rank.
    ranks : sequence of int
        Rank of each block, from 0 on.
    gap, lane : float
        Least space between two blocks, and around an invisible vertex.
    entries : sequence of Segment
        See :func:`app.canvas.layout.ordering.order_ranks`.
    """
    rank_of = list(ranks)
    drawing = Layering([], rank_of)
    segments = _lanes(links, drawing)
    members: list[list[int]] = [[] for _ in range(max(rank_of) + 1)]
    for vertex, rank in enumerate(drawing.rank_of):
        members[rank].append(vertex)
    drawing.ranks = order_ranks(members, segments, entries)
    _level(drawing, list(heights), segments, gap, lane)
    return drawing


def _acyclic(count: int, links: Sequence[Link]) -> list[Link]:
    """Drop the links that close a cycle."""
    successors: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for position, link in enumerate(links):
        successors[link.source].append((link.target, position))
    state = bytearray(count)  # 0 new, 1 on the path, 2 done
    bad: set[int] = set()
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(successors[root]))]
        while stack:
            vertex, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                state[vertex] = 2
                stack.pop()
            elif state[step[0]] == 1:
                bad.add(step[1])
            elif state[step[0]] == 0:
                state[step[0]] = 1
                stack.append((step[0], iter(successors[step[0]])))
    return [link for position, link in enumerate(links) if position not in bad]


def _rank(count: int, links: Sequence[Link]) -> list[int]:
    successors: list[list[int]] = [[] for _ in range(count)]
    predecessors: list[int] = [0] * count
    for link in links:
        successors[link.source].append(link.target)
        predecessors[link.target] += 1
    waiting = list(predecessors)
    ready = [vertex for vertex in range(count) if not waiting[vertex]]
    rank = [0] * count
    topological: list[int] = []
    while ready:
        vertex = ready.pop()
        topological.append(vertex)
        for after in successors[vertex]:
            rank[after] = max(rank[after], rank[vertex] + 1)
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    for vertex in reversed(topological):
        # Pulling a node towards its readers shortens the drawing when it has more wires out than in.
        if successors[vertex] and len(successors[vertex]) > predecessors[vertex]:
            rank[vertex] = max(rank[vertex], min(rank[after] for after in successors[vertex]) - 1)
    return rank


def _lanes(links: Sequence[Link], drawing: Layering) -> list[Segment]:
    """Add the invisible vertices; return the links between neighbouring ranks."""
    ports: dict[tuple[int, float], int] = {}
    by_vertex: dict[int, int] = defaultdict(int)
    shared: dict[tuple[int, int, int], int] = {}
    segments: dict[Segment, None] = {}
    for source, target, source_y, target_y, number, end in sorted(links, key=lambda link: drawing.rank_of[link.target]):
        if (source, end) not in ports:
            ports[source, end] = by_vertex[source]
            by_vertex[source] += 1
        port = ports[source, end]
        chain = [source]
        for rank in range(drawing.rank_of[source] + 1, drawing.rank_of[target]):
            vertex = shared.get((source, port, rank))
            if vertex is None:
                vertex = shared[source, port, rank] = len(drawing.rank_of)
                drawing.rank_of.append(rank)
            chain.append(vertex)
        chain.append(target)
        drawing.chains.append(Chain(number, port, tuple(chain)))
        for a, b in pairwise(chain):
            level, outlet = (source_y, end) if a == source else (0.0, 0.0)
            segments[Segment(a, b, level, target_y if b == target else 0.0, outlet)] = None
    return list(segments)


def _level(
    drawing: Layering,
    heights: list[float],
    segments: Sequence[Segment],
    gap: float,
    lane: float,
) -> None:
    """Find the tops of all vertices: straight wires as far as order and gaps allow."""
    blocks = len(heights)
    heights += [0.0] * (len(drawing.rank_of) - blocks)
    before: list[list[tuple[int, float]]] = [[] for _ in heights]
    after: list[list[tuple[int, float]]] = [[] for _ in heights]
    for a, b, a_y, b_y, _port in segments:
        after[a].append((b, b_y - a_y))
        before[b].append((a, a_y - b_y))
    y = [0.0] * len(heights)
    steps: list[list[float]] = []
    for rank in drawing.ranks:
        offsets, position = [], 0.0
        for index, vertex in enumerate(rank):
            if index:
                narrow = vertex >= blocks and rank[index - 1] >= blocks
                position += heights[rank[index - 1]] + (lane / 2 if narrow else lane if vertex >= blocks else gap)
            offsets.append(position)
            y[vertex] = position
        steps.append(offsets)
    for sweep in range(_LEVEL_SWEEPS):
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        numbers = range(len(drawing.ranks)) if forward else range(len(drawing.ranks) - 1, -1, -1)
        for number in numbers:
            rank = drawing.ranks[number]
            wishes, weights = [], []
            for vertex in rank:
                near = neighbours[vertex]
                wishes.append(sum(y[other] + delta for other, delta in near) / len(near) if near else y[vertex])
                weights.append((8.0 if vertex >= blocks else 2.0) if near else 0.05)
            for vertex, level in zip(rank, _fit(wishes, weights, steps[number]), strict=True):
                y[vertex] = level
    drawing.y = y


def _fit(wishes: Sequence[float], weights: Sequence[float], steps: Sequence[float]) -> list[float]:
    """Return the levels nearest to ``wishes`` whose distances are at least those of ``steps``."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for wish, weight, step in zip(wishes, weights, steps, strict=True):
        mean, mass, members = wish - step, weight, 1
        while pools and pools[-1][0] > mean:
            other_mean, other_mass, other_members = pools.pop()
            mean = (mean * mass + other_mean * other_mass) / (mass + other_mass)
            mass += other_mass
            members += other_members
        pools.append((mean, mass, members))
    means = [mean for mean, _mass, members in pools for _ in range(members)]
    return [mean + step for mean, step in zip(means, steps, strict=True)]
