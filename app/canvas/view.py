"""The view: handing events to gestures, and what the pointer is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

from app.canvas import edits
from app.canvas.edgeitem import EdgeItem
from app.canvas.gestures import BandGesture, ConnectGesture, Gesture, MoveGesture, PanGesture
from app.canvas.keys import CanvasKeys
from app.canvas.navigation import NavigationView
from app.canvas.nodeitem import NodeItem
from app.canvas.titleedit import TitleEdit
from app.qt import guard

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["CanvasView"]

_PORT_PRESS = 9.0
_WIRE_PRESS = 6.0
_REASON_REACH = 80

Button = Qt.MouseButton
Modifier = Qt.KeyboardModifier


class CanvasView(NavigationView):
    """Shows one document and takes the gestures.

    Attributes
    ----------
    refused : Signal(str)
        An edit that a rule forbids, with the reason in one sentence.
    search_asked : Signal(QPoint, object, str, int)
        Open the search palette at a place in the viewport; node, side and number of the port that a wire was drawn
        from, or None, "" and 0.
    menu_asked : Signal(QPoint)
        Open the menu of the selected nodes at a place in the viewport.
    escaped : Signal()
        Escape, when there was nothing to break off or to deselect.
    find_asked : Signal()
        Open the search for a layer of the net.
    cursor_moved : Signal(QPointF)
        Pointer in the scene.
    """

    refused = Signal(str)
    search_asked = Signal(QPoint, object, str, int)
    menu_asked = Signal(QPoint)
    escaped = Signal()
    find_asked = Signal()
    cursor_moved = Signal(QPointF)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(document, parent)
        self.setObjectName("canvas.view")
        self.setAccessibleName("Net canvas")
        self.snapping = True
        self._gesture: Gesture | None = None
        self._space = False
        self._space_used = False
        self._hovered: NodeItem | EdgeItem | None = None
        self._keys = CanvasKeys(self)
        self.title_edit = TitleEdit(self)
        self._reason = QLabel(self.viewport())
        self._reason.setObjectName("canvas.reason")
        self._reason.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._reason.hide()
        self._reason_at: QPoint | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.scale_changed.connect(self.title_edit.close_edit)

    def close_document(self) -> None:
        """Let go of the document before the view goes away."""
        self.cancel_gesture()
        self.canvas.close()

    def show_reason(self, text: str, position: QPoint, *, refused: bool = True, stays: bool = False) -> None:
        """Show why a wire may not end here, or had better not, beside the pointer.

        Parameters
        ----------
        stays : bool
            After the end of the gesture, until the pointer goes away or something else is done.
        """
        self._reason_at = position if stays and text else None
        self._reason.setVisible(bool(text))
        if not text:
            return
        theme = self.canvas.style_set.theme
        border = theme.color("error" if refused else "warning").name()
        self._reason.setStyleSheet(
            f"background: {theme.color('surface').name()}; color: {theme.color('text').name()};"
            f"border: 1px solid {border}; border-radius: 4px; padding: 4px 8px;"
        )
        self._reason.setWordWrap(False)
        self._reason.setText(text)
        self._reason.adjustSize()
        limit = self.viewport().rect()
        x = min(position.x() + 16, limit.right() - self._reason.width())
        y = position.y() + 20
        if y + self._reason.height() > limit.bottom():
            y = position.y() - 12 - self._reason.height()
        self._reason.move(max(0, x), max(0, y))

    def _leave_reason(self, position: QPoint | None = None) -> None:
        """Take a reason away that stayed, once the pointer is far from where it belongs; at once without a place."""
        kept = self._reason_at
        if kept is not None and (position is None or (position - kept).manhattanLength() > _REASON_REACH):
            self.show_reason("", kept)

    # Events

    @property
    def gesture(self) -> Gesture | None:
        """The gesture in progress."""
        return self._gesture

    def cancel_gesture(self) -> bool:
        """Break the gesture off; return whether there was one."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.cancel()
        return gesture is not None

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        QToolTip.hideText()
        self._leave_reason()
        position = event.position().toPoint()
        event.accept()
        if self._gesture is not None:
            self.cancel_gesture()
            return
        if event.button() == Button.MiddleButton or (event.button() == Button.LeftButton and self._space):
            self._space_used = True
            self._gesture = PanGesture(self, position)
        elif event.button() == Button.RightButton:
            self._gesture = PanGesture(self, position, threshold=4)
        elif event.button() == Button.LeftButton:
            self._gesture = self._press_left(position, event.modifiers())

    def _press_left(self, position: QPoint, modifiers: Modifier) -> Gesture | None:
        scene = self.canvas
        point = self.mapToScene(position)
        scale = self.scale_factor
        port = scene.port_at(point, _PORT_PRESS / min(scale, 1.0)) if not self.is_far else None
        if port is not None:
            return self._press_port(position, *port)
        item = scene.node_at(point)
        if item is not None:
            return self._press_node(position, item, modifiers)
        edge = scene.edge_at(point, _WIRE_PRESS / scale) if not self.is_far else None
        scene.select_edge(edge.edge if edge is not None else None)
        if edge is not None:
            self.document.selection.clear()
            return None
        return BandGesture(self, position)

    def _press_port(self, position: QPoint, item: NodeItem, side: str, index: int) -> Gesture:
        if side == "output":
            return ConnectGesture(self, position, item, side, index)
        wires = self.canvas.edges_into(item.node_id, index)
        if not wires:
            return ConnectGesture(self, position, item, side, index)
        first = wires[0]
        return ConnectGesture(
            self, position, first.source, "output", first.edge.top, tuple(wire.edge for wire in wires)
        )

    def _press_node(self, position: QPoint, item: NodeItem, modifiers: Modifier) -> Gesture | None:
        selection = self.document.selection
        self.canvas.select_edge(None)
        if modifiers & Modifier.ControlModifier:
            selection.toggle([item.node_id])
            return None
        collapse = False
        if modifiers & Modifier.ShiftModifier:
            selection.add([item.node_id])
        elif item.node_id in selection:
            collapse = len(selection) > 1
        else:
            selection.set([item.node_id])
        return MoveGesture(self, position, item, collapse=collapse)

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        event.accept()
        self.cursor_moved.emit(self.mapToScene(position))
        if self._gesture is not None:
            self._gesture.move(position, event.modifiers())
        else:
            self._leave_reason(position)
            self._hover(position)

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.release(event.position().toPoint(), event.modifiers())

    @guard
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        position = event.position().toPoint()
        if event.button() != Button.LeftButton:
            return
        point = self.mapToScene(position)
        item = self.canvas.node_at(point)
        if item is not None:
            self.title_edit.open(item.node_id)
        elif self.canvas.edge_at(point, _WIRE_PRESS / self.scale_factor) is None:
            self.search_asked.emit(position, None, "", 0)

    def clicked_right(self, position: QPoint) -> None:
        """Right click without a drag: the menu of what is under it, or the search palette."""
        item = self.canvas.node_at(self.mapToScene(position))
        if item is None:
            self.search_asked.emit(position, None, "", 0)
            return
        if item.node_id not in self.document.selection:
            self.document.selection.set([item.node_id])
        self.menu_asked.emit(position)

    @guard
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        self._leave_reason()
        pixels = event.pixelDelta()
        touchpad = not pixels.isNull() and event.phase() != Qt.ScrollPhase.NoScrollPhase
        if touchpad and not event.modifiers() & Modifier.ControlModifier:
            self.scroll_by(-pixels.x(), -pixels.y())
            return
        turn = event.angleDelta().y() or event.angleDelta().x()
        self.zoom_by(1.0015**turn, event.position().toPoint())

    @guard(default=False)
    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom_by(1.0 + event.value(), event.position().toPoint())
            return True
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = edits.tooltip(self.canvas, self.mapToScene(event.pos()), _PORT_PRESS / self.scale_factor)
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._set_hovered(None)
        return super().viewportEvent(event)

    def _hover(self, position: QPoint) -> None:
        if self.is_far:
            self._set_hovered(None)
            return
        point = self.mapToScene(position)
        scene = self.canvas
        port = scene.port_at(point, _PORT_PRESS / min(1.0, self.scale_factor))
        item: NodeItem | EdgeItem | None = port[0] if port else scene.node_at(point)
        if item is None:
            item = scene.edge_at(point, _WIRE_PRESS / self.scale_factor)
        self._set_hovered(item)
        if isinstance(item, NodeItem):
            hot = (port[1], port[2]) if port else None
            if hot != item.hot_port:
                item.hot_port = hot
                item.update()
        shape = Qt.CursorShape.CrossCursor if port else Qt.CursorShape.ArrowCursor
        if self._space:
            shape = Qt.CursorShape.OpenHandCursor
        if self.viewport().cursor().shape() != shape:
            self.viewport().setCursor(shape)

    def _set_hovered(self, item: NodeItem | EdgeItem | None) -> None:
        if item is self._hovered:
            return
        old, self._hovered = self._hovered, item
        for each, on in ((old, False), (item, True)):
            if each is not None and each.scene() is self.canvas:
                each.hovered = on
                if isinstance(each, NodeItem) and not on:
                    each.hot_port = None
                each.update()

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._leave_reason()
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space, self._space_used = True, False
            event.accept()
        elif self._keys.press(event):
            event.accept()
        else:
            event.ignore()

    @guard
    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space = False
            if not self._space_used:
                self.search_asked.emit(self.pointer(), None, "key", 0)
            event.accept()
        else:
            event.ignore()

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            # Tab means "add a layer" here; Ctrl+Tab and Shift+Tab leave the canvas.
            leaves = bool(event.modifiers() & Modifier.ControlModifier)
            if event.key() == Qt.Key.Key_Tab and not leaves:
                self.search_asked.emit(self.pointer(), None, "key", 0)
                return True
            if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                return self.focusNextPrevChild(event.key() == Qt.Key.Key_Tab)
        return super().event(event)

    def pointer(self) -> QPoint:
        """The pointer in the viewport, or its middle when the pointer is elsewhere."""
        position = self.viewport().mapFromGlobal(self.cursor().pos())
        return position if self.viewport().rect().contains(position) else self.viewport().rect().center()
