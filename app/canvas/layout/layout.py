"""Automatic layered layout.

Nodes that belong together become one block: in-place layers hang under the node they work on, and the variants that one
layer has for training and testing stand one above the other. Blocks are ranked along the flow from left to right, the
strip is cut into rows like a text, long wires get a lane of their own, and wires between rows are led through the space
around the cards. Where the rows are cut depends on the view: the whole is to be read at first sight, and of what is too
long for that as much as can be.

The result is plain data and the function touches nothing of Qt, so that it can run in a thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from app.canvas.layout.cuts import Flow, Room, best_drawing
from app.canvas.layout.layers import Link, rank_blocks
from app.canvas.layout.rows import Strip
from app.canvas.scene.face import DOCK_GAP

__all__ = ["Flow", "LayoutEdge", "LayoutNode", "LayoutResult", "Room", "lay_out"]

K = TypeVar("K", bound=Hashable)

_BLOCK_GAP = 10.0
_USUAL = Room()


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


def lay_out(
    nodes: Sequence[LayoutNode[K]],
    edges: Sequence[LayoutEdge[K]],
    room: Room = _USUAL,
    flow: Flow = Flow.WRAPPED,
) -> LayoutResult[K]:
    """Arrange a net.

    Parameters
    ----------
    nodes : sequence of LayoutNode
        In document order, which breaks ties.
    edges : sequence of LayoutEdge
        Edges that close a cycle are ignored.
    room : Room
        The view in which it is to be read.
    flow : Flow
        Which way it runs.
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
    kept, ranks = rank_blocks(len(blocks), links)
    strip = Strip([block.width for block in blocks], [block.height for block in blocks], kept, ranks)
    drawing = best_drawing(strip, room, flow)
    result: LayoutResult[K] = LayoutResult()
    for block, (x, y) in zip(blocks, drawing.places, strict=True):
        result.places.update((key, (x, y + below)) for key, below in block.members)
    result.routes.update((edges[number].key, tuple(points)) for number, points in drawing.routes.items())
    return result


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
            y = block.height + (_BLOCK_GAP if block.members else 0.0)
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
