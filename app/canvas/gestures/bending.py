"""Bends: points of the user's through which a wire goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt

from app.canvas.edits.steps import bend_wire
from app.canvas.gestures.gestures import Gesture
from app.canvas.gestures.moving import SNAP
from app.document.placement import Point, edge_key

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.view import CanvasView

__all__ = ["BendGesture", "add_bend", "remove_bend"]

Modifier = Qt.KeyboardModifier


def add_bend(view: CanvasView, item: EdgeItem, at: QPointF) -> None:
    """Give a wire a bend at a place on it, in one undoable step, and select the bend."""
    place = _place_on(item, at)
    point = Point(round(at.x() / SNAP) * SNAP, round(at.y() / SNAP) * SNAP) if view.snapping else Point(at.x(), at.y())
    bend_wire(view.document, item, (*item.bends[:place], point, *item.bends[place:]), "Bend wire")
    view.canvas.select_edge(item.edge, bend=place)


def remove_bend(view: CanvasView, item: EdgeItem, index: int) -> None:
    """Take a bend out of a wire, in one undoable step."""
    bend_wire(view.document, item, item.bends[:index] + item.bends[index + 1 :], "Remove bend")


def _place_on(item: EdgeItem, at: QPointF) -> int:
    """Between which bends of a wire a place on it lies."""
    course = item.course()

    def along(point: QPointF) -> int:
        return min(range(len(course)), key=lambda place: (course[place] - point).manhattanLength())

    return sum(along(QPointF(*bend)) < along(at) for bend in item.bends)


class BendGesture(Gesture):
    """Drag a bend of a wire; Shift inverts the snapping."""

    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, view: CanvasView, press: QPoint, item: EdgeItem, index: int) -> None:
        super().__init__(view, press)
        self._item = item
        self._index = index
        self._start = item.bends
        view.document.selection.clear()
        view.canvas.select_edge(item.edge, bend=index)

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        step = self.view.mapToScene(position) - self.scene_press
        old = self._start[self._index]
        x, y = old.x + step.x(), old.y + step.y()
        if self.view.snapping != bool(modifiers & Modifier.ShiftModifier):
            x, y = round(x / SNAP) * SNAP, round(y / SNAP) * SNAP
        self._item.set_bends((*self._start[: self._index], Point(x, y), *self._start[self._index + 1 :]))
        self.view.canvas.overview.forget()

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        self.end()
        now = self._item.bends
        if now != self._start:
            bend_wire(self.view.document, self._item, now, "Move bend")

    def cancel(self) -> None:
        self.end()
        bends = self.view.document.positions.bends
        self._item.set_bends(bends.get(edge_key(self._item.edge), ()))
