"""Gestures: one object from the press of a button to its release.

A gesture shows what will happen and changes the document only when it is released, in one undoable step. Escape calls
:meth:`Gesture.cancel`, which leaves everything as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QGraphicsPathItem, QWidget

from app.canvas import edits
from app.canvas.docking import dock_point, host_of
from app.canvas.nodeitem import NodeItem
from app.canvas.routes import wire_path
from app.placement import Point
from app.qt import guard
from app.theme import Theme
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.view import CanvasView
    from engine.graph import Edge, NodeId

__all__ = ["BandGesture", "ConnectGesture", "Gesture", "MoveGesture", "PanGesture"]

#: Grid of node places, in pixels at 100 %.
SNAP = 10.0
#: A wire takes hold of a port from this many pixels on the screen.
PORT_REACH = 20.0

Modifier = Qt.KeyboardModifier


class Gesture:
    """Base of all gestures.

    Parameters
    ----------
    view : CanvasView
        Where it happens.
    press : QPoint
        Where the button went down, in the viewport.
    """

    cursor: Qt.CursorShape | None = None

    def __init__(self, view: CanvasView, press: QPoint) -> None:
        self.view = view
        self.press = press
        self.scene_press = view.mapToScene(press)
        if self.cursor is not None:
            view.viewport().setCursor(self.cursor)

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        """Follow the pointer."""

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        """Do what was shown."""
        self.end()

    def cancel(self) -> None:
        """Leave everything as it was."""
        self.end()

    def end(self) -> None:
        """Take away what the gesture showed."""
        if self.cursor is not None:
            self.view.viewport().unsetCursor()


class PanGesture(Gesture):
    """Move the view with the pointer; a press without a move is handed to ``click``."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def __init__(self, view: CanvasView, press: QPoint, *, threshold: int = 0) -> None:
        super().__init__(view, press)
        self._last = press
        self._threshold = threshold
        self.moved = threshold == 0

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        if not self.moved and (position - self.press).manhattanLength() <= self._threshold:
            return
        self.moved = True
        step = position - self._last
        self._last = position
        self.view.scroll_by(-step.x(), -step.y())

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        self.end()
        if not self.moved:
            self.view.clicked_right(position)


class MoveGesture(Gesture):
    """Drag the selected nodes, with what hangs under them."""

    def __init__(self, view: CanvasView, press: QPoint, item: NodeItem, *, collapse: bool) -> None:
        super().__init__(view, press)
        self._item = item
        self._collapse = collapse
        self._start: dict[NodeId, Point] = {}
        self._now: dict[NodeId, Point] = {}

    @property
    def moving(self) -> bool:
        """Whether the pointer went far enough for a drag."""
        return bool(self._start)

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        scene = self.view.canvas
        if not self.moving:
            if (position - self.press).manhattanLength() <= 3:
                return
            ids = edits.with_followers(scene, self.view.document.selection.node_ids)
            self._start = self.view.document.positions.of(ids)
        step = self.view.mapToScene(position) - self.scene_press
        dx, dy = step.x(), step.y()
        origin = self._start[self._item.node_id]
        if self.view.snapping != bool(modifiers & Modifier.ShiftModifier):
            dx = round((origin.x + dx) / SNAP) * SNAP - origin.x
            dy = round((origin.y + dy) / SNAP) * SNAP - origin.y
        host = host_of(self._item) if len(self._start) == 1 else None
        if host is not None:
            dock = dock_point(host)
            if abs(dock.x() - origin.x - dx) < 30.0 and abs(dock.y() - origin.y - dy) < 20.0:
                dx, dy = dock.x() - origin.x, dock.y() - origin.y
        self._now = {node_id: Point(point.x + dx, point.y + dy) for node_id, point in self._start.items()}
        scene.show_at(self._now)
        if self.view.is_far:
            self.view.viewport().update()

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        self.end()
        if self.moving:
            if self._now:
                self.view.document.move_nodes(self._now, before=self._start)
        elif self._collapse:
            self.view.document.selection.set([self._item.node_id])

    def cancel(self) -> None:
        self.end()
        if self.moving:
            self.view.canvas.show_at(self._start)


class _Band(QWidget):
    """The box that selects."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        accent = Theme.current().color("accent")
        fill = QColor(accent)
        fill.setAlphaF(0.12)
        painter.setPen(accent)
        painter.setBrush(fill)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class BandGesture(Gesture):
    """Select with a box; Shift adds, Ctrl toggles. A click without a box clears the selection."""

    def __init__(self, view: CanvasView, press: QPoint) -> None:
        super().__init__(view, press)
        self._before = view.document.selection.node_ids
        self._band = _Band(view.viewport())

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        box = QRect(self.press, position).normalized()
        if box.width() < 4 and box.height() < 4:
            return
        self._band.setGeometry(box)
        self._band.show()
        self._select(box, modifiers)

    def _select(self, box: QRect, modifiers: Modifier) -> None:
        view = self.view
        area = QRectF(view.mapToScene(box.topLeft()), view.mapToScene(box.bottomRight()))
        hit = [
            item.node_id
            for item in view.canvas.items(area)
            if isinstance(item, NodeItem) and item.scene_body().intersects(area)
        ]
        selection = view.document.selection
        if modifiers & Modifier.ControlModifier:
            selection.set(self._before)
            selection.toggle(hit)
        elif modifiers & Modifier.ShiftModifier:
            selection.set(dict.fromkeys((*self._before, *hit)))
        else:
            selection.set(hit)

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        if not self._band.isVisible() and not modifiers & (Modifier.ShiftModifier | Modifier.ControlModifier):
            self.view.document.selection.clear()
        self.end()

    def cancel(self) -> None:
        self.view.document.selection.set(self._before)
        self.end()

    def end(self) -> None:
        self._band.hide()
        self._band.setParent(None)
        self._band.deleteLater()
        super().end()


class ConnectGesture(Gesture):
    """Draw a wire from a port to a port, or move the end of one that is there.

    Parameters
    ----------
    item, side, index
        The port that stays.
    loose : tuple of Edge
        Wires that were lifted off their input and are dropped when the wire ends nowhere.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self, view: CanvasView, press: QPoint, item: NodeItem, side: str, index: int, loose: tuple[Edge, ...] = ()
    ) -> None:
        super().__init__(view, press)
        self._item = item
        self._side = side
        self._index = index
        self._loose = loose
        self._target: tuple[NodeItem, str, int] | None = None
        self._reason = ""
        self._doubt = ""
        self._moved = False
        self._wire = QGraphicsPathItem()
        self._wire.setPen(view.canvas.style_set.accent)
        self._wire.setZValue(5.0)
        view.canvas.addItem(self._wire)
        for edge in loose:
            view.canvas.edges[edge].setVisible(False)
        item.hot_port = (side, index)
        item.update()

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        if not self._moved and (position - self.press).manhattanLength() <= 3:
            return
        self._moved = True
        scene = self.view.canvas
        point = self.view.mapToScene(position)
        target = scene.port_at(point, PORT_REACH / self.view.scale_factor)
        if target is None:
            body = scene.node_at(point)
            target = self._open_port(body) if body is not None and body is not self._item else None
        if target is not None and (target[0] is self._item and target[1] == self._side):
            target = None
        self._point_at(target)
        end = point
        if target is not None:
            node, side, index = target
            end = node.input_point(index) if side == "input" else node.output_point(index)
        here = self._item.output_point(self._index) if self._side == "output" else self._item.input_point(self._index)
        self._wire.setPath(wire_path(here, end) if self._side == "output" else wire_path(end, here))
        style = scene.style_set
        self._wire.setPen(style.wire_bad if self._reason else style.wire_doubtful if self._doubt else style.accent)
        self.view.show_reason(self._reason or self._doubt, position, refused=bool(self._reason))

    def _open_port(self, item: NodeItem) -> tuple[NodeItem, str, int] | None:
        """The port meant by dropping on a node: its first free input, or its first output."""
        if self._side == "input":
            return (item, "output", 0) if item.face.outputs else None
        free = [i for i in range(len(item.face.inputs)) if i not in item.wired_inputs]
        return (item, "input", free[0]) if free else None

    def _point_at(self, target: tuple[NodeItem, str, int] | None) -> None:
        if target == self._target:
            return
        if self._target is not None:
            self._target[0].hot_port = None
            self._target[0].update()
        self._target = target
        self._reason = self._doubt = ""
        if target is not None:
            item, side, index = target
            item.hot_port = (side, index)
            item.update()
            if side == self._side:
                self._reason = f"Connect an output to an input, not an {side} to an {side}."
            else:
                self._reason = edits.refusal(self.view.document, *self._ends(target))
                if not self._reason:
                    self._doubt = edits.doubt(self.view.document, *self._ends(target))

    def _ends(self, target: tuple[NodeItem, str, int]) -> tuple[NodeId, int, NodeId, int]:
        item, _side, index = target
        if self._side == "output":
            return self._item.node_id, self._index, item.node_id, index
        return item.node_id, index, self._item.node_id, self._index

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        target, reason, loose = self._target, self._reason, self._loose
        self.end()
        document = self.view.document
        try:
            if target is not None and not reason:
                edits.connect(document, *self._ends(target), instead_of=loose)
            elif target is not None:
                self.view.show_reason(reason, position, stays=True)
            elif loose and self._moved:
                edits.disconnect(document, loose)
            elif self._moved:
                self.view.search_asked.emit(position, self._item.node_id, self._side, self._index)
        except GraphError as error:
            self.view.refused.emit(str(error))

    def cancel(self) -> None:
        self.end()

    def end(self) -> None:
        super().end()
        scene = self.view.canvas
        self.view.show_reason("", QPoint())
        scene.removeItem(self._wire)
        for edge in self._loose:
            if edge in scene.edges:
                scene.edges[edge].setVisible(True)
        for item in (self._item, self._target[0] if self._target else None):
            if item is not None:
                item.hot_port = None
                item.update()
