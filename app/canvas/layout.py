"""Automatic layered layout.

Nodes that belong together become one block: in-place layers hang under the node they work on, and the variants that one
layer has for training and testing stand one above the other. Blocks are ranked along the flow from left to right, long
wires get a lane of their own, the strip is cut into rows like a text, and wires that go on in the next row are led
through the space between the rows.

The result is plain data and the function touches nothing of Qt, so that it can run in a thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

from app.canvas.layers import Chain, Layering, Link, layer_graph

__all__ = ["LayoutEdge", "LayoutNode", "LayoutResult", "lay_out"]

K = TypeVar("K", bound=Hashable)

GAP_X = 106.0
GAP_Y = 40.0
LANE = 24.0
ROW_GAP = 72.0
GUTTER = 12.0
BLOCK_GAP = 20.0
DOCK_GAP = 6.0
_GRID = 10.0
_LONGEST_SINGLE_ROW = 5


@dataclass(frozen=True, slots=True)
class LayoutNode(Generic[K]):
    """A node as the layout sees it.

    Attributes
    ----------
    key : hashable
        Returned with the result.
    width, height : float
        Pixels.
    host : hashable or None
        The node under which it hangs, for in-place layers.
    variant : str
        Nodes with the same text, other than empty, are variants of one layer.
    """

    key: K
    width: float
    height: float
    host: K | None = None
    variant: str = ""


@dataclass(frozen=True, slots=True)
class LayoutEdge(Generic[K]):
    """A wire as the layout sees it; the offsets are those of its ports below the tops of the nodes, in pixels."""

    source: K
    target: K
    key: Hashable
    source_y: float
    target_y: float
    port: int = 0


@dataclass(slots=True)
class LayoutResult(Generic[K]):
    """Top left corners by node, and points by edge that a wire should pass, in pixels."""

    places: dict[K, tuple[float, float]] = field(default_factory=dict)
    routes: dict[Hashable, tuple[tuple[float, float], ...]] = field(default_factory=dict)


@dataclass(slots=True)
class _Block(Generic[K]):
    members: list[tuple[K, float]] = field(default_factory=list)
    height: float = 0.0
    width: float = 0.0


def lay_out(nodes: Sequence[LayoutNode[K]], edges: Sequence[LayoutEdge[K]], aspect: float = 1.6) -> LayoutResult[K]:
    """Arrange a net.

    Parameters
    ----------
    nodes : sequence of LayoutNode
        In document order, which breaks ties.
    edges : sequence of LayoutEdge
        Edges that close a cycle are ignored.
    aspect : float
        Wanted width over height of the whole.
    """
    if not nodes:
        return LayoutResult()
    blocks, block_of, offset = _make_blocks(nodes, edges)
    hosted = {node.key for node in nodes if node.host is not None}
    links: list[Link] = []
    for number, edge in enumerate(edges):
        a, b = block_of[edge.source], block_of[edge.target]
        if a != b:
            out, into = offset[edge.source] + edge.source_y, offset[edge.target] + edge.target_y
            # What hangs under a node is brought in line with the node, so that cards stand in a row.
            hung = edge.source in hosted
            links.append(Link(a, b, edge.target_y if hung else out, into, number, out))
    layering = layer_graph([block.height for block in blocks], links, GAP_Y, LANE)
    levels = {link.number: (link.port, link.target_level) for link in links}
    return _Rows(blocks, edges, layering, levels, aspect).place()


def _make_blocks(
    nodes: Sequence[LayoutNode[K]], edges: Sequence[LayoutEdge[K]]
) -> tuple[list[_Block[K]], dict[K, int], dict[K, float]]:
    by_key = {node.key: node for node in nodes}
    followers: dict[K, list[LayoutNode[K]]] = defaultdict(list)
    for node in nodes:
        if node.host is not None and node.host in by_key and node.host != node.key:
            followers[node.host].append(node)
    hung = {node.key for group in followers.values() for node in group}
    roots = [node for node in nodes if node.key not in hung]
    rank = _ranks(nodes, edges)
    groups: dict[Hashable, list[LayoutNode[K]]] = defaultdict(list)
    for node in roots:
        groups[(node.variant, rank[node.key]) if node.variant else node.key].append(node)
    blocks: list[_Block[K]] = []
    block_of: dict[K, int] = {}
    offset: dict[K, float] = {}
    for group in groups.values():
        block: _Block[K] = _Block()
        for root in group:
            y = block.height + (BLOCK_GAP if block.members else 0.0)
            waiting = [root]
            while waiting:
                node = waiting.pop()
                block.members.append((node.key, y))
                offset[node.key] = y
                block_of[node.key] = len(blocks)
                block.width = max(block.width, node.width)
                y += node.height + DOCK_GAP
                waiting.extend(reversed(followers[node.key]))
            block.height = y - DOCK_GAP
        blocks.append(block)
    for node in nodes:  # only a cycle of hosts is left over
        if node.key not in block_of:
            block_of[node.key] = len(blocks)
            offset[node.key] = 0.0
            blocks.append(_Block([(node.key, 0.0)], node.height, node.width))
    return blocks, block_of, offset


def _ranks(nodes: Sequence[LayoutNode[K]], edges: Sequence[LayoutEdge[K]]) -> dict[K, int]:
    """Longest path from the sources, hosts and what hangs on them counted as one."""
    top: dict[K, K] = {}
    for node in nodes:
        top[node.key] = top.get(node.host, node.host) if node.host is not None else node.key
    successors: dict[K, list[K]] = defaultdict(list)
    waiting: dict[K, int] = defaultdict(int)
    for edge in edges:
        a, b = top.get(edge.source, edge.source), top.get(edge.target, edge.target)
        if a != b:
            successors[a].append(b)
            waiting[b] += 1
    rank = {node.key: 0 for node in nodes}
    ready = [node.key for node in nodes if not waiting[node.key]]
    while ready:
        key = ready.pop()
        for after in successors[key]:
            rank[after] = max(rank[after], rank[key] + 1)
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return rank


class _Rows(Generic[K]):
    """Cuts the strip of ranks into rows and leads the wires."""

    def __init__(
        self,
        blocks: list[_Block[K]],
        edges: Sequence[LayoutEdge[K]],
        layering: Layering,
        levels: dict[int, tuple[float, float]],
        aspect: float,
    ) -> None:
        self.blocks = blocks
        self.edges = edges
        self.layering = layering
        self.levels = levels
        layering.y = [_snap(y) for y in layering.y]
        self.ranks = layering.ranks
        self.widths = [max((blocks[v].width for v in rank if v < len(blocks)), default=0.0) for rank in layering.ranks]
        self.x: list[float] = [0.0] * len(self.ranks)
        self.row_of: list[int] = [0] * len(self.ranks)
        self.shift: list[float] = []
        self.left: list[float] = []
        self.right: list[float] = []
        self.bottom: list[float] = []
        self.rows = self._cut(aspect)

    def place(self) -> LayoutResult[K]:
        """Return places and routes."""
        self._stack()
        result: LayoutResult[K] = LayoutResult()
        for rank, members in enumerate(self.ranks):
            for vertex in members:
                if vertex < len(self.blocks):
                    y = self.layering.y[vertex] + self.shift[self.row_of[rank]]
                    for key, below in self.blocks[vertex].members:
                        result.places[key] = (self.x[rank], y + below)
        lanes: dict[tuple[int, int, int], int] = {}
        for chain in self.layering.chains:
            points = self._route(chain, lanes)
            if points:
                result.routes[self.edges[chain.number].key] = tuple(points)
        return result

    def _cut(self, aspect: float) -> list[tuple[int, int]]:
        """Choose where rows begin: near the wanted width, where few wires cross."""
        count = len(self.ranks)
        heights = [
            max((self._bottom(v) for v in rank), default=0.0) - min((self.layering.y[v] for v in rank), default=0.0)
            for rank in self.ranks
        ]
        strip = sum(self.widths) + GAP_X * (count - 1)
        typical = sorted(heights)[int(0.8 * (count - 1))] + ROW_GAP if heights else 1.0
        wanted = max(1, round((strip / (aspect * typical)) ** 0.5))
        per_row = count / wanted
        if count <= _LONGEST_SINGLE_ROW:
            return [(0, count)]
        crossing = self.layering.crossing
        rows: list[tuple[int, int]] = []
        start = 0
        while start < count:
            aim = start + per_row
            if count - start <= per_row * 1.3:
                rows.append((start, count))
                break
            low, high = int(start + per_row * 0.7) + 1, min(count - 1, int(start + per_row * 1.3))
            end = min(range(min(low, high), max(low, high) + 1), key=lambda r: (crossing[r - 1], abs(r - aim)))
            end = max(end, start + 1)
            rows.append((start, end))
            start = end
        return rows

    def _bottom(self, vertex: int) -> float:
        height = self.blocks[vertex].height if vertex < len(self.blocks) else 0.0
        return self.layering.y[vertex] + height

    def _stack(self) -> None:
        y = 0.0
        for number, (start, end) in enumerate(self.rows):
            x = 0.0
            members = [v for rank in self.ranks[start:end] for v in rank]
            top = min((self.layering.y[v] for v in members), default=0.0)
            bottom = max((self._bottom(v) for v in members), default=0.0)
            for rank in range(start, end):
                self.x[rank] = x
                self.row_of[rank] = number
                x += self.widths[rank] + GAP_X
            self.left.append(0.0)
            self.right.append(x - GAP_X)
            self.shift.append(_snap(y - top))
            self.bottom.append(y + bottom - top)
            crossing = self.layering.crossing[end - 1] if end < len(self.ranks) else 0
            y += bottom - top + ROW_GAP + GUTTER * max(0, crossing - 1)

    def _route(self, chain: Chain, lanes: dict[tuple[int, int, int], int]) -> list[tuple[float, float]]:
        """Points for one wire: straight through the columns it passes, around the end of the rows it leaves."""
        layering = self.layering
        points: list[tuple[float, float]] = []
        source = chain.vertices[0]
        out, into = self.levels[chain.number]
        level = layering.y[source] + self.shift[self._row(source)] + out
        for before, here in pairwise(chain.vertices):
            rank, row = layering.rank_of[here], self._row(here)
            last = here == chain.vertices[-1]
            y = layering.y[here] + self.shift[row] + (into if last else 0.0)
            if row != self._row(before):
                points += self._around(self._row(before), row, level, y, (source, chain.port), lanes)
            if not last:
                points += [(self.x[rank] - 8.0, y), (self.x[rank] + self.widths[rank] + 8.0, y)]
            level = y
        return points

    def _row(self, vertex: int) -> int:
        return self.row_of[self.layering.rank_of[vertex]]

    def _around(
        self,
        row: int,
        next_row: int,
        y_from: float,
        y_to: float,
        trunk: tuple[int, int],
        lanes: dict[tuple[int, int, int], int],
    ) -> list[tuple[float, float]]:
        lane = lanes.setdefault((row, *trunk), sum(1 for key in lanes if key[0] == row))
        right = self.right[row] + 28.0 + GUTTER * lane
        left = self.left[next_row] - 28.0 - GUTTER * lane
        gutter = self.bottom[row] + ROW_GAP * 0.5 + GUTTER * lane
        return [(right, y_from), (right, gutter), (left, gutter), (left, y_to)]


def _snap(value: float) -> float:
    return round(value / _GRID) * _GRID
