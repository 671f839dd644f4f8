"""Looking at the net: zoom, pan, framing, and painting the far view."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTransform
from PySide6.QtWidgets import QFrame, QGraphicsView, QLabel, QWidget

from app.canvas.layout.cuts import READABLE
from app.canvas.scene.nodeitem import LOD_BOXES, NodeItem
from app.canvas.scene.scene import CanvasScene
from app.canvas.scene.style import GRID_STEP
from app.qt import guard
from app.slices import Slices
from app.wording import by_key, counted

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["NavigationView"]

_SMALLEST, _LARGEST = 0.04, 4.0
_CROWD = 600
_CROWD_SCALE = 0.4
_DOTS_FROM = 0.5
_ROOM = 48
_EDGE = 12.0  # room around what is framed, at 100 %


class Look(NamedTuple):
    """What is in view: the zoom, the place in the middle, and whether it stays framed when the window is resized."""

    scale: float
    center: QPointF
    follows_size: bool


class NavigationView(QGraphicsView):
    """A view of one document that can be moved, but takes no gestures yet.

    Parameters
    ----------
    slowly : bool
        Let the window answer while the items of a big net are made; see :class:`CanvasScene`.

    Attributes
    ----------
    scale_changed : Signal(float)
        1.0 is 100 %.
    top_room_changed : Signal()
        Messages came or went.
    is_placed : bool
        Whether the nodes have their places, so that there is something to paint.
    slices : Slices
        What is done to the picture of a big net while the window answers.
    top_room : int
        Pixels at the top that messages cover; see :meth:`set_top_room`.
    bottom_room : int
        Pixels at the bottom that words about the picture cover.
    is_pointed_at : bool
        Whether the pointer was moved over the net.
    follows_size : bool
        Whether the picture is framed anew when the view gets another size: until the user moves it.
    """

    scale_changed = Signal(float)
    top_room_changed = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None, *, slowly: bool = False) -> None:
        super().__init__(parent)
        self.document = document
        self.canvas = CanvasScene(document, self, slowly=slowly)
        self.setScene(self.canvas)
        self.follows_size = False
        self.is_pointed_at = False
        self.top_room = self.bottom_room = 0
        self.slices = Slices(self)
        self.gathering = Slices(self)
        placed = document.positions
        self.is_placed = self.canvas.is_built and all(node_id in placed for node_id in self.canvas.nodes)
        self._crowded: bool | None = None
        self._whole = (-1, QRectF())
        self._hint = QLabel(self.viewport())
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.setProperty("muted", True)
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setOptimizationFlags(
            QGraphicsView.OptimizationFlag.DontSavePainterState
            | QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing
        )
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.canvas.content_changed.connect(self._content_changed)
        self.canvas.overview_changed.connect(self._overview_changed)
        self._content_changed()

    def sizeHint(self) -> QSize:
        return QSize(900, 640)

    @property
    def scale_factor(self) -> float:
        """Present zoom; 1.0 is 100 %."""
        return self.transform().m11()

    @property
    def is_far(self) -> bool:
        """Whether the net is painted as boxes and lines."""
        if self.scale_factor < LOD_BOXES:
            return True
        if self.scale_factor >= _CROWD_SCALE:
            return False
        if self._crowded is None:
            touching = Qt.ItemSelectionMode.IntersectsItemBoundingRect
            self._crowded = len(self.canvas.items(self.visible_rect(), touching)) > _CROWD
        return self._crowded

    def visible_rect(self) -> QRectF:
        """Part of the scene that is in view."""
        return QRectF(self.mapToScene(QPoint(0, 0)), self.mapToScene(self.viewport().rect().bottomRight()))

    def told_panned(self) -> None:
        """Look anew at what is in view, after it was moved."""
        self._crowded = None
        if self.is_far:
            self.viewport().update()

    def scroll_by(self, dx: int, dy: int) -> None:
        """Move the view by pixels."""
        self.follows_size = False
        self._crowded = None
        horizontal, vertical = self.horizontalScrollBar(), self.verticalScrollBar()
        horizontal.setValue(horizontal.value() + dx)
        vertical.setValue(vertical.value() + dy)

    def set_scale(self, scale: float, anchor: QPoint | None = None) -> None:
        """Zoom so that the place under ``anchor`` (viewport; its middle by default) stays where it is."""
        scale = min(_LARGEST, max(_SMALLEST, scale))
        anchor = anchor if anchor is not None else self.viewport().rect().center()
        before = self.mapToScene(anchor)
        self.setTransform(QTransform.fromScale(scale, scale))
        after = self.mapFromScene(before)
        self.scroll_by(after.x() - anchor.x(), after.y() - anchor.y())
        self.setRenderHint(QPainter.RenderHint.Antialiasing, scale >= LOD_BOXES)
        self.scale_changed.emit(scale)

    def zoom_by(self, factor: float, anchor: QPoint | None = None) -> None:
        """Zoom by a factor."""
        self.set_scale(self.scale_factor * factor, anchor)

    def look(self) -> Look:
        """Return what is in view now."""
        middle = QRectF(self.viewport().rect()).center()
        return Look(self.scale_factor, self.viewportTransform().inverted()[0].map(middle), self.follows_size)

    def look_at(self, look: Look) -> None:
        """Bring into view what was once."""
        self.set_scale(look.scale)
        self.centerOn(look.center)
        self.told_panned()
        self.follows_size = look.follows_size

    def frame(self, ids: Iterable[NodeId] | None = None, *, largest: float = 1.0) -> None:
        """Bring all nodes, or some, into view."""
        rect = self._framed(ids)
        if rect.isNull():
            self.set_scale(1.0)
            self.centerOn(0.0, 0.0)
            return
        width, height = self._open_size()
        self.set_scale(min(largest, width / rect.width(), height / rect.height()))
        self._crowded = None
        self._center_in_the_open(rect.center())

    def _framed(self, ids: Iterable[NodeId] | None = None) -> QRectF:
        """Return what is framed: cards, for the whole net also its wires, frames and notes, and an edge."""
        if ids is not None:
            rect = self.canvas.content_rect(ids)
        else:
            version = self.canvas.overview.version
            if self._whole[0] != version:
                self._whole = version, self._with_wires(self.canvas.content_rect())
            rect = self._whole[1]
            for item in self.canvas.annotated.shown() if not rect.isNull() else ():
                rect = rect.united(item.area)
        return rect if rect.isNull() else rect.adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE)

    def _with_wires(self, rect: QRectF) -> QRectF:
        """Return a rectangle around all cards, and around the wires that are led around them."""
        if rect.isNull():
            return rect
        points = [point for wire in self.canvas.folding.edges() for point in wire.via]
        xs, ys = [point.x() for point in points], [point.y() for point in points]
        left, top = min(xs, default=rect.left()), min(ys, default=rect.top())
        right, bottom = max(xs, default=rect.right()), max(ys, default=rect.bottom())
        return rect | QRectF(QPointF(left, top), QPointF(right, bottom))

    def room(self) -> tuple[float, float]:
        """Return the width and height that a net has in the view while nothing covers it, in pixels."""
        size = self.viewport().size()
        return size.width() - 2 * _EDGE, size.height() - 2 * _EDGE

    def _open_size(self) -> tuple[int, int]:
        """Return the width and height of the part of the view that nothing covers."""
        size = self.viewport().size()
        return size.width(), size.height() - self.top_room - self.bottom_room

    def _center_in_the_open(self, point: QPointF) -> None:
        self.centerOn(point.x(), point.y() - (self.top_room - self.bottom_room) / 2 / self.scale_factor)

    def frame_selection(self) -> None:
        """Bring the selection into view, or all when nothing is selected."""
        self.frame(self.document.selection.node_ids or None)

    def frame_start(self, readable: float = READABLE) -> None:
        """Show the whole net where its text can be read then, else its beginning.

        What is too much is shown at the width of the view, or at its height, whichever lets more of it be read; where
        neither does, at ``readable``.
        """
        self.is_placed = True
        self.frame()
        if self.scale_factor < readable and self.canvas.items_shown():
            self._frame_beginning(readable)
        self.follows_size = True

    def _frame_beginning(self, readable: float) -> None:
        rect = self._framed()
        width, height = self._open_size()
        larger = max(width / rect.width(), height / rect.height())
        self.set_scale(min(1.0, larger) if larger >= readable else readable)
        wide, high = width / self.scale_factor, height / self.scale_factor
        first = self.canvas.items_shown()[0].scene_body().center()
        x = rect.center().x() if wide >= rect.width() else _within(first.x(), rect.left(), rect.right(), wide)
        y = rect.center().y() if high >= rect.height() else _within(first.y(), rect.top(), rect.bottom(), high)
        self._center_in_the_open(QPointF(x, y))
        self._crowded = None

    @property
    def shows_all(self) -> bool:
        """Whether the whole net is in view."""
        content = self.canvas.content_rect()
        return content.isNull() or self.visible_rect().contains(content)

    def set_top_room(self, pixels: int) -> None:
        """Leave room at the top for messages over the canvas, when the net is framed.

        A net that is as it was first framed is framed anew, unless the pointer was moved over it: it must not jump
        under the user's hand.
        """
        changes, self.top_room = pixels != self.top_room, pixels
        self.top_room_changed.emit()
        if changes and self.follows_size and not (self.underMouse() and self.is_pointed_at):
            self.frame_start()

    def reveal(self, node_id: NodeId) -> None:
        """Scroll as little as needed to show a node with some room around it; one that is in view stays where it is.

        One that is folded is gone to: the block in which it lies is looked into.
        """
        if node_id in self.canvas.nodes and self.canvas.folding.shown(node_id) is not self.canvas.nodes[node_id]:
            self.canvas.folding.look_into(self.canvas.folding.level_of(node_id))
        item = self.canvas.nodes.get(node_id)
        if item is not None:
            self.reveal_card(item)

    def reveal_card(self, item: NodeItem) -> None:
        """The same for a card of this level."""
        if self.visible_rect().contains(item.scene_body()):
            return
        body = self.mapFromScene(item.scene_body()).boundingRect().adjusted(-_ROOM, -_ROOM, _ROOM, _ROOM)
        view = self.viewport().rect()
        if body.width() > view.width() or body.height() > view.height():
            self._crowded = None
            self.centerOn(item.scene_body().center())
            return
        right, below = max(0, body.right() - view.right()), max(0, body.bottom() - view.bottom())
        self.scroll_by(right or min(0, body.left()), below or min(0, body.top()))

    # Painting

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.is_placed and not self.is_far:
            super().paintEvent(event)
            return
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.canvas.style_set.canvas)
        if not self.is_placed:
            painter.setPen(self.canvas.style_set.muted)
            text = f"Arranging {counted(len(self.document.graph), 'layer')}\u2026"
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, text)
            painter.end()
            return
        painter.setTransform(self.viewportTransform())
        self.canvas.overview.paint(painter)
        painter.end()

    @guard
    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        style = self.canvas.style_set
        painter.fillRect(rect, style.canvas)
        if self.scale_factor < _DOTS_FROM:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(style.dots)
        left, top = rect.left() // GRID_STEP * GRID_STEP, rect.top() // GRID_STEP * GRID_STEP
        columns, rows = int((rect.right() - left) // GRID_STEP) + 1, int((rect.bottom() - top) // GRID_STEP) + 1
        painter.translate(left, top)
        painter.drawPoints(style.grid_points(columns, rows))
        painter.translate(-left, -top)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def _content_changed(self) -> None:
        self._crowded = None
        self._hint.setVisible(not len(self.document.graph))
        self._place_hint()
        if self.is_far:
            self.viewport().update()

    @guard
    def _overview_changed(self) -> None:
        if self.is_far:
            self.viewport().update()

    @guard
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        self._place_hint()  # Qt scrolls what lies on the viewport along

    def say_adding_key(self, key: str) -> None:
        """Have an empty canvas say by which key a layer is added."""
        self._hint.setText("<b>Drop a .prototxt file here</b>" + by_key(key, "<br>or press {} to add the first layer"))
        self._place_hint()

    def _place_hint(self) -> None:
        self._hint.adjustSize()
        self._hint.move(self.viewport().rect().center() - self._hint.rect().center())

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._crowded = None
        self._place_hint()
        if self.follows_size:
            self.frame_start()


def _within(wanted: float, low: float, high: float, size: float) -> float:
    """Return the middle of a window of a size that lies between two ends, as near to the wanted as can be."""
    return min(max(wanted, low + size / 2), high - size / 2)
