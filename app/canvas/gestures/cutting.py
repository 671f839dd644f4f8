"""Cutting wires: with a stroke across them, or at a port."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPoint, QRectF, Qt
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

from app.canvas.edits import edits
from app.canvas.gestures.gestures import Gesture
from app.canvas.layout.routes import crosses
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.view import CanvasView

__all__ = ["CutGesture", "CutPreview", "cut"]

_WIRE_REACH = 6.0
_THRESHOLD = 4

Modifier = Qt.KeyboardModifier


def cut(view: CanvasView, wires: Iterable[EdgeItem]) -> None:
    """Take wires off their inputs, in one undoable step."""
    edges = [wire.edge for wire in wires]
    if not edges:
        return
    try:
        edits.disconnect(view.document, edges)
    except GraphError as error:
        view.refused.emit(str(error))


class CutGesture(Gesture):
    """Cut all wires that a stroke crosses; they show it before the button is let go."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, view: CanvasView, press: QPoint) -> None:
        super().__init__(view, press)
        self._last = self.scene_press
        self._path = QPainterPath(self.scene_press)
        self._crossed: dict[EdgeItem, None] = {}
        self._stroke = QGraphicsPathItem()
        pen = view.canvas.style_set.wire_doomed
        self._stroke.setPen(pen)
        self._stroke.setZValue(6.0)
        view.canvas.addItem(self._stroke)

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        point = self.view.mapToScene(position)
        if point == self._last:
            return
        stroke = QLineF(self._last, point)
        self._last = point
        self._path.lineTo(point)
        self._stroke.setPath(self._path)
        area = QRectF(stroke.p1(), stroke.p2()).normalized().adjusted(-1.0, -1.0, 1.0, 1.0)
        for wire in self.view.canvas.wires_in(area):
            if wire not in self._crossed and crosses(stroke, wire.course()):
                self._crossed[wire] = None
                wire.mark(doomed=True)

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        self.end()
        if not self._crossed and (position - self.press).manhattanLength() <= _THRESHOLD:
            self.view.clicked_right(position)
            return
        cut(self.view, self._crossed)

    def end(self) -> None:
        super().end()
        self.view.canvas.removeItem(self._stroke)
        for wire in self._crossed:
            wire.mark()


class CutPreview:
    """What a click with Alt would cut: the wires at a port, or the one under the pointer."""

    def __init__(self, view: CanvasView) -> None:
        self._view = view
        self._shown: list[EdgeItem] = []

    def wires_at(self, position: QPoint, reach: float) -> list[EdgeItem]:
        """The wires that a click at a place in the viewport would cut; ``reach`` is that of a port, in the scene."""
        scene, point = self._view.canvas, self._view.mapToScene(position)
        port = scene.port_at(point, reach)
        if port is not None:
            item, side, index = port
            node, number = item.end(side, index)
            return scene.edges_at_port(node, side, number)
        if scene.node_at(point) is not None:
            return []
        wire = scene.edge_at(point, _WIRE_REACH / self._view.scale_factor)
        return [wire] if wire is not None else []

    def show(self, wires: list[EdgeItem]) -> None:
        """Mark other wires as those that would be cut."""
        for wire in self._shown:
            if wire not in wires and wire.scene() is not None:
                wire.mark()
        self._shown = wires
        for wire in wires:
            wire.mark(doomed=True)
