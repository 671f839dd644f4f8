"""Folding and unfolding, each one undoable step that leaves the text of the net alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from app.blocks import Block
from app.canvas import edits
from app.canvas.arrange import arrange, arranged_places
from app.canvas.viewcommands import BlockChange, BlockCommand
from app.placement import Point
from engine.errors import GraphError
from engine.graph.repeats import Repeat, repeats_of

if TYPE_CHECKING:
    from app.canvas.blockitem import BlockItem
    from app.canvas.scene import CanvasScene
    from app.canvas.view import CanvasView
    from app.document import Document
    from app.placement import EdgeKey, Route
    from engine.graph import NodeId

__all__ = [
    "chosen_block",
    "collapse",
    "fold_at_start",
    "fold_repeats",
    "fold_soon",
    "is_folded",
    "name_of",
    "rename_block",
    "unfold_block",
]

#: From this many layers on, a net without places of its own opens folded, if that leaves less than half of its cards.
FOLDED_FROM = 100
#: From this many layers on, that is done after the first picture.
FOLDED_LATER_FROM = 1500


def is_folded(document: Document) -> bool:
    """Whether repeated parts are folded."""
    return any(block.kind for block in document.positions.blocks)


def fold_repeats(view: CanvasView) -> None:
    """Fold what is repeated, or unfold all that was folded so.

    Raises
    ------
    GraphError
        When nothing is repeated.
    """
    if is_folded(view.document):
        _unfold_all(view)
        return
    added = _blocks_of(view.document)
    if not added:
        raise GraphError(
            "No part of this net is repeated.", next_step="Select layers and press Alt+C to fold them to a block."
        )
    view.canvas.folding.look_into(None)
    view.canvas.folding.remember_flat()
    _change(view, "Fold repeated blocks", (), added, lay_out=True)
    view.frame()


def fold_soon(view: CanvasView) -> None:
    """Fold a very long net that is shown already: its repeats are looked for in the document's thread."""
    document = view.document
    serial = document.graph.serial

    def finish(repeats: Sequence[Repeat]) -> None:
        if document.graph.serial == serial and fold_at_start(view, repeats=repeats):
            view.frame_start()

    def failed(_error: Exception) -> None:
        """The net was edited meanwhile; it stays as it is shown."""

    document.jobs.submit("repeats", lambda: repeats_of(document.graph), finish, failed)


def fold_at_start(view: CanvasView, least: int = FOLDED_FROM, repeats: Sequence[Repeat] | None = None) -> bool:
    """Fold a net of many layers that is shown for the first time, so that it can be read; return whether it was.

    No step of the history, and nothing that makes the arrangement the user's own.
    """
    scene, document = view.canvas, view.document
    if len(scene.nodes) < least or len(document.positions.blocks):
        return False
    added = _blocks_of(document, repeats)
    folded = sum(len(block.nodes) for block in added)
    if not added or (least and 2 * folded < len(scene.nodes)):
        return False
    positions = document.positions
    scene.folding.remember_flat()
    positions.blocks.replace((), added)
    places, routes = arranged_places(view)
    positions.routes = positions.routes | routes
    scene.show_routes(moving=True)
    positions.move(places, by_user=False)
    return True


def _blocks_of(document: Document, repeats: Sequence[Repeat] | None = None) -> list[Block]:
    """Make a block of each repeat, with a block inside for each of its parts."""
    blocks, graph = document.positions.blocks, document.graph
    made: list[Block] = []
    for repeat in repeats_of(graph) if repeats is None else repeats:
        if any(blocks.home(node) is not None for node in repeat.nodes):
            continue
        names = [name_of(document, unit) for unit in repeat.units]
        title = _span(names[0], names[-1])
        # Parts of one layer each are no blocks of their own.
        single = all(len(unit) == 1 for unit in repeat.units)
        outer = Block(
            blocks.fresh_id(), title, repeat.nodes if single else (), None, len(repeat.units), repeat.alike, repeat.kind
        )
        made += [outer] if single else [outer, *_parts(document, repeat, outer.id, names)]
    return made


def _span(first: str, last: str) -> str:
    """Write from where to where names go: ``res4a–res4b35``, ``inception_4a–4e``."""
    if first == last:
        return first
    common = [a for a, _b in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    cut = max((place for place, letter in enumerate(common, 1) if not letter.isalnum()), default=0)
    return f"{first}\u2013{last[cut:]}"


def _parts(document: Document, repeat: Repeat, outer: NodeId, names: Sequence[str]) -> list[Block]:
    blocks = document.positions.blocks
    return [
        Block(blocks.fresh_id(), name, unit, outer, kind=repeat.kind)
        for name, unit in zip(names, repeat.units, strict=True)
    ]


def name_of(document: Document, nodes: Iterable[NodeId]) -> str:
    """Return how the names of most layers of a part begin: ``res4b7``, ``inception_3a``."""
    graph = document.graph
    heads: Counter[str] = Counter()
    for node in nodes:
        name = graph.node(node).name
        heads[name.split("/")[0] if "/" in name else name.split("_")[0]] += 1
    return heads.most_common(1)[0][0] if heads else "Block"


def _unfold_all(view: CanvasView) -> None:
    document, folding = view.document, view.canvas.folding
    blocks = document.positions.blocks
    removed = [block for block in blocks if block.kind]
    gone = {block.id for block in removed}
    kept = [block for block in blocks if block.id not in gone and block.parent in gone]  # blocks the user made inside
    folding.look_into(None)
    flat = folding.flat
    text = "Unfold repeated blocks"
    added = [replace(block, parent=None) for block in kept]
    _change(view, text, [*removed, *kept], added, places=flat, routes=folding.flat_routes)
    if not flat:
        arrange(view, done=view.frame)
    view.frame()


def collapse(view: CanvasView) -> None:
    """Fold the selection to a block, or unfold the block that is selected.

    Raises
    ------
    GraphError
        When fewer than two layers are selected.
    """
    card = chosen_block(view.canvas)
    if card is not None:
        unfold_block(view, card.node_id)
        return
    scene, document = view.canvas, view.document
    blocks = document.positions.blocks
    movers = edits.with_followers(scene, document.selection.node_ids)
    movers = [*movers, *_in_place_below(scene, movers)]
    if len(movers) < 2:
        raise GraphError("A block is made of several layers.", next_step="Select two or more, and press Alt+C.")
    order = {node: place for place, node in enumerate(document.graph.node_ids())}
    nodes = tuple(sorted((node for node in movers if node in order), key=order.__getitem__))
    inner = [blocks[each] for each in movers if each in blocks]
    level = scene.folding.level
    new = Block(blocks.fresh_id(), f"{name_of(document, nodes or inner_layers(scene, inner))} block", nodes, level)
    removed, added = list(inner), [new, *(replace(block, parent=new.id) for block in inner)]
    if level is not None:
        outer = blocks[level]
        removed.append(outer)
        added.append(replace(outer, nodes=tuple(node for node in outer.nodes if node not in nodes)))
    corner = scene.content_rect(document.selection.node_ids).topLeft()
    _change(view, f"Fold to {new.title}", removed, added, places={new.id: Point(corner.x(), corner.y())})


def inner_layers(scene: CanvasScene, inner: Iterable[Block]) -> list[NodeId]:
    """Return the layers of blocks."""
    return [node for block in inner for node in scene.document.positions.blocks.layers(block.id)]


def _in_place_below(scene: CanvasScene, movers: Iterable[NodeId]) -> list[NodeId]:
    """Layers that work in place on some of ``movers`` go with them, wherever they stand."""
    graph, found = scene.document.graph, dict.fromkeys(movers)
    waiting = [node for node in found if node in graph]
    new: list[NodeId] = []
    while waiting:
        for edge in graph.edges_out(waiting.pop()):
            node = graph.node(edge.target)
            if edge.bottom == 0 and any(node.in_place[:1]) and len(node.bottoms) == 1 and node.id not in found:
                found[node.id] = None
                new.append(node.id)
                waiting.append(node.id)
    return new


def unfold_block(view: CanvasView, block_id: NodeId) -> None:
    """Dissolve one block: what lay in it lies around it."""
    scene, document = view.canvas, view.document
    blocks = document.positions.blocks
    block = blocks[block_id]
    inner = blocks.inside(block_id)
    removed, added = [block, *inner], [replace(each, parent=block.parent) for each in inner]
    if block.parent is not None:
        outer = blocks[block.parent]
        removed.append(outer)
        added.append(replace(outer, nodes=outer.nodes + block.nodes))
    if block.kind:
        _change(view, f"Unfold {block.title}", removed, added, lay_out=True)
        return
    places = _put_back(scene, block)
    _change(view, f"Unfold {block.title}", removed, added, places=places)


def _put_back(scene: CanvasScene, block: Block) -> dict[NodeId, Point]:
    """Where the layers of a block stand once it is dissolved: as they did, from where the card is now."""
    positions = scene.document.positions
    ids = [*block.nodes, *(each.id for each in positions.blocks.inside(block.id))]
    known, card = positions.of(ids), positions.get(block.id)
    if card is None or not known:
        return known
    left, top = min(point.x for point in known.values()), min(point.y for point in known.values())
    return {node: Point(point.x - left + card.x, point.y - top + card.y) for node, point in known.items()}


def rename_block(view: CanvasView, block_id: NodeId, title: str) -> None:
    """Give a block another title."""
    block = view.document.positions.blocks[block_id]
    if title and title != block.title:
        _change(view, f"Rename {block.title} to {title}", [block], [replace(block, title=title)])


def chosen_block(scene: CanvasScene) -> BlockItem | None:
    """Return the card whose layers are what is selected, or None."""
    selected = set(scene.document.selection.node_ids)
    cards = scene.folding.cards.values() if selected else ()
    return next(
        (card for card in cards if len(card.layers) == len(selected) and selected.issuperset(card.layers)), None
    )


def _change(
    view: CanvasView,
    text: str,
    removed: Sequence[Block],
    added: Sequence[Block],
    *,
    places: Mapping[NodeId, Point] | None = None,
    routes: Mapping[EdgeKey, Route] | None = None,
    lay_out: bool = False,
) -> None:
    """Put blocks in the place of others in one undoable step, with new places for what is shown then."""
    document, scene = view.document, view.canvas
    positions = document.positions
    known = positions.of(document.graph.node_ids()) | positions.of(block.id for block in (*removed, *added))
    routes_before = dict(positions.routes)
    positions.touched = True
    positions.routes = positions.routes | dict(routes or {})
    for node, point in (places or {}).items():
        positions.place(node, point.x, point.y)
    positions.blocks.replace(removed, added)
    after = dict(places or {})
    if lay_out:
        after, found = arranged_places(view)
        positions.routes = positions.routes | found
        scene.show_routes(moving=True)
    positions.move(after, by_user=False)
    scene.fit_scene_rect()
    before = {node: known[node] for node in known if lay_out or node in after}
    change = BlockChange(tuple(removed), tuple(added), before, after, routes_before, dict(positions.routes))
    document.undo_stack.push(BlockCommand(text, positions, change, partial(_failed, document)))


def _failed(document: Document, error: Exception) -> None:
    document.edit_failed.emit(str(error))
