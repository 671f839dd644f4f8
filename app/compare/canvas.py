"""One side of a comparison: a canvas to look at, with a mark on each layer that differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from app.canvas.navigation import NavigationView
from app.canvas.scene.blockitem import BlockItem
from app.canvas.scene.folding import Folding
from app.canvas.scene.nodeitem import LOD_TEXT
from app.compare.map import CompareMap
from app.qt import guard
from app.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from PySide6.QtCore import QEvent

    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.compare.changes import Kind
    from app.document import Document
    from engine.graph import Events, NodeId

__all__ = ["CompareCanvas"]

_SIGN = 18.0
_LEAST = 5.0
_DRAG = 4
Button = Qt.MouseButton


class _Hiding(Folding):
    """Folds as everywhere; or folds nothing and hides layers with their wires."""

    hidden: frozenset[NodeId] = frozenset()
    _is_behind = False

    def hiding(self, nodes: Iterable[NodeId]) -> Iterator[None]:
        """Hide these layers, and show all others, a card or a wire a step."""
        hidden = frozenset(nodes)
        if hidden == self.hidden and not self._is_behind:
            return
        self.hidden, self._is_behind = hidden, True
        yield from self._hiding()
        self._is_behind = False
        self._scene.told_shown()

    def replay(self, events: Events, *, whole: bool = False) -> None:
        if self.hidden:
            for _step in self._hiding():
                pass
        else:
            super().replay(events, whole=whole)

    def _hiding(self) -> Iterator[None]:
        hidden = self.hidden
        self._scene.overview.forget()
        self._scene.update()
        for node, item in tuple(self._scene.nodes.items()):
            if item.isVisible() == (node in hidden):
                item.setVisible(node not in hidden)
                yield
        for edge, wire in tuple(self._scene.edges.items()):
            visible = edge.source not in hidden and edge.target not in hidden
            if wire.isVisible() != visible:
                wire.setVisible(visible)
                yield

    def items(self) -> list[NodeItem]:
        if not self.hidden:
            return super().items()
        return [item for node, item in self._scene.nodes.items() if node not in self.hidden]

    def edges(self) -> list[EdgeItem]:
        if not self.hidden:
            return super().edges()
        return [edge for edge in self._scene.edges.values() if edge.isVisible()]

    def shown(self, node: NodeId) -> NodeItem | None:
        if not self.hidden:
            return super().shown(node)
        return None if node in self.hidden else self._scene.nodes.get(node)

    def _all_shown(self) -> dict[NodeId, NodeItem | None]:
        if not self.hidden:
            return super()._all_shown()
        return {node: self.shown(node) for node in self._scene.nodes}


class CompareCanvas(NavigationView):
    """Shows one net; it can be moved and its layers chosen, but nothing is edited.

    Attributes
    ----------
    chosen : Signal(object)
        A layer was clicked, or None beside all.
    moved : Signal()
        Another part is in view.
    unfold_asked : Signal(NodeId)
        The stretch that begins with a layer is to be unfolded.
    marks : mapping of NodeId to Kind
        How the layers that differ are marked.
    """

    chosen = Signal(object)
    moved = Signal()
    unfold_asked = Signal(object)

    def __init__(self, document: Document, name: str, parent: QWidget | None = None, *, slowly: bool = False) -> None:
        super().__init__(document, parent, slowly=slowly)
        self.setObjectName(f"compare.canvas.{name}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas.folding.close()
        self.hiding = _Hiding(self.canvas)
        self.canvas.folding = self.hiding
        self.marks: Mapping[NodeId, Kind] = {}
        self.map = CompareMap(self)
        self._pressed: QPoint | None = None
        self._last = QPoint()
        self._dragged = False
        self.horizontalScrollBar().valueChanged.connect(self._moved)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        self.scale_changed.connect(self._moved)

    @guard
    def _moved(self, _value: float = 0.0) -> None:
        self.moved.emit()

    def set_marks(self, marks: Mapping[NodeId, Kind]) -> None:
        """Mark other layers."""
        self.marks = marks
        self.map.marks_changed()
        self.viewport().update()

    def hide_heap(self) -> None:
        """Paint nothing as long as something has no place: it lies in a heap, which is not to be seen."""
        positions = self.document.positions
        self.is_placed &= all(item.node_id in positions for item in self.canvas.items_shown())
        if not self.is_placed:
            self.canvas.leading.cancel()
            self.canvas.lies_in_heap = True

    def show_node(self, node: NodeId) -> None:
        """Bring a layer into the middle, large enough to be read."""
        item = self.hiding.shown(node)
        if item is not None:
            self.follows_size = False
            if self.scale_factor < LOD_TEXT:
                self.set_scale(0.8)
            self.centerOn(item.scene_body().center())
            self.told_panned()

    def frame_rect(self, rect: QRectF) -> None:
        """Bring a part of the scene into view."""
        if rect.isNull():
            return
        self.follows_size = False
        size, room = self.viewport().size(), rect.adjusted(-48.0, -40.0, 48.0, 40.0)
        self.set_scale(min(1.0, size.width() / room.width(), size.height() / room.height()))
        self.centerOn(room.center())
        self.told_panned()

    # Painting

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.is_placed:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setTransform(self.viewportTransform())
        seen, scale = self.visible_rect(), self.scale_factor
        for item, kind in self.marked_cards().items():
            if item.scene_body().intersects(seen):
                self._paint_mark(painter, item.scene_body(), kind, scale)
        painter.end()

    def marked_cards(self) -> dict[NodeItem, Kind]:
        """Return the cards that are shown with a mark: that of a folded stretch is one of those of its layers."""
        found = ((self.hiding.shown(node), kind) for node, kind in self.marks.items())
        return {item: kind for item, kind in found if item is not None}

    def _paint_mark(self, painter: QPainter, body: QRectF, kind: Kind, scale: float) -> None:
        theme = Theme.current()
        color = theme.color(kind.role)
        tint = QColor(color)
        tint.setAlpha(40 if scale >= LOD_TEXT else 150)
        painter.setPen(QPen(color, max(2.0, 1.5 / scale)))
        painter.setBrush(tint)
        painter.drawRoundedRect(body.adjusted(-1.0, -1.0, 1.0, 1.0), 6.0, 6.0)
        size = max(_SIGN, _LEAST / scale)
        center = body.topLeft() + QPointF(2.0, 2.0)
        plate = QRectF(center.x() - size / 2, center.y() - size / 2, size, size)
        painter.setPen(QPen(theme.color("canvas"), 1.5))
        painter.setBrush(color)
        painter.drawRoundedRect(plate, size / 4, size / 4)
        if scale < LOD_TEXT / 2:
            return
        font = self.font()
        font.setPixelSize(round(size * 0.8))
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(theme.color("canvas"))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, kind.sign)

    # What the user does

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._pressed = self._last = event.position().toPoint()
        self._dragged = False
        event.accept()

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        at = event.position().toPoint()
        if self._pressed is None:
            return
        if not self._dragged and (at - self._pressed).manhattanLength() < _DRAG:
            return
        self._dragged = True
        self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        step, self._last = self._last - at, at
        self.scroll_by(step.x(), step.y())
        self.told_panned()

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        pressed, self._pressed = self._pressed, None
        self.viewport().unsetCursor()
        if pressed is not None and not self._dragged and event.button() == Button.LeftButton:
            item = self.canvas.node_at(self.mapToScene(pressed))
            self.chosen.emit(item.ids[0] if item is not None else None)

    @guard
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        item = self.canvas.node_at(self.mapToScene(event.position().toPoint()))
        if isinstance(item, BlockItem):
            self.unfold_asked.emit(item.ids[0])

    def _unfold_selected(self) -> None:
        last = self.document.selection.last
        item = self.hiding.shown(last) if last is not None else None
        if isinstance(item, BlockItem):
            self.unfold_asked.emit(item.ids[0])

    @guard
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        pixels = event.pixelDelta()
        touchpad = not pixels.isNull() and event.phase() != Qt.ScrollPhase.NoScrollPhase
        if touchpad and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.scroll_by(-pixels.x(), -pixels.y())
            return
        turn = event.angleDelta().y() or event.angleDelta().x()
        self.zoom_by(1.0015**turn, event.position().toPoint())

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Home: self.frame,
            Qt.Key.Key_F: self.frame_selection,
            Qt.Key.Key_Return: self._unfold_selected,
            Qt.Key.Key_Enter: self._unfold_selected,
            Qt.Key.Key_1: lambda: self.set_scale(1.0),
            Qt.Key.Key_Left: lambda: self.scroll_by(-60, 0),
            Qt.Key.Key_Right: lambda: self.scroll_by(60, 0),
            Qt.Key.Key_Up: lambda: self.scroll_by(0, -60),
            Qt.Key.Key_Down: lambda: self.scroll_by(0, 60),
        }
        act = keys.get(Qt.Key(event.key()))
        if act is None:
            event.ignore()
            return
        act()
        event.accept()

    @guard(default=False)
    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == event.Type.ToolTip:
            item = self.canvas.node_at(self.mapToScene(event.pos()))
            QToolTip.showText(event.globalPos(), self._words_of(item) if item is not None else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def _words_of(self, item: NodeItem) -> str:
        """What is told of a card at which the pointer rests."""
        kind = self.marked_cards().get(item)
        if isinstance(item, BlockItem):
            return f"{item.face.title}, {item.face.type}{f': {kind.words}' if kind else ''}. Double-click to unfold."
        return f"{item.face.title}: {kind.words}" if kind is not None else ""
