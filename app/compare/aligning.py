"""One arrangement for two nets: layers that both have stand at the same place on both canvases."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.canvas.layout.layout import LayoutEdge, LayoutNode, LayoutResult
from app.canvas.scene.docking import host_of
from app.canvas.scene.face import DOCK_GAP, NODE_WIDTH
from app.document.placement import Point, Route, edge_key

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document.placement import EdgeKey
    from engine.graph import NodeId

__all__ = ["Key", "Plan", "place", "plan"]

#: A layer of both nets, by its id in the second, or one that only the first has.
Key = tuple[str, "NodeId"]
_EdgeKey = tuple[Key, int, Key, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the layout is asked for, and which item goes where.

    Attributes
    ----------
    nodes, edges : list
        For :func:`app.canvas.layout.layout.lay_out`.
    keys : pair of mappings
        For each side the keys of the layers that are shown, in document order.
    """

    nodes: list[LayoutNode[Key]]
    edges: list[LayoutEdge[Key]]
    keys: tuple[dict[NodeId, Key], dict[NodeId, Key]]


def plan(old: CanvasScene, new: CanvasScene, pairs: Mapping[NodeId, NodeId]) -> Generator[None, None, Plan]:
    """Join what two scenes show to one net, a little at each step; the plan is what the generator returns.

    Parameters
    ----------
    old, new : CanvasScene
    pairs : mapping of NodeId to NodeId
        From layers and folded stretches of the first to the same of the second.
    """
    shown = []
    for scene in (old, new):
        cards: dict[NodeId, NodeItem] = {}
        for node in scene.document.graph.node_ids():
            yield
            card = scene.folding.shown(node)
            if card is not None:
                cards[card.node_id] = card
        shown.append(cards)
    first: dict[NodeId, Key] = {node: ("both", pairs[node]) if node in pairs else ("old", node) for node in shown[0]}
    second: dict[NodeId, Key] = {node: ("both", node) for node in shown[1]}
    items: dict[Key, list[NodeItem]] = {key: [] for key in _in_order(first, second)}
    for keys, cards in ((first, shown[0]), (second, shown[1])):
        for node, key in keys.items():
            items[key].append(cards[node])
    yield
    key_of = {id(item): key for key, cards_of in items.items() for item in cards_of}
    nodes = []
    for key, cards_of in items.items():
        yield
        hosts = [host_of(item) for item in cards_of]
        host = None if None in hosts else hosts[-1]
        hung = key_of.get(id(host)) if host is not None else None
        nodes.append(LayoutNode(key, NODE_WIDTH, max(item.face.height for item in cards_of), hung, _variant(cards_of)))
    edges: dict[_EdgeKey, LayoutEdge[Key]] = {}
    for scene in (new, old):
        for item in scene.folding.edges():
            yield
            name = _edge_name(item, first if scene is old else second)
            if name is not None and name not in edges:
                out, into = item.tail.face.output_y(item.out_port), item.head.face.input_y(item.in_port)
                edges[name] = LayoutEdge(name[0], name[2], name, out, into)
    return Plan(nodes, list(edges.values()), (first, second))


def _variant(items: list[NodeItem]) -> str:
    face = items[-1].face
    return f"{face.title}\n{face.type}" if face.phase and not face.chip else ""


def _in_order(first: Mapping[NodeId, Key], second: Mapping[NodeId, Key]) -> list[Key]:
    """Return all keys in the order of the second net; what only the first has follows what it stood behind."""
    behind: dict[Key | None, list[Key]] = {}
    last: Key | None = None
    there = set(second.values())
    for key in first.values():
        if key in there:
            last = key
        else:
            behind.setdefault(last, []).append(key)
    order = list(behind.get(None, ()))
    for key in second.values():
        order += [key, *behind.get(key, ())]
    return order


def _edge_name(wire: EdgeItem, keys: Mapping[NodeId, Key]) -> _EdgeKey | None:
    source, target = keys.get(wire.tail.node_id), keys.get(wire.head.node_id)
    return None if source is None or target is None else (source, wire.out_port, target, wire.in_port)


def place(scene: CanvasScene, keys: Mapping[NodeId, Key], result: LayoutResult[Key]) -> Iterator[None]:
    """Move one side to its places and lead its wires, a little at each step."""
    positions = scene.document.positions
    points: dict[NodeId, Point] = {}
    for node, key in keys.items():
        yield
        item = scene.folding.item(node)
        if item is None:  # it was taken away since
            continue
        x, y = result.places[key]
        host = host_of(item)
        if host is not None and host.isVisible() and host.node_id in points:
            above = points[host.node_id]  # right under it, however high the other side's card is
            x, y = above.x, above.y + host.face.height + DOCK_GAP
        points[node] = Point(x, y)
        scene.show_soon(item, points[node])
    routes: dict[EdgeKey, Route] = {}
    for wire in scene.folding.edges():
        yield
        name = _edge_name(wire, keys)
        via = result.routes.get(name)
        tail, head = points.get(wire.tail.node_id), points.get(wire.head.node_id)
        if via is not None and tail is not None and head is not None:
            routes[edge_key(wire.edge)] = Route(tuple(Point(*each) for each in via), tail, head)
    positions.routes = routes
    yield
    scene.show_routes(moving=True)
    yield
    positions.move(points, by_user=False)
