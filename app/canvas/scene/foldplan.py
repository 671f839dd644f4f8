"""What folding makes of a net: its blocks, and where their cards stand, found without touching the canvas.

All of it is plain data, so that a thread may work it out while the window answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import TYPE_CHECKING

from app.canvas.layout.layout import LayoutEdge, LayoutNode, Room, lay_out
from app.canvas.scene.face import NODE_WIDTH, Face, Port
from app.document.blocks import Block
from app.document.placement import Point, Route, edge_key
from engine.graph import NodeId

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from app.document.placement import EdgeKey
    from engine.graph import Edge, OpGraph
    from engine.graph.repeats import Repeat

__all__ = ["FoldPlan", "Seen", "blocks_of", "name_of", "plan_fold", "seen"]

#: A wire as the port it comes from.
_End = tuple[NodeId, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a plan needs to know of a canvas that shows the outermost level.

    Attributes
    ----------
    homes : dict
        The blocks that there are, by the layers in them.
    last : int
        Blocks made after that one have the ids below its negative.
    stands : dict
        By layer that is folded already: the block whose card stands for it.
    faces : dict of Face
        Of all layers and cards.
    """

    homes: Mapping[NodeId, NodeId]
    last: int
    stands: Mapping[NodeId, NodeId]
    faces: Mapping[NodeId, Face]


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """Blocks that are to be made, the places of what is shown then, its wires, and the courses of some of these."""

    blocks: tuple[Block, ...]
    places: dict[NodeId, Point]
    routes: dict[EdgeKey, Route]
    shown: frozenset[EdgeKey] = frozenset()

    def take_routes(self, known: Mapping[EdgeKey, Route]) -> dict[EdgeKey, Route]:
        """Return the courses of wires that there were, with those that were found for what is shown in their place."""
        return {key: route for key, route in known.items() if key not in self.shown} | self.routes

    @property
    def layers(self) -> int:
        """How many layers the blocks hold."""
        return sum(len(block.nodes) for block in self.blocks)


def seen(scene: CanvasScene) -> Seen:
    """Copy what :func:`plan_fold` needs."""
    scene.folding.finish()
    blocks, cards = scene.document.positions.blocks, scene.folding.cards
    return Seen(
        dict(blocks.homes),
        blocks.last,
        {node: card.node_id for card in cards.values() for node in card.layers},
        {node: item.face for node, item in (*scene.nodes.items(), *cards.items())},
    )


def plan_fold(graph: OpGraph, repeats: Sequence[Repeat], known: Seen, room: Room) -> FoldPlan:
    """Plan the folding of what is repeated.

    Parameters
    ----------
    graph : OpGraph
        The net, in which nothing changes meanwhile.
    repeats : sequence of Repeat
        See :func:`engine.graph.repeats.repeats_of`.
    known : Seen
        What is shown now.
    room : Room
        The view in which it is to be read.
    """
    blocks = blocks_of(graph, repeats, known)
    if not blocks:
        return FoldPlan((), {}, {})
    picture = _Picture(graph, known, blocks)
    result = lay_out(picture.nodes(), picture.edges(), room)
    places = {node: Point(*place) for node, place in result.places.items()}
    routes = {}
    for edge, (tail, head) in picture.ends.items():
        via = result.routes.get(edge)
        if via is not None:
            routes[edge_key(edge)] = Route(tuple(Point(*each) for each in via), places[tail], places[head])
    return FoldPlan(blocks, places, routes, frozenset(map(edge_key, picture.ends)))


def blocks_of(graph: OpGraph, repeats: Iterable[Repeat], known: Seen) -> tuple[Block, ...]:
    """Make a block of each repeat, with a block inside for each of its parts."""
    return tuple(_blocks(graph, repeats, known))


def _blocks(graph: OpGraph, repeats: Iterable[Repeat], known: Seen) -> Iterator[Block]:
    ids = (NodeId(-number) for number in count(known.last + 1))
    for repeat in repeats:
        if any(node in known.homes for node in repeat.nodes):
            continue
        names = [name_of(graph, unit) for unit in repeat.units]
        title = _span(names[0], names[-1])
        # Parts of one layer each are no blocks of their own.
        single = all(len(unit) == 1 for unit in repeat.units)
        nodes = repeat.nodes if single else ()
        outer = Block(next(ids), title, nodes, None, len(repeat.units), repeat.alike, repeat.kind)
        yield outer
        for name, unit in zip(names, repeat.units, strict=True) if not single else ():
            yield Block(next(ids), name, unit, outer.id, kind=repeat.kind)


def _span(first: str, last: str) -> str:
    """Write from where to where names go: ``res4a–res4b35``, ``inception_4a–4e``."""
    if first == last:
        return first
    common = [a for a, _b in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    cut = max((place for place, letter in enumerate(common, 1) if not letter.isalnum()), default=0)
    return f"{first}\u2013{last[cut:]}"


def name_of(graph: OpGraph, nodes: Iterable[NodeId]) -> str:
    """Return how the names of most layers of a part begin: ``res4b7``, ``inception_3a``."""
    readings = graph.readings()
    heads: Counter[str] = Counter()
    for node in nodes:
        name = readings[node].name
        heads[name.split("/")[0] if "/" in name else name.split("_")[0]] += 1
    return heads.most_common(1)[0][0] if heads else "Block"


class _Picture:
    """The outermost level as it will be: its cards and wires, for the layout.

    Attributes
    ----------
    ends : dict
        By wire that is shown: the cards that it joins.
    """

    def __init__(self, graph: OpGraph, known: Seen, blocks: Sequence[Block]) -> None:
        self._graph = graph
        self._known = known
        self._stands = dict(known.stands)
        self._made = {block.id: block for block in blocks if block.parent is None}
        for block in blocks:
            self._stands.update(dict.fromkeys(block.nodes, block.id if block.parent is None else block.parent))
        self._cards = set(self._stands.values())
        self.ends: dict[Edge, tuple[NodeId, NodeId]] = {}
        self._inputs: dict[NodeId, dict[_End, int]] = {card: {} for card in self._cards}
        self._outputs: dict[NodeId, dict[_End, int]] = {card: {} for card in self._cards}
        self._hosts: dict[NodeId, NodeId] = {}
        self._join()

    def _join(self) -> None:
        """Find the ports of the cards, as :class:`app.canvas.scene.foldwires.FoldedWires` will."""
        ordinal, faces, stands = self._graph.ordinal, self._known.faces, self._stands
        taken: set[Hashable] = set()
        read: set[_End] = set()
        for edge in sorted(self._graph.edges(), key=lambda e: (ordinal(e.source), e.top, ordinal(e.target), e.bottom)):
            port = edge.source, edge.top
            read.add(port)
            tail, head = stands.get(edge.source, edge.source), stands.get(edge.target, edge.target)
            if tail == head:
                continue
            out = self._outputs[tail].setdefault(port, len(self._outputs[tail])) if tail in self._cards else edge.top
            into = self._inputs[head].setdefault(port, len(self._inputs[head])) if head in self._cards else edge.bottom
            if (tail, out, head, into, edge.phases) not in taken:
                taken.add((tail, out, head, into, edge.phases))
                self.ends[edge] = tail, head
            if head == edge.target and edge.bottom == 0 and faces[head].chip:
                self._hosts.setdefault(head, edge.source)
        readings = self._graph.readings()
        for node, card in stands.items():
            for top in range(len(readings[node].tops)):
                if (node, top) not in read:
                    self._outputs[card].setdefault((node, top), len(self._outputs[card]))

    def _face(self, card: NodeId) -> Face:
        """Return a face, that of a block that is to be made as far as its size goes."""
        block = self._made.get(card)
        if block is None:
            return self._known.faces[card]
        ports = [tuple([Port("", "")] * len(side[card])) for side in (self._inputs, self._outputs)]
        rows = 2 + (1 < block.alike < block.parts)
        return Face(block.title, block.kind, "other", ports[0], ports[1], params=(("", ""),) * rows)

    def nodes(self) -> list[LayoutNode[NodeId]]:
        """Return the cards, in document order."""
        found: dict[NodeId, LayoutNode[NodeId]] = {}
        for node in self._graph.nodes():
            card = self._stands.get(node.id, node.id)
            if card in found:
                continue
            host = self._hosts.get(card)
            variant = ""
            if card == node.id and host is None and len(node.phases) == 1:
                variant = "\n".join(node.tops) or node.name
            hung = host if host is not None and host not in self._stands else None
            found[card] = LayoutNode(card, NODE_WIDTH, self._face(card).height, hung, variant)
        return list(found.values())

    def edges(self) -> list[LayoutEdge[NodeId]]:
        """Return the wires that are shown."""
        faces = {card: self._face(card) for card in self._cards}
        known = self._known.faces
        found = []
        for edge, (tail, head) in self.ends.items():
            port = edge.source, edge.top
            out = self._outputs[tail][port] if tail in self._cards else edge.top
            into = self._inputs[head][port] if head in self._cards else edge.bottom
            levels = (faces.get(tail) or known[tail]).output_y(out), (faces.get(head) or known[head]).input_y(into)
            found.append(LayoutEdge(tail, head, edge, *levels))
        return found
