"""Which cards a scene shows: layers by themselves, or the blocks in which they are folded.

The items of all layers stay in the scene; those that are folded are hidden, and a card stands for them. One level is
seen at a time: the outermost, or the inside of one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from app.canvas.scene.blockitem import BlockItem, describe_block
from app.canvas.scene.costs import NodeCosts
from app.canvas.scene.face import Face
from app.canvas.scene.foldwires import FoldedWires
from app.qt import guard
from app.slices import Slices

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document.blocks import Block
    from app.document.placement import EdgeKey, Point, Route
    from engine.graph import Events, NodeId

__all__ = ["Folding"]

#: From so many layers on wires are joined to cards in slices, between which the window answers.
_VAST = 1000


class Folding:
    """Folds the picture of one scene.

    Attributes
    ----------
    level : NodeId or None
        The block that is looked into.
    cards : dict of BlockItem
        Cards of blocks on this level, by block.
    seeking : bool
        Whether what is repeated is being looked for, to be folded then.
    fresh : set of NodeId
        Blocks that were made by the program, and are laid out when they are looked into for the first time.
    flat, flat_routes : dict
        Where the layers stood before they were folded, and the courses of their wires; see :meth:`remember_flat`.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._blocks = scene.document.positions.blocks
        self._wires = FoldedWires(scene)
        self._faces = Slices(scene)
        self._wiring = Slices(scene)
        self._awaited: tuple[NodeId | None, Callable[[], object]] | None = None
        self.level: NodeId | None = None
        self.cards: dict[NodeId, BlockItem] = {}
        self.costs = NodeCosts(scene.document)
        self.seeking = False
        self.fresh: set[NodeId] = set()
        self.flat: dict[NodeId, Point] = {}
        self.flat_routes: dict[EdgeKey, Route] = {}
        self._folded = False
        self._shown: dict[NodeId, NodeItem | None] = {}
        self._items: list[NodeItem] | None = None
        self._known = {block.id for block in self._blocks}
        self._blocks.changed.connect(self._blocks_changed)

    def close(self) -> None:
        """Let go of the document."""
        self._blocks.changed.disconnect(self._blocks_changed)
        self._faces.cancel()
        self._wiring.cancel()
        self.cards.clear()
        self._shown.clear()
        self._items = None

    # What is shown

    def items(self) -> list[NodeItem]:
        """Return the cards on this level: of layers, then of blocks; a list that is not to be changed."""
        nodes = self._scene.nodes
        if not self._folded:
            return list(nodes.values())
        if self._items is None:  # many ask while nothing is shown anew
            shown = self._shown
            self._items = [item for node, item in nodes.items() if shown.get(node) is item]
            self._items += self.cards.values()
        return self._items

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
        place = self._place(node)
        return self.item(place) if place is not None else None

    def _place(self, node: NodeId) -> NodeId | None:
        """Return the layer, or the block of this level in which it lies; None where it lies on another one."""
        place: NodeId | None = node
        while place is not None and self._blocks.home(place) != self.level:
            place = self._blocks.home(place)
        return place

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

    def seek(self, *, on: bool) -> None:
        """Note that what is repeated is being looked for, or is no more."""
        if on != self.seeking:
            self.seeking = on
            self._scene.seeking_changed.emit()

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
        self._show()
        if not self._blocks.moving:
            self._scene.lead_stale()
        self._scene.told_shown()
        if self.level != before:
            self._scene.level_changed.emit()

    def refresh(self) -> None:
        """Show what is to be seen on this level."""
        if self._show():
            self._scene.lead_stale()

    def _show(self) -> bool:
        """The same, with wires that are still to be led; return whether anything is or was folded."""
        blocks = self._blocks
        self.fresh |= {block.id for block in blocks if block.kind and block.id not in self._known}
        self._known = {block.id for block in blocks}
        while self.level is not None and self.level not in blocks:
            self.level = None
        if not len(blocks) and not self._folded:
            return False
        self._folded = bool(len(blocks))
        self._items = None
        self._scene.overview.forget()
        self._scene.update()  # all at once: Qt need not note the old and the new place of each item
        layers = {block: self._layers(block) for block in blocks.inside(self.level)}
        there = {block.id for block, nodes in layers.items() if nodes}
        for block_id in [each for each in self.cards if each not in there]:
            self._scene.removeItem(self.cards.pop(block_id))
        for block, nodes in layers.items():
            if nodes:
                self._card(block, nodes)
        self._shown = self._all_shown()
        for node, item in self._scene.nodes.items():
            visible = self._shown[node] is item
            if item.isVisible() != visible:
                item.setVisible(visible)
        steps = self._wires.lead_all(self._shown, tuple(self.cards.values()), self._describe)
        if len(self._scene.nodes) < _VAST or not self._scene.is_built:
            for _step in steps:
                pass
        else:
            for wire in self._scene.edges.values():
                wire.stale = True  # and so not painted
            self._wiring.start(steps, self._wired)
        return True

    @property
    def is_wired(self) -> bool:
        """Whether all wires join the cards that are shown."""
        return not self._wiring.active

    def finish(self) -> None:
        """Join the wires of a very long net now, which are joined in slices else."""
        self._wiring.finish()

    def when_wired(self, action: Callable[[], object]) -> None:
        """Do something once all wires are joined, if the same level is shown then still: now, or after the slices."""
        if self.is_wired:
            action()
        else:
            self._awaited = self.level, action

    def _wired(self) -> None:
        self._scene.lead_stale()
        self._scene.overview.forget()
        self._scene.overview_changed.emit()
        self._scene.update()
        awaited, self._awaited = self._awaited, None
        if awaited is not None and awaited[0] == self.level:
            awaited[1]()

    def replay(self, events: Events, *, whole: bool = False) -> None:
        """Follow a change of the net, of which the scene has the items already.

        Only what changed is looked at; everything where ``whole`` says that other wires came or went too.
        """
        self.finish()
        self._blocks.note_removed(events.removed)
        if self.level is not None:
            self._blocks.adopt(events.added, self.level)
        if not self._folded:
            return
        self._items = None
        gone = {self._shown.pop(node, None) for node in events.removed}
        new = [node for node in events.added if node in self._scene.nodes]
        self._make_cards(new)
        self._shown.update((node, self.shown(node)) for node in new)
        if whole:
            self.refresh()
            return
        dirty = self._cards_at(events, new) | {card for card in gone if isinstance(card, BlockItem)}
        for card in tuple(dirty):
            layers = self._layers(self._blocks[card.node_id])
            if layers:
                card.layers = layers
            else:
                dirty.discard(card)
                self._scene.removeItem(self.cards.pop(card.node_id))
        for node in new:
            self._scene.nodes[node].setVisible(self._shown[node] is self._scene.nodes[node])
        edges = self._scene.edges
        wires = [edges[edge] for edge in events.edges_added if edge in edges]
        self._wires.lead_some(wires, self._shown, dirty, self._describe)
        self._scene.lead_stale()

    def _make_cards(self, new: Iterable[NodeId]) -> None:
        """Make the cards of blocks that had no layers, as when all were deleted, and have some again."""
        for node in new:
            place = self._place(node)
            if place is not None and self.item(place) is None:
                self._card(self._blocks[place], self._layers(self._blocks[place]))

    def _cards_at(self, events: Events, new: Iterable[NodeId]) -> set[BlockItem]:
        """Return the cards at which something changed, were it that their ports are in another order."""
        nodes = self._scene.nodes
        wires = [wire.edge for node in events.moved if node in nodes for wire in nodes[node].edges]
        ends = {
            end for edge in (*events.edges_added, *events.edges_removed, *wires) for end in (edge.source, edge.target)
        }
        cards = {self._shown.get(node) for node in ends | events.changed | events.moved | set(new)}
        return {card for card in cards if isinstance(card, BlockItem)}

    def _all_shown(self) -> dict[NodeId, NodeItem | None]:
        """Return the cards that stand for all layers; see :meth:`shown`."""
        homes, level = self._blocks.homes, self.level
        cards: dict[NodeId | None, NodeItem | None] = {}
        shown: dict[NodeId, NodeItem | None] = {}
        for node, item in self._scene.nodes.items():
            home = homes.get(node)
            if home == level:
                shown[node] = item
                continue
            if home not in cards:
                cards[home] = self.shown(node) if home is not None else None
            shown[node] = cards[home]
        return shown

    def _layers(self, block: Block) -> tuple[NodeId, ...]:
        nodes, layers = self._scene.nodes, self._blocks.layers(block.id)
        return layers if all(map(nodes.__contains__, layers)) else tuple(filter(nodes.__contains__, layers))

    def _card(self, block: Block, layers: tuple[NodeId, ...]) -> None:
        card = self.cards.get(block.id)
        if card is None:
            card = BlockItem(block, Face(block.title, block.kind, "other"), self._scene.style_set)
            self.cards[block.id] = card
            self._scene.addItem(card)
        point = self._scene.document.positions.get(block.id)
        if point is not None and (card.x(), card.y()) != point:
            card.setPos(point.x, point.y)
        card.layers = layers

    # What the cards tell

    def refresh_faces(self) -> None:
        """Describe the cards of this level anew, in slices where there are many."""
        if self.cards:
            self._faces.start(self._refreshed())

    def _refreshed(self) -> Iterator[None]:
        for block_id in tuple(self.cards):
            card = self.cards.get(block_id)
            for node in card.layers if card is not None else ():
                if node in self._scene.nodes:
                    self.costs.of(node)  # which are kept, so that no card of thousands takes them all at once
                    yield
            card = self.cards.get(block_id)
            if card is not None and self._describe(card):
                for edge in card.edges:
                    edge.update_path()
                self._scene.overview.follow([card], card.edges)
            yield

    def _describe(self, card: BlockItem) -> bool:
        card.input_ends = list(card.ends.inputs.values())
        card.output_ends = list(card.ends.outputs.values())
        card.marked = self._is_marked(card)
        nodes = self._scene.nodes
        faces = [nodes[node].face for node in card.layers]
        block = self._blocks[card.node_id]
        return card.set_face(describe_block(self._scene.document, block, card, faces, self.costs))

    def _is_marked(self, card: BlockItem) -> bool:
        selection = self._scene.document.selection
        return bool(len(selection)) and any(node in selection for node in card.layers)

    def refresh_marks(self) -> None:
        """Show which blocks hold something that is selected."""
        selected = set(self._scene.document.selection.node_ids)
        for card in self.cards.values():
            marked = not selected.isdisjoint(card.layers) if selected else False
            if marked != card.marked:
                card.marked = marked
                card.update()
                for edge in card.edges:
                    edge.update()
