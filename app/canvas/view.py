"""The view: handing events to gestures, and what the pointer is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.canvas.edits import edits
from app.canvas.focus import FocusMark
from app.canvas.gestures.annotating import AnnotationEdit
from app.canvas.gestures.bending import add_bend, remove_bend
from app.canvas.gestures.cutting import CutGesture, CutPreview
from app.canvas.gestures.gestures import Gesture, PanGesture
from app.canvas.gestures.hints import PortHints
from app.canvas.gestures.pressing import PORT_REACH, WIRE_REACH, clicked_right, pressed
from app.canvas.gestures.titleedit import TitleEdit
from app.canvas.keys import CanvasKeys
from app.canvas.legend import HeatLegend
from app.canvas.levels import Breadcrumb
from app.canvas.minimap import Minimap
from app.canvas.navigation import NavigationView
from app.canvas.reason import ReasonLabel
from app.canvas.scene.blockitem import BlockItem
from app.canvas.scene.edgeitem import EdgeItem
from app.canvas.scene.nodeitem import NodeItem
from app.canvas.trace import Trace
from app.qt import guard
from app.widgets.focusring import OWN_RING

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["CanvasView"]

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
    fixes_asked : Signal(NodeId)
        Say what is wrong at a layer, and offer to mend it.
    fields_asked : Signal()
        The keyboard shall go to the fields of what is selected.
    blob_name_asked : Signal(NodeId, int)
        Ask for another name of a blob that a layer writes.
    help_asked : Signal()
        Say what is selected, and what can be done.
    key_of : callable
        Returns the key of an action by its name, as the system writes it, and no text where it has none; a window
        puts one here that knows its own actions too.
    keys_changed : Signal()
        Other keys of the canvas hold.
    cursor_moved : Signal(QPointF)
        Pointer in the scene.
    """

    refused = Signal(str)
    search_asked = Signal(QPoint, object, str, int)
    menu_asked = Signal(QPoint)
    escaped = Signal()
    find_asked = Signal()
    fixes_asked = Signal(object)
    fields_asked = Signal()
    blob_name_asked = Signal(object, int)
    help_asked = Signal()
    keys_changed = Signal()
    cursor_moved = Signal(QPointF)

    def __init__(self, document: Document, parent: QWidget | None = None, *, slowly: bool = False) -> None:
        super().__init__(document, parent, slowly=slowly)
        self.setObjectName("canvas.view")
        self.setAccessibleName("Net canvas")
        self.setProperty(OWN_RING, True)
        self.snapping = True
        self._closed = False
        self._gesture: Gesture | None = None
        self._held = Button.NoButton
        self._space = False
        self._space_used = False
        self._hovered: NodeItem | EdgeItem | None = None
        self.keys = CanvasKeys(self)
        self.key_of: Callable[[str], str] = self.keys.hint
        self.focus_mark = FocusMark(self)
        self.title_edit = TitleEdit(self)
        self._reason = ReasonLabel(self)
        self.cut_preview = CutPreview(self)
        self.hints = PortHints(self)
        self.trace = Trace(self)
        self.minimap = Minimap(self)
        self.legend = HeatLegend(self)
        self.breadcrumb = Breadcrumb(self)
        self.words = AnnotationEdit(self)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.scale_changed.connect(self.title_edit.close_edit)
        self.keys_changed.connect(self._show_keys)
        self._show_keys()
        document.undo_stack.indexChanged.connect(self._edited)

    def close_document(self) -> None:
        """Let go of the document before the view goes away; once is enough."""
        if self._closed:
            return
        self._closed = True
        self.document.undo_stack.indexChanged.disconnect(self._edited)
        self.cancel_gesture()
        self.keys.close()
        self.slices.cancel()
        self.gathering.cancel()
        self.minimap.stop()
        self.canvas.close()

    def show_reason(self, text: str, position: QPoint, *, refused: bool = True, stays: bool = False) -> None:
        """Say why something may not go here, or had better not, beside the pointer; see :meth:`ReasonLabel.say`."""
        self._reason.say(text, position, refused=refused, stays=stays)

    # Events

    @property
    def gesture(self) -> Gesture | None:
        """The gesture in progress."""
        return self._gesture

    def do(self, name: str) -> bool:
        """Do what a key of the canvas stands for, by a name of :data:`CANVAS_KEYS`; return whether there is such."""
        return self.keys.do(name)

    def begin(self, gesture: Gesture) -> None:
        """Take up a gesture that did not begin with a button."""
        self.cancel_gesture()
        self._gesture, self._held = gesture, Button.NoButton

    def finish_gesture(self, position: QPoint) -> None:
        """Do what the gesture shows."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.release(position, Modifier.NoModifier)

    def cancel_gesture(self) -> bool:
        """Break the gesture off; return whether there was one."""
        self.hints.close()
        gesture, self._gesture, self._held = self._gesture, None, Button.NoButton
        if gesture is not None:
            gesture.cancel()
        return gesture is not None

    @guard
    def _edited(self, _index: int) -> None:
        """Break off a gesture under which the document was edited, as by undo: what it would change may be gone."""
        if self._gesture is not None and not self._gesture.outlives_edits:
            self.cancel_gesture()

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.focus_mark.used(by_keys=False)
        QToolTip.hideText()
        self._reason.leave()
        position = event.position().toPoint()
        event.accept()
        if self._gesture is not None:
            self.cancel_gesture()
            return
        self._held = event.button()
        if event.button() == Button.MiddleButton or (event.button() == Button.LeftButton and self._space):
            self._space_used = True
            self._gesture = PanGesture(self, position)
        elif event.button() == Button.RightButton:
            cuts = bool(event.modifiers() & Modifier.ControlModifier)
            self._gesture = CutGesture(self, position) if cuts else PanGesture(self, position, threshold=4)
        elif event.button() == Button.LeftButton:
            self._gesture = pressed(self, position, event.modifiers())

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        event.accept()
        self.is_pointed_at = True
        self.cursor_moved.emit(self.mapToScene(position))
        if self._held != Button.NoButton and not event.buttons() & self._held:
            self.cancel_gesture()  # the button was let go where nobody told us, as over a dialog
        if self._gesture is not None:
            self._gesture.move(position, event.modifiers())
        else:
            self._reason.leave(position)
            self._hover(position)
            cuts = bool(event.modifiers() & Modifier.AltModifier) and not event.buttons() and not self.is_far
            reach = PORT_REACH / min(self.scale_factor, 1.0)
            self.cut_preview.show(self.cut_preview.wires_at(position, reach) if cuts else [])

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        gesture, self._gesture, self._held = self._gesture, None, Button.NoButton
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
        bend = self.canvas.bend_at(point, PORT_REACH / self.scale_factor) if not self.is_far else None
        edge = self.canvas.edge_at(point, WIRE_REACH / self.scale_factor) if not self.is_far else None
        if isinstance(item, BlockItem):
            self.document.selection.clear()
            self.canvas.folding.look_into(item.node_id)
        elif item is not None:
            self.title_edit.open(item.node_id)
        elif (written := self.canvas.annotated.at(point, WIRE_REACH / self.scale_factor)) is not None:
            self.words.open(written[0].value.id)
        elif bend is not None:
            remove_bend(self, *bend)
        elif edge is not None:
            add_bend(self, edge, point)
        else:
            self.search_asked.emit(position, None, "", 0)

    def clicked_right(self, position: QPoint) -> None:
        """Right click without a drag; see :func:`app.canvas.gestures.pressing.clicked_right`."""
        clicked_right(self, position)

    @guard
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        self._reason.leave()
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
            text = edits.tooltip(self.canvas, self.mapToScene(event.pos()), PORT_REACH / self.scale_factor)
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
        port = scene.port_at(point, PORT_REACH / min(1.0, self.scale_factor))
        item: NodeItem | EdgeItem | None = port[0] if port else scene.node_at(point)
        if item is None:
            item = scene.edge_at(point, WIRE_REACH / self.scale_factor)
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
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu by its key; the right button has a gesture of its own."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.keys.open_menu()
        event.accept()

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._reason.leave()
        self.focus_mark.used(by_keys=True)
        if self.hints.press(event):
            event.accept()
            return
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space, self._space_used = True, False
            event.accept()
        elif self.keys.press(event):
            event.accept()
            self.focus_mark.refresh()
        else:
            event.ignore()

    @guard
    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            tapped, self._space = self._space and not self._space_used, False
            if tapped:  # what is let go in a field over the canvas was pressed there
                self.ask_for_layer()
            event.accept()
        else:
            event.ignore()

    @guard
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_mark.entered(event.reason())

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._space = False
        if self.hints.is_open:
            self.cancel_gesture()
        self.focus_mark.refresh()

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if self.hints.is_open and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                return self.hints.press(event)
            # Tab means "add a layer" here, unless that has another key; Shift+Tab leaves the canvas.
            if event.key() == Qt.Key.Key_Tab and self.keys.press(event):
                return True
            if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                return self.focusNextPrevChild(event.key() == Qt.Key.Key_Tab)
        return super().event(event)

    @guard
    def _show_keys(self) -> None:
        """Have what lies over the canvas say its keys."""
        self.minimap.show_key(self.keys.hint("minimap"))
        self.breadcrumb.refill()
        self.say_adding_key(self.keys.hint("add"))

    def ask_for_layer(self) -> None:
        """Open the search for a layer, as a key does."""
        self.search_asked.emit(self.pointer(), None, "key", 0)

    def pointer(self) -> QPoint:
        """The pointer in the viewport, or its middle when the pointer is elsewhere."""
        position = self.viewport().mapFromGlobal(self.cursor().pos())
        return position if self.viewport().rect().contains(position) else self.viewport().rect().center()
