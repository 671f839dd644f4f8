"""Wires of folded layers: which cards they join, and the ports that the cards have for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from app.canvas.scene.blockitem import BlockItem, Ends
from app.document.placement import edge_key

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import NodeId

__all__ = ["FoldedWires"]

#: Which card stands for a layer; None where it lies on another level.
Shown = Mapping["NodeId", "NodeItem | None"]


class FoldedWires:
    """Joins the wires of one scene to the cards that are shown; those that must be led anew are left stale.

    A card's ports follow from the wires that cross its edge alone, so that after an edit only the cards at which
    something changed are looked at.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene

    def lead_all(
        self, shown: Shown, cards: Iterable[BlockItem], describe: Callable[[BlockItem], bool]
    ) -> Iterator[None]:
        """Lead all wires, one a step; nothing may come or go meanwhile.

        Parameters
        ----------
        shown : mapping of NodeId to NodeItem or None
            For all layers.
        cards : iterable of BlockItem
            All cards of blocks on this level.
        describe : callable
            Gives a card its face; returns whether its size changed.
        """
        crossing: list[EdgeItem] = []
        routes, card_of = self._scene.document.positions.routes, shown.get
        for edge, item in self._scene.edges.items():
            tail, head = card_of(edge.source), card_of(edge.target)
            if tail is head:
                if item.isVisible():
                    item.setVisible(False)
            elif isinstance(tail, BlockItem) or isinstance(head, BlockItem):
                crossing.append(item)
            elif tail is None or head is None:
                item.setVisible(False)
            else:
                rerouted = routes.get(edge_key(edge)) is not item.route
                self._join(item, (tail, edge.top, head, edge.bottom), moved=rerouted)
            yield
        yield from self._settle(crossing, shown, set(cards), describe)

    def lead_some(
        self, wires: Iterable[EdgeItem], shown: Shown, cards: set[BlockItem], describe: Callable[[BlockItem], bool]
    ) -> None:
        """Lead wires that are new, and those of cards at which something changed; see :meth:`lead_all`."""
        nodes = self._scene.nodes
        near = dict.fromkeys(wires)
        for card in cards:
            near.update((edge, None) for node in card.layers for edge in nodes[node].edges)
        crossing: list[EdgeItem] = []
        for item in near:
            tail, head = shown.get(item.edge.source), shown.get(item.edge.target)
            if tail is not head and (isinstance(tail, BlockItem) or isinstance(head, BlockItem)):
                crossing.append(item)
            elif tail is head or tail is None or head is None:
                item.setVisible(False)
            else:
                self._join(item, (tail, item.edge.top, head, item.edge.bottom), moved=False)
        for _step in self._settle(crossing, shown, cards, describe):
            pass

    def _settle(
        self, crossing: list[EdgeItem], shown: Shown, cards: set[BlockItem], describe: Callable[[BlockItem], bool]
    ) -> Iterator[None]:
        """Find the ports of cards, in the order of the text whatever was edited before, and join the wires to them."""
        ordinal = self._scene.document.graph.ordinal

        def place(item: EdgeItem) -> tuple[int, int, int, int]:
            edge = item.edge
            return ordinal(edge.source), edge.top, ordinal(edge.target), edge.bottom

        crossing.sort(key=place)
        for card in cards:
            card.ends = Ends()
            card.edges.clear()
            card.wired_inputs.clear()
        for item in crossing:
            edge = item.edge
            port = edge.source, edge.top
            tail, head = shown.get(edge.source), shown.get(edge.target)
            if tail in cards:
                tail.ends.outputs.setdefault(port, port)
            if head in cards:
                head.ends.inputs.setdefault(port, (edge.target, edge.bottom))
            yield
        resized = set()
        for card in cards:
            self._note_unread(card)
            card.ends.number()
            if describe(card):
                resized.add(card)
            yield
        self._join_crossing(crossing, shown, cards, resized)

    def _join_crossing(
        self, crossing: Iterable[EdgeItem], shown: Shown, cards: set[BlockItem], resized: set[BlockItem]
    ) -> None:
        taken: set[tuple[object, ...]] = set()
        for item in crossing:
            edge = item.edge
            port = edge.source, edge.top
            tail, head = shown.get(edge.source), shown.get(edge.target)
            if tail is None or head is None:
                item.setVisible(False)
                continue
            out = tail.ends.out_ports[port] if isinstance(tail, BlockItem) else edge.top
            into = head.ends.in_ports[port] if isinstance(head, BlockItem) else edge.bottom
            if isinstance(tail, BlockItem):
                tail.edges.add(item)
            if isinstance(head, BlockItem):
                head.edges.add(item)
                if head in cards:
                    head.wired_inputs[into] = head.wired_inputs.get(into, 0) + 1
            ends = tail, out, head, into
            if (*ends, edge.phases) in taken:  # of wires that would lie on each other the first is shown
                item.join(*ends)
                item.setVisible(False)
                continue
            taken.add((*ends, edge.phases))
            self._join(item, ends, moved=tail in resized or head in resized)

    def _join(self, item: EdgeItem, ends: tuple[NodeItem, int, NodeItem, int], *, moved: bool) -> None:
        """Show a wire between two cards; it keeps its course where that is right, and is stale where not."""
        visible = item.isVisible()
        same = ends == (item.tail, item.out_port, item.head, item.in_port)
        if visible and same and not moved:
            return
        route = self._scene.document.positions.routes.get(edge_key(item.edge))
        item.stale = item.stale or moved or not same or route is not item.route
        item.join(*ends)
        item.route = route
        if not visible:
            item.setVisible(True)

    def _note_unread(self, card: BlockItem) -> None:
        """Results of a net are outputs of the block that makes them."""
        for port in self._scene.unread(card.layers):
            card.ends.outputs.setdefault(port, port)
