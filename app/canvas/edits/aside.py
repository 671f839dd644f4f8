"""Setting the selected layers aside: bypass, and freezing their weights. Each is one undoable step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.canvas.edits.roombelow import room_below
from app.canvas.edits.steps import Routes, take_step
from app.canvas.scene.docking import followers
from engine.errors import CheckError, GraphError

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document import Document
    from app.document.placement import Point
    from engine.graph import NodeId, OpGraph

__all__ = ["toggle_bypass", "toggle_freeze"]


def toggle_bypass(scene: CanvasScene) -> None:
    """Bypass the selected layers, as far as they can be; where all are bypassed, take them back in.

    What hung under one and now has a card of its own gets room for it.

    Raises
    ------
    CheckError
        If none of them can be bypassed; then nothing is changed.
    """
    document = scene.document
    graph, ids = document.graph, document.selection.node_ids
    if not ids:
        raise CheckError("Nothing is selected.", next_step="Select the layers to bypass first.")
    if all(graph.is_bypassed(node_id) for node_id in ids):
        document.apply(f"Take in {_names(document, ids)}", lambda graph: _each(graph.restore, ids))
        return
    fit: list[NodeId] = []
    refused: GraphError | None = None
    for node_id in ids:
        try:
            graph.check_bypass(node_id)
            fit.append(node_id)
        except GraphError as error:
            refused = refused or error
    if not fit:
        assert refused is not None
        raise refused
    hanging = [each for node_id in fit for each in followers(scene.nodes[node_id])]
    take_step(
        document,
        f"Bypass {_names(document, fit)}",
        edit=lambda graph: _each(graph.bypass, fit),
        places=partial(_room_for_one, scene, hanging),
    )


def _room_for_one(scene: CanvasScene, hanging: Sequence[NodeItem]) -> tuple[dict[NodeId, Point], Routes]:
    """Return places and courses that keep off the first card that hangs no more; what hangs under it goes along."""
    loose = next((item for item in hanging if not item.docked and item in scene.items_shown()), None)
    return room_below(scene, loose) if loose is not None else ({}, {})


def toggle_freeze(document: Document) -> None:
    """Freeze the weights of the selected layers; where all that have some are frozen, have them learn again.

    Layers that share weights with one of them go along: Caffe refuses different rates for one blob.

    Raises
    ------
    CheckError
        If none of them has weights that are known of; then nothing is changed.
    """
    graph = document.graph
    ids = _with_twins(graph, document.selection.node_ids)
    counts = {node_id: _params(document, node_id) for node_id in ids}
    ids = [node_id for node_id in ids if counts[node_id]]
    if not ids:
        raise CheckError(
            "None of the selected layers has weights to freeze.",
            next_step="Select a Convolution or InnerProduct layer, for instance.",
        )
    if all(graph.is_frozen(node_id) for node_id in ids):
        document.apply(f"Unfreeze {_names(document, ids)}", lambda graph: _each(graph.unfreeze, ids))
        return
    learning = [node_id for node_id in ids if not graph.is_frozen(node_id)]

    def edit(graph: OpGraph) -> None:
        for node_id in learning:
            graph.freeze(node_id, counts[node_id])

    document.apply(f"Freeze {_names(document, learning)}", edit)


def _params(document: Document, node_id: NodeId) -> int:
    """How many learnable blobs a layer has, as far as is known."""
    known = document.shapes.get(node_id)
    return max(len(known.params) if known is not None else 0, document.graph.count(node_id, ("param",)))


def _with_twins(graph: OpGraph, ids: tuple[NodeId, ...]) -> list[NodeId]:
    """Return layers with all that share weights with them by name."""

    def shared(node_id: NodeId) -> set[str]:
        entries = range(graph.count(node_id, ("param",)))
        return {name for place in entries if (name := graph.value(node_id, ("param", place, "name"))) is not None}

    names = set().union(*map(shared, ids))
    twins = [node_id for node_id in graph.node_ids() if shared(node_id) & names] if names else []
    return list(dict.fromkeys((*ids, *twins)))


def _each(verb: Callable[[NodeId], object], ids: Sequence[NodeId]) -> None:
    for node_id in ids:
        verb(node_id)


def _names(document: Document, ids: Sequence[NodeId]) -> str:
    return document.graph.node(ids[0]).name if len(ids) == 1 else f"{len(ids)} layers"
