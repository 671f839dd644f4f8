"""Folding and unfolding, each one undoable step that leaves the text of the net alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.canvas.edits import edits
from app.canvas.edits.arrange import arrange, arranged_places, room_of
from app.canvas.edits.blockcommand import BlockChange, BlockCommand
from app.canvas.scene.foldplan import FoldPlan, blocks_of, name_of, plan_fold, seen
from app.document.blocks import Block
from app.document.placement import Point
from app.wording import by_key
from engine.errors import GraphError
from engine.graph.repeats import Repeat, repeats_of

if TYPE_CHECKING:
    from app.canvas.navigation import Look
    from app.canvas.scene.blockitem import BlockItem
    from app.canvas.scene.scene import CanvasScene
    from app.canvas.view import CanvasView
    from app.document import Document
    from app.document.placement import EdgeKey, Route
    from engine.graph import NodeId

__all__ = [
    "chosen_block",
    "collapse",
    "fold_at_start",
    "fold_first",
    "fold_repeats",
    "is_folded",
    "name_of",
    "rename_block",
    "unfold_block",
]

#: From this many layers on, a net without places of its own opens folded, if that leaves less than half of its cards.
FOLDED_FROM = 100
#: From this many layers on, a net that the user folds is planned in the document's thread.
FOLDED_IN_THREAD_FROM = 700


def is_folded(document: Document) -> bool:
    """Whether repeated parts are folded."""
    return any(block.kind for block in document.positions.blocks)


def fold_repeats(view: CanvasView) -> None:
    """Fold what is repeated, or unfold all that was folded so; a long net in the document's thread.

    Asked again before a long net is folded, it leaves that.

    Raises
    ------
    GraphError
        When nothing is repeated.
    """
    folding = view.canvas.folding
    if folding.seeking:
        _leave(view)
    elif is_folded(view.document):
        _unfold_all(view)
    elif len(view.canvas.nodes) < FOLDED_IN_THREAD_FROM:
        folding.look_into(None)
        _fold(view, _planned(view)())
    else:
        folding.look_into(None)
        _seek(view)


def _fold(view: CanvasView, plan: FoldPlan) -> None:
    """Fold as it was planned, in one undoable step."""
    if not plan.blocks:
        raise GraphError(
            "No part of this net is repeated.",
            next_step=by_key(
                view.key_of("block"), "Select layers and press {} to fold them to a block.", "Fold selected layers."
            ),
        )
    view.canvas.folding.remember_flat()
    routes = plan.take_routes(view.document.positions.routes)
    _change(view, "Fold repeated blocks", (), plan.blocks, places=plan.places, routes=routes, look=view.look())
    view.frame()


def _planned(view: CanvasView) -> Callable[[], FoldPlan]:
    """Return what plans the folding of a net as it is now, here or in a thread."""
    graph = view.document.graph
    known, room = seen(view.canvas), room_of(view)
    return lambda: plan_fold(graph, repeats_of(graph), known, room)


def _seek(view: CanvasView) -> None:
    """Plan in the document's thread, and fold then; begin again where the net was edited meanwhile."""
    document, folding = view.document, view.canvas.folding
    before = _state(document)

    def finish(plan: FoldPlan) -> None:
        if _state(document) != before:
            edited()
            return
        folding.seek(on=False)
        try:
            _fold(view, plan)
        except GraphError as error:
            view.refused.emit(str(error))

    def edited(_error: Exception | None = None) -> None:
        if view.canvas.is_built:
            _seek(view)

    folding.seek(on=True)
    document.jobs.submit("fold", _planned(view), finish, edited)


def _leave(view: CanvasView) -> None:
    view.document.jobs.cancel("fold")
    view.canvas.folding.seek(on=False)


def _state(document: Document) -> tuple[object, ...]:
    return document.graph.serial, tuple(document.positions.blocks)


def fold_at_start(view: CanvasView, least: int = FOLDED_FROM) -> bool:
    """Fold a net of many layers that is shown for the first time, so that it can be read; return whether it was.

    No step of the history, and nothing that makes the arrangement the user's own.
    """
    if len(view.canvas.nodes) < least or len(view.document.positions.blocks):
        return False
    return _fold_unasked(view, _planned(view)(), least)


def _fold_unasked(view: CanvasView, plan: FoldPlan, least: int) -> bool:
    scene, positions = view.canvas, view.document.positions
    if not plan.blocks or len(positions.blocks) or (least and 2 * plan.layers < len(scene.nodes)):
        return False
    scene.folding.remember_flat()
    positions.routes = plan.take_routes(positions.routes)
    moved = positions.place_all(plan.places)
    positions.blocks.replace((), plan.blocks, moving=True)
    positions.move(moved, by_user=False)
    return True


def fold_first(view: CanvasView, repeats: Sequence[Repeat], least: int = FOLDED_FROM) -> bool:
    """Do the same to a net that is not painted yet, with known repeats; its cards are still to be placed."""
    scene, blocks = view.canvas, view.document.positions.blocks
    made = blocks_of(view.document.graph, repeats, seen(scene))
    layers = sum(len(block.nodes) for block in made)
    if not made or len(blocks) or len(scene.nodes) < least or 2 * layers < len(scene.nodes):
        return False
    scene.folding.remember_flat()
    blocks.replace((), made, moving=True)
    return True


def _unfold_all(view: CanvasView) -> None:
    document, folding = view.document, view.canvas.folding
    blocks = document.positions.blocks
    removed = [block for block in blocks if block.kind]
    gone = {block.id for block in removed}
    kept = [block for block in blocks if block.id not in gone and block.parent in gone]  # blocks the user made inside
    folding.look_into(None)
    flat, look = folding.flat, view.look()
    text = "Unfold repeated blocks"
    added = [replace(block, parent=None) for block in kept]
    routes = document.positions.routes | folding.flat_routes
    _change(view, text, [*removed, *kept], added, places=flat, routes=routes, look=look)
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
        step = by_key(view.key_of("block"), "Select two or more, and press {}.", "Select two or more.")
        raise GraphError("A block is made of several layers.", next_step=step)
    order = {node: place for place, node in enumerate(document.graph.node_ids())}
    nodes = tuple(sorted((node for node in movers if node in order), key=order.__getitem__))
    inner = [blocks[each] for each in movers if each in blocks]
    level = scene.folding.level
    name = name_of(document.graph, nodes or inner_layers(scene, inner))
    new = Block(blocks.fresh_id(), f"{name} block", nodes, level)
    removed, added = list(inner), [new, *(replace(block, parent=new.id) for block in inner)]
    if level is not None:
        outer = blocks[level]
        removed.append(outer)
        added.append(replace(outer, nodes=tuple(node for node in outer.nodes if node not in nodes)))
    corner = scene.content_rect(document.selection.node_ids).topLeft()
    _change(view, f"Fold to {new.title}", removed, added, places={new.id: Point(corner.x(), corner.y())})


def inner_layers(scene: CanvasScene, inner: Iterable[Block]) -> list[NodeId]:
    """Return the layers of blocks, less those that were deleted."""
    document = scene.document
    layers = (node for block in inner for node in document.positions.blocks.layers(block.id))
    return [node for node in layers if node in document.graph]


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
    look: Look | None = None,
) -> None:
    """Put blocks in the place of others in one undoable step, with new places for what is shown then.

    ``look`` is what was in view before, where all is framed anew after it: undo brings that back.
    """
    document, scene = view.document, view.canvas
    positions = document.positions
    cards = {block.id for block in (*positions.blocks, *removed, *added)}
    known = positions.of(document.graph.node_ids()) | positions.of(cards)
    routes_before = dict(positions.routes)
    positions.touched = True
    if routes is not None:
        positions.routes = dict(routes)
    after = dict(places or {})
    moved = positions.place_all(after)
    positions.blocks.replace(removed, added, moving=True)
    if lay_out:
        after, found = arranged_places(view)
        positions.routes = positions.routes | found
        scene.show_routes(moving=True)
        moved = after
    positions.move(moved, by_user=False)
    scene.make_room()
    # Looking into a block for the first time lays out what is inside; undoing that it was made takes that back too.
    takes_all = lay_out or any(block.kind for block in added)
    before = {node: known[node] for node in known if takes_all or node in after}
    change = BlockChange(tuple(removed), tuple(added), before, after, routes_before, dict(positions.routes))
    framed = view if look is not None else None
    document.undo_stack.push(BlockCommand(text, positions, change, partial(_failed, document), framed, look))


def _failed(document: Document, error: Exception) -> None:
    document.edit_failed.emit(str(error))
