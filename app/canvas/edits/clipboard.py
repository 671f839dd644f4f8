"""Copy and paste of layers, as prototxt text that any editor understands."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas.edits.arrange import place_new
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point
from engine.errors import GraphError
from engine.graph import OpGraph

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import Node, NodeId

__all__ = ["copy_text", "duplicate", "paste"]

_STEP = 40.0


def copy_text(scene: CanvasScene) -> str:
    """Text of the selected layers, in document order."""
    return scene.document.graph.copy_fragment(scene.document.selection.node_ids)


def paste(
    scene: CanvasScene, text: str, at: QPointF | None = None, *, keep_inputs: bool = False, label: str = "Paste"
) -> list[NodeId]:
    """Add the layers of a text under fresh names, wired among themselves as they were, and select them.

    Parameters
    ----------
    at : QPointF, optional
        Place in the scene of the upper left corner; below and right of the originals by default.
    keep_inputs : bool
        Whether inputs from outside of the text stay wired.

    Raises
    ------
    GraphError
        When the text holds no layers.
    """
    document = scene.document
    originals = [node for node in OpGraph.parse(text).nodes() if not node.virtual]
    if not originals:
        raise GraphError("The clipboard holds no layers.", next_step="Copy layers here or from a prototxt file.")

    def edit(graph: OpGraph) -> list[NodeId]:
        added = list(graph.paste_fragment(text, keep_inputs=keep_inputs))
        _place(scene, added, at, originals)
        return added

    what = f"{len(originals)} layers" if len(originals) > 1 else originals[0].name
    added = document.apply(f"{label} {what}", edit)
    place_new(scene)
    document.selection.set(added)
    return added


def duplicate(scene: CanvasScene) -> list[NodeId]:
    """Copy the selected layers beside themselves, keeping their inputs."""
    text = copy_text(scene)
    return paste(scene, text, keep_inputs=True, label="Duplicate") if text else []


def _place(scene: CanvasScene, added: list[NodeId], at: QPointF | None, pieces: Sequence[Node]) -> None:
    positions = scene.document.positions
    graph = scene.document.graph
    origins: list[Point | None] = []
    new = set(added)
    for piece in pieces:
        same = [node for node in graph.ids_named(piece.name) if node not in new and node in positions]
        if len(same) > 1:
            same.sort(key=lambda node: (graph.node(node).phases != piece.phases, graph.ordinal(node)))
        origins.append(positions.get(same[0]) if same else None)
    known_points = [point for point in origins if point is not None]
    if len(known_points) < len(added):
        if at is not None:
            for index, node_id in enumerate(added):
                positions.place(node_id, at.x() + 290.0 * index, at.y())
        return
    left, top = min(p.x for p in known_points), min(p.y for p in known_points)
    dx, dy = (at.x() - left, at.y() - top) if at is not None else (_STEP, _free_below(scene, known_points))
    for node_id, point in zip(added, known_points, strict=True):
        positions.place(node_id, round((point.x + dx) / 10) * 10, round((point.y + dy) / 10) * 10)


def _free_below(scene: CanvasScene, points: list[Point]) -> float:
    """Return how far below the cards at the given places there is room for as many, a step to the right."""
    corners = set(points)
    cards = [(card.y(), card.x(), card.height) for card in scene.items_shown()]
    inside = [(x, y, y + height) for y, x, height in cards if (x, y) in corners]
    if not inside:
        return _STEP
    left, right = min(x for x, _top, _bottom in inside), max(x for x, _top, _bottom in inside) + NODE_WIDTH
    top, bottom = min(y for _x, y, _bottom in inside), max(y for _x, _top, y in inside)
    left, right, down = left + _STEP, right + _STEP, bottom - top + _STEP
    for y, x, height in sorted(cards, key=itemgetter(0)):
        beside = x >= right or x + NODE_WIDTH <= left
        if not beside and y < bottom + down + _STEP / 2 and y + height > top + down - _STEP / 2:
            down = y + height + _STEP - top
    return down
