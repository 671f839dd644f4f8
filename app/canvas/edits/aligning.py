"""Bringing the selected nodes in line: align, distribute, straighten. Each is one undoable step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from app.canvas.scene.docking import followers, root_of
from app.document.placement import Point

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene

__all__ = ["align", "distribute", "straighten"]

_LINES: Mapping[str, Callable[[QRectF], float]] = {
    "left": QRectF.left,
    "right": QRectF.right,
    "top": QRectF.top,
    "bottom": QRectF.bottom,
}


def align(scene: CanvasScene, side: str) -> None:
    """Move the selected nodes to the outermost of them.

    Parameters
    ----------
    side : str
        ``left``, ``right``, ``top`` or ``bottom``.
    """
    line = _LINES[side]
    boxes = {item: _box(item) for item in _roots(scene)}
    if len(boxes) < 2:
        return
    aim = (min if side in ("left", "top") else max)(line(box) for box in boxes.values())
    flat = side in ("left", "right")
    steps = {item: aim - line(box) for item, box in boxes.items()}
    _move(scene, {item: (step, 0.0) if flat else (0.0, step) for item, step in steps.items()}, f"Align {side}")


def distribute(scene: CanvasScene, *, across: bool) -> None:
    """Leave the same room between the selected nodes; the outermost two stay.

    Parameters
    ----------
    across : bool
        From left to right; else from top to bottom.
    """
    boxes = {item: _box(item) for item in _roots(scene)}
    if len(boxes) < 3:
        return
    start, length = (QRectF.left, QRectF.width) if across else (QRectF.top, QRectF.height)
    order = sorted(boxes, key=lambda item: start(boxes[item]))
    first, last = boxes[order[0]], boxes[order[-1]]
    room = start(last) - start(first) - sum(length(boxes[item]) for item in order[:-1])
    gap = room / (len(order) - 1)
    at = start(first)
    steps: dict[NodeItem, tuple[float, float]] = {}
    for item in order[:-1]:
        step = at - start(boxes[item])
        steps[item] = (step, 0.0) if across else (0.0, step)
        at += length(boxes[item]) + gap
    _move(scene, steps, "Distribute across" if across else "Distribute down")


def straighten(scene: CanvasScene) -> None:
    """Move the selected nodes up or down until the wires between them run level; the first of each chain stays.

    A node that is selected alone is brought in line with what it reads, or else with what reads it.
    """
    order = {node_id: place for place, node_id in enumerate(scene.document.graph.node_ids())}
    roots = sorted(_roots(scene), key=lambda item: order[item.ids[0]])
    lifted: dict[NodeItem, float] = {}
    for item in roots:
        step = _step_to_level(item, lifted, roots)
        lifted[item] = step if step is not None else 0.0
    _move(scene, {item: (0.0, step) for item, step in lifted.items()}, "Straighten")


def _step_to_level(item: NodeItem, lifted: Mapping[NodeItem, float], roots: list[NodeItem]) -> float | None:
    """How far a node must go so that its first wire from an earlier one runs level; None without such a wire."""
    alone = len(roots) == 1
    seen = [edge for edge in item.edges if edge.isVisible()]
    wires = sorted((edge for edge in seen if edge.head is item), key=lambda edge: edge.in_port)
    for wire in wires:
        source = root_of(wire.tail)
        if source is not item and (alone or source in lifted):
            # What hangs under a node is brought in line with the node, as in the layout.
            out = source.output_point(0 if source is not wire.tail else wire.out_port).y()
            return out + lifted.get(source, 0.0) - item.input_point(wire.in_port).y()
    if alone:
        for wire in seen:
            if wire.tail is item and not wire.docked:
                return wire.head.input_point(wire.in_port).y() - item.output_point(wire.out_port).y()
    return None


def _roots(scene: CanvasScene) -> list[NodeItem]:
    """The selected nodes; for what hangs under another one, that."""
    ids = scene.document.selection.node_ids
    shown = map(scene.folding.shown, ids)
    return list(dict.fromkeys(root_of(item) for item in shown if item is not None))


def _box(item: NodeItem) -> QRectF:
    box = item.scene_body()
    for each in followers(item):
        box = box.united(each.scene_body())
    return box


def _move(scene: CanvasScene, steps: Mapping[NodeItem, tuple[float, float]], text: str) -> None:
    points = {
        each.node_id: Point(each.x() + dx, each.y() + dy)
        for item, (dx, dy) in steps.items()
        for each in (item, *followers(item))
    }
    if points:
        scene.document.move_nodes(points, text)
