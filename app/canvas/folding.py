"""Which cards a scene shows: layers by themselves, or the blocks in which they are folded.

The items of all layers stay in the scene; those that are folded are hidden, and a card stands for them. One level is
seen at a time: the outermost, or the inside of one block.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.canvas.blockitem import BlockItem, Ends, describe_block
from app.canvas.costs import NodeCosts
from app.canvas.face import Face
from app.placement import edge_key
from app.qt import guard

if TYPE_CHECKING:
    from app.blocks import Block
    from app.canvas.edgeitem import EdgeItem
    from app.canvas.nodeitem import NodeItem
    from app.canvas.scene import CanvasScene
    from app.placement import EdgeKey, Point, Route
    from engine.graph import NodeId

__all__ = ["Folding"]

End = tuple["NodeId", int]
_Ends = tuple["EdgeItem", "NodeItem | None", "NodeItem | None"]


class Folding:
    """Folds the picture of one scene.

    Attributes
    ----------
    level : NodeId or None
        The block that is looked into.
    cards : dict of BlockItem
        Cards of blocks on this level, by block.
    fresh : set of NodeId
        Blocks that were made by the program, and are laid out when they are looked into for the first time.
    flat, flat_routes : dict
        Where the layers stood before they were folded, and the courses of their wires; see :meth:`remember_flat`.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._blocks = scene.document.positions.blocks
        self.level: NodeId | None = None
        self.cards: dict[NodeId, BlockItem] = {}
        self.costs = NodeCosts(scene.document)
        self.fresh: set[NodeId] = set()
        self.flat: dict[NodeId, Point] = {}
        self.flat_routes: dict[EdgeKey, Route] = {}
        self._folded = False
        self._known = {block.id for block in self._blocks}
        self._blocks.changed.connect(self._blocks_changed)
        self.refresh()

    def close(self) -> None:
        """Let go of the document."""
        self._blocks.changed.disconnect(self._blocks_changed)
        self.cards.clear()

    # What is shown

    def items(self) -> list[NodeItem]:
        """Return the cards on this level: of layers, then of blocks."""
        nodes = self._scene.nodes.values()
        if not self._folded:
            return list(nodes)
        return [item for item in nodes if item.isVisible()] + list(self.cards.values())

    def edges(self) -> list[EdgeItem]:
        """Return the wires on this level."""
        edges = self._scene.edges.values()
        return [edge for edge in edges if edge.isVisible()] if self._folded else list(edges)

    def item(self, node: NodeId) -> NodeItem | None:
        """Return the item of a layer, whether shown or not, or the card of a block on this level."""
        return self._scene.nodes.get(node) or self.cards.get(node)

    def shown(self, node: NodeId) -> NodeItem | None:
        """Return the card that stands for a layer on this level; None where it lies elsewhere."""
        if not self._folded:
            return self._scene.nodes.get(node)
        place: NodeId | None = node
        while place is not None and self._blocks.home(place) != self.level:
            place = self._blocks.home(place)
        return self.item(place) if place is not None else None

    def card(self, node: NodeId) -> NodeItem:
        """Return the card that stands for a layer on this level; its own where it lies on another one."""
        return self.shown(node) or self._scene.nodes[node]

    def movers(self, nodes: Iterable[NodeId]) -> list[NodeId]:
        """Return whose places change when layers are moved: theirs, or those of the cards that stand for them."""
        if not self._folded:
            return list(nodes)
        items = (self.shown(node) for node in nodes)
        return list(dict.fromkeys(item.node_id for item in items if item is not None))

    def level_of(self, node: NodeId) -> NodeId | None:
        """Return the block that must be looked into to see a layer."""
        return self._blocks.home(node)

    def look_into(self, level: NodeId | None) -> None:
        """Show the inside of a block, or the outermost level."""
        if level != self.level and (level is None or level in self._blocks):
            self.level = level
            self._blocks_changed()
            self._scene.level_changed.emit()

    def remember_flat(self) -> None:
        """Remember where everything stands, to put it back when it is unfolded."""
        positions = self._scene.document.positions
        self.flat = positions.of(self._scene.nodes)
        self.flat_routes = dict(positions.routes)

    def leave(self) -> None:
        """Show what is around the block that is looked into."""
        if self.level is not None:
            self.look_into(self._blocks.home(self.level))

    # Following the document

    @guard
    def _blocks_changed(self) -> None:
        before = self.level
        self.refresh()
        self._scene.told_shown()
        if self.level != before:
            self._scene.level_changed.emit()

    def refresh(self, added: Iterable[NodeId] = ()) -> None:
        """Show what is to be seen on this level; ``added`` are layers that are new."""
        blocks = self._blocks
        self.fresh |= {block.id for block in blocks if block.kind and block.id not in self._known}
        self._known = {block.id for block in blocks}
        while self.level is not None and self.level not in blocks:
            self.level = None
        if self.level is not None:
            blocks.adopt(added, self.level)
        if not len(blocks) and not self._folded:
            return
        self._folded = bool(len(blocks))
        cards = {block.id: block for block in blocks.inside(self.level) if self._layers(block)}
        for block_id in [each for each in self.cards if each not in cards]:
            self._scene.removeItem(self.cards.pop(block_id))
        for block in cards.values():
            self._card(block)
        shown = self._all_shown()
        for node, item in self._scene.nodes.items():
            item.setVisible(shown[node] is item)
        self._lead_edges(shown)

    def _all_shown(self) -> dict[NodeId, NodeItem | None]:
        """Return the cards that stand for all layers; see :meth:`shown`."""
        blocks, level = self._blocks, self.level
        cards: dict[NodeId | None, NodeItem | None] = {None: None}
        shown: dict[NodeId, NodeItem | None] = {}
        for node, item in self._scene.nodes.items():
            home = blocks.home(node)
            if home == level:
                shown[node] = item
                continue
            if home not in cards:
                cards[home] = self.shown(node)
            shown[node] = cards[home]
        return shown

    def _layers(self, block: Block) -> tuple[NodeId, ...]:
        nodes = self._scene.nodes
        return tuple(node for node in self._blocks.layers(block.id) if node in nodes)

    def _card(self, block: Block) -> None:
        card = self.cards.get(block.id)
        if card is None:
            card = BlockItem(block, Face(block.title, block.kind, "other"), self._scene.style_set)
            self.cards[block.id] = card
            self._scene.addItem(card)
        point = self._scene.document.positions.get(block.id)
        if point is not None:
            card.setPos(point.x, point.y)
        card.layers = self._layers(block)
        card.edges.clear()
        card.wired_inputs.clear()
        card.ends = Ends()

    def _lead_edges(self, shown: dict[NodeId, NodeItem | None]) -> None:
        """Lead the wires to the cards that are shown, and hide those inside of a card or elsewhere."""
        across: list[tuple[EdgeItem, NodeItem, NodeItem]] = []
        read: set[tuple[NodeId, int]] = set()
        for item, tail, head in self._in_order(shown):
            read.add((item.edge.source, item.edge.top))
            if tail is head:
                item.setVisible(False)
                continue
            self._note_ends(item, tail, head)
            if tail is None or head is None:
                item.setVisible(False)
            else:
                across.append((item, tail, head))
        resized = set()
        for card in self.cards.values():
            self._note_unread(card, read)
            if self._describe(card):
                resized.add(card)
        ports: dict[NodeItem, tuple[dict[End, int], dict[End, int]]] = {
            card: (_numbered(card.ends.inputs), _numbered(card.ends.outputs)) for card in self.cards.values()
        }
        taken: set[tuple[object, ...]] = set()
        for item, tail, head in across:
            edge = item.edge
            port = (edge.source, edge.top)
            out = ports[tail][1][port] if tail in ports else edge.top
            into = ports[head][0][port] if head in ports else edge.bottom
            ends = (tail, out, head, into)
            if tail in ports:
                tail.edges.add(item)
            if head in ports:
                head.edges.add(item)
                head.wired_inputs[into] = head.wired_inputs.get(into, 0) + 1
            is_first = (*ends, edge.phases) not in taken
            taken.add((*ends, edge.phases))
            self._lead(item, ends, is_first=is_first, moved=tail in resized or head in resized)

    def _in_order(self, shown: dict[NodeId, NodeItem | None]) -> list[_Ends]:
        """Return all wires with their cards; those of blocks in the order of the text, whatever was edited before."""
        plain: list[_Ends] = []
        of_blocks: list[_Ends] = []
        for edge, item in self._scene.edges.items():
            tail, head = shown.get(edge.source), shown.get(edge.target)
            is_of_block = tail is not head and (isinstance(tail, BlockItem) or isinstance(head, BlockItem))
            (of_blocks if is_of_block else plain).append((item, tail, head))
        ordinal = self._scene.document.graph.ordinal

        def place(ends: _Ends) -> tuple[int, int, int, int]:
            edge = ends[0].edge
            return ordinal(edge.source), edge.top, ordinal(edge.target), edge.bottom

        return [*plain, *sorted(of_blocks, key=place)]

    def _lead(self, item: EdgeItem, ends: tuple[NodeItem, int, NodeItem, int], *, is_first: bool, moved: bool) -> None:
        """Join two cards by a wire; of wires that would lie on each other the first is shown."""
        route = self._scene.document.positions.routes.get(edge_key(item.edge))
        same = ends == (item.tail, item.out_port, item.head, item.in_port) and route is item.route
        comes = is_first and not item.isVisible()
        item.join(*ends)
        item.route = route
        item.setVisible(is_first)
        if is_first and (comes or moved or not same):
            item.update_path()

    @staticmethod
    def _note_ends(item: EdgeItem, tail: NodeItem | None, head: NodeItem | None) -> None:
        edge = item.edge
        port = (edge.source, edge.top)
        if isinstance(tail, BlockItem):
            tail.ends.outputs.setdefault(port, port)
        if isinstance(head, BlockItem):
            head.ends.inputs.setdefault(port, (edge.target, edge.bottom))

    def _note_unread(self, card: BlockItem, read: set[tuple[NodeId, int]]) -> None:
        """Results of a net are outputs of the block that makes them."""
        graph = self._scene.document.graph
        for node in card.layers:
            for top in range(len(graph.node(node).tops)):
                if (node, top) not in read:
                    card.ends.outputs.setdefault((node, top), (node, top))

    # What the cards tell

    def refresh_faces(self) -> None:
        """Describe the cards of this level anew."""
        for card in self.cards.values():
            if self._describe(card):
                for edge in card.edges:
                    edge.update_path()

    def _describe(self, card: BlockItem) -> bool:
        block = self._blocks[card.node_id]
        card.input_ends = list(card.ends.inputs.values())
        card.output_ends = list(card.ends.outputs.values())
        card.marked = any(node in self._scene.document.selection for node in card.layers)
        return card.set_face(describe_block(self._scene.document, block, card.layers, card.ends, self.costs))

    def refresh_marks(self) -> None:
        """Show which blocks hold something that is selected."""
        selection = self._scene.document.selection
        for card in self.cards.values():
            marked = any(node in selection for node in card.layers) if len(selection) else False
            if marked != card.marked:
                card.marked = marked
                card.update()
                for edge in card.edges:
                    edge.update()


def _numbered(ends: Iterable[End]) -> dict[End, int]:
    return {end: number for number, end in enumerate(ends)}
