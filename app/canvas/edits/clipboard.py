"""Copy and paste of layers, as prototxt text that any editor understands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas.edits.arrange import place_new
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import Node, NodeId, OpGraph, Pasting

__all__ = ["copy_text", "duplicate", "paste"]

_STEP = 40.0
#: Characters of a text that takes the window too long to read.
_LONG = 16_000
#: How far apart layers stand of which nobody knows where they stood.
_APART = 290.0


def copy_text(scene: CanvasScene) -> str:
    """Text of the selected layers, in document order."""
    return scene.document.graph.copy_fragment(scene.document.selection.node_ids)


def paste(
    scene: CanvasScene,
    text: str,
    at: QPointF | None = None,
    *,
    keep_inputs: bool = False,
    label: str = "Paste",
    done: Callable[[list[NodeId]], object] | None = None,
    failed: Callable[[str], object] | None = None,
) -> list[NodeId]:
    """Add the layers of a text under fresh names, wired among themselves as they were, and select them.

    Parameters
    ----------
    at : QPointF, optional
        Place in the scene of the upper left corner; below and right of the originals by default.
    keep_inputs : bool
        Whether inputs from outside of the text stay wired.
    label : str
        What the step in the history is called, before what is added.
    done : callable, optional
        Gets the new nodes.
    failed : callable, optional
        With it a long text is read in a thread first, where the scene does such things slowly; it gets the reason when
        that is refused.

    Returns
    -------
    list of NodeId
        The new nodes; none where they come later.

    Raises
    ------
    GraphError
        When the text holds no layers.
    """
    document = scene.document

    def read() -> Pasting:
        return document.graph.read_fragment(text, keep_inputs=keep_inputs)

    def add(reading: Pasting | None) -> list[NodeId]:
        found = read() if reading is None else reading
        added = _add(scene, found, at, label)
        if done is not None:
            done(added)
        return added

    if failed is not None and scene.slowly and len(text) >= _LONG:
        document.ahead.start(read, add, lambda error: failed(str(error)))
        return []
    return add(None)


def _add(scene: CanvasScene, reading: Pasting, at: QPointF | None, label: str) -> list[NodeId]:
    """Put layers into the net of which is known where they go and what they are called, and select them."""
    document, originals = scene.document, reading.originals

    def edit(graph: OpGraph) -> list[NodeId]:
        added = list(graph.paste_fragment(reading.text, keep_inputs=reading.terms[1], reading=reading))
        _place(scene, added, at, originals)
        return added

    what = f"{len(originals)} layers" if len(originals) > 1 else originals[0].name
    added = document.apply(f"{label} {what}", edit)
    place_new(scene)
    document.selection.set(added)
    return added


def duplicate(
    scene: CanvasScene,
    done: Callable[[list[NodeId]], object] | None = None,
    failed: Callable[[str], object] | None = None,
) -> list[NodeId]:
    """Copy the selected layers beside themselves, keeping their inputs; see :func:`paste`."""
    text = copy_text(scene)
    return paste(scene, text, keep_inputs=True, label="Duplicate", done=done, failed=failed) if text else []


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
        if at is None:
            return
        wanted = [Point(at.x() + _APART * index, at.y()) for index in range(len(added))]
    else:
        left, top = min(p.x for p in known_points), min(p.y for p in known_points)
        dx, dy = (at.x() - left, at.y() - top) if at is not None else (_STEP, _free_below(scene, known_points))
        wanted = [Point(_on_grid(point.x + dx), _on_grid(point.y + dy)) for point in known_points]
    aside = _aside(scene, wanted)
    for node_id, point in zip(added, wanted, strict=True):
        positions.place(node_id, point.x + aside, point.y + aside)


def _on_grid(value: float) -> float:
    return round(value / 10) * 10


def _aside(scene: CanvasScene, points: list[Point]) -> float:
    """Return how far right and down of the given places no card covers just another, as when one pastes twice."""
    taken = {(_on_grid(card.x()), _on_grid(card.y())) for card in scene.items_shown()}
    aside = 0.0
    while any((_on_grid(x + aside), _on_grid(y + aside)) in taken for x, y in points):
        aside += _STEP
    return aside


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
