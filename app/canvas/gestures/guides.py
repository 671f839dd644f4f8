"""Soft guides: where a dragged node would stand in line with others, or its wires level."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QRectF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.scene.nodeitem import NodeItem
from app.qt import guard

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.canvas.scene.scene import CanvasScene

__all__ = ["GuideLines", "Guides"]

#: Nodes are drawn in line from this many pixels on the screen.
GUIDE_REACH = 6.0
_MOST = 200
_SAME, _OVER = 0.5, 12.0


class GuideLines(QGraphicsItem):
    """The lines along which a node stands with others."""

    def __init__(self, scene: CanvasScene) -> None:
        super().__init__()
        self._scene = scene
        self.lines: list[QLineF] = []
        self.setZValue(6.0)
        scene.addItem(self)

    def show_lines(self, lines: list[QLineF]) -> None:
        """Show other lines."""
        if lines != self.lines:
            self.prepareGeometryChange()
            self.lines = lines
            self.update()

    def boundingRect(self) -> QRectF:
        box = QRectF()
        for line in self.lines:
            box = box.united(QRectF(line.p1(), line.p2()).normalized().adjusted(-2.0, -2.0, 2.0, 2.0))
        return box

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setPen(self._scene.style_set.guide)
        painter.drawLines(self.lines)


class Guides:
    """What a node may be drawn in line with, collected once when its drag begins.

    Parameters
    ----------
    item : NodeItem
        The node under the pointer; what moves with it keeps its distance.
    moving : collection of NodeItem
        All that moves.
    area : QRectF
        The part of the scene that is in view.
    """

    def __init__(self, scene: CanvasScene, item: NodeItem, moving: Collection[NodeItem], area: QRectF) -> None:
        self._item = item
        boxes = (each.scene_body() for each in scene.nodes_in(area)[:_MOST] if each not in moving)
        self._rest = [(box.left(), box.top(), box.right(), box.bottom()) for box in boxes]
        self._columns = sorted({left for left, _top, _right, _bottom in self._rest})
        tops = {top for _left, top, _right, _bottom in self._rest}
        bottoms = {bottom - item.face.height for _left, _top, _right, bottom in self._rest}
        self._rows = sorted(tops | bottoms | set(_levels(item, moving)))

    def near(self, x: float, y: float, reach: float) -> tuple[float | None, float | None]:
        """Return the column and the row within ``reach`` of a place of the node's corner, or None for each."""
        return _nearest(self._columns, x, reach), _nearest(self._rows, y, reach)

    def lines(self) -> list[QLineF]:
        """Return the lines to show while the node stands where it does."""
        body = self._item.scene_body()
        x, y, right, bottom = body.left(), body.top(), body.right(), body.bottom()
        found = []
        column = [box for box in self._rest if abs(box[0] - x) < _SAME]
        if column:
            top = min(y, *(box[1] for box in column))
            end = max(bottom, *(box[3] for box in column))
            found.append(QLineF(x, top - _OVER, x, end + _OVER))
        for level in (y, bottom):
            row = [box for box in self._rest if abs(box[1] - level) < _SAME or abs(box[3] - level) < _SAME]
            if row:
                start = min(x, *(box[0] for box in row))
                end = max(right, *(box[2] for box in row))
                found.append(QLineF(start - _OVER, level, end + _OVER, level))
        return found


def _levels(item: NodeItem, moving: Collection[NodeItem]) -> Iterable[float]:
    """Heights of the node at which one of its wires runs level."""
    for wire in item.edges:
        other = wire.target if wire.source is item else wire.source
        if other in moving or wire.docked:
            continue
        if wire.source is item:
            yield wire.target.input_point(wire.edge.bottom).y() - item.face.output_y(wire.edge.top)
        else:
            yield wire.source.output_point(wire.edge.top).y() - item.face.input_y(wire.edge.bottom)


def _nearest(values: list[float], wanted: float, reach: float) -> float | None:
    at = bisect_left(values, wanted)
    near = values[max(0, at - 1) : at + 1]
    best = min(near, key=lambda value: abs(value - wanted), default=None)
    return best if best is not None and abs(best - wanted) <= reach else None
