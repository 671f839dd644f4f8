"""A wire: one graphics item with a cached path."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.face import GHOST, NODE_WIDTH
from app.canvas.nodeitem import LOD_TEXT, NodeItem
from app.canvas.routes import dock_path, wire_path
from app.qt import guard

if TYPE_CHECKING:
    from app.canvas.style import CanvasStyle
    from app.placement import Route
    from engine.graph import Edge

__all__ = ["EdgeItem"]

_LABEL_MARGIN = 22.0


class EdgeItem(QGraphicsItem):
    """One connection of the net.

    Attributes
    ----------
    edge : engine.graph.Edge
        The connection as a value.
    label : str
        Shape that flows, shown where the wire is long enough; empty for none.
    route : Route or None
        What the layout found; followed while its two nodes stand to each other as they did then.
    via : tuple of QPointF
        Points that the wire passes now.
    """

    __slots__ = (
        "box", "chosen", "edge", "ghost", "hovered", "label", "label_at", "line", "path", "phase", "route", "source",
        "style", "target", "via", "wanted",
    )  # fmt: skip

    def __init__(self, edge: Edge, source: NodeItem, target: NodeItem, style: CanvasStyle) -> None:
        super().__init__()
        self.setZValue(-1.0)
        self.edge = edge
        self.source = source
        self.target = target
        self.style = style
        self.route: Route | None = None
        self.via: tuple[QPointF, ...] = ()
        self.label = ""
        self.wanted = ""
        self.label_at = QPointF()
        self.hovered = False
        self.ghost = False
        self.chosen = False
        self.phase = ""
        self.path = QPainterPath()
        self.line = QLineF()
        self.box = QRectF()

    @property
    def docked(self) -> bool:
        """Whether it only joins a node with what is docked under it."""
        return self.target.docked and self.target.face.chip and self.edge.bottom == 0

    def update_path(self) -> None:
        """Follow the nodes."""
        self.prepareGeometryChange()
        if self.docked:
            x = self.source.pos().x() + NODE_WIDTH / 2
            start = QPointF(x, self.source.scene_body().bottom())
            end = QPointF(x, self.target.pos().y())
            self.path = dock_path(start, end)
        else:
            start = self.source.output_point(self.edge.top)
            end = self.target.input_point(self.edge.bottom)
            self.via = self._via()
            self.path = wire_path(start, end, self.via)
        self.line = QLineF(start, end)
        self._place_label()
        box = self.path.controlPointRect().adjusted(-4.0, -4.0, 4.0, 4.0)
        if self.label:
            box = box.united(self._label_rect().adjusted(-2.0, -2.0, 2.0, 2.0))
        self.box = box

    def set_label(self, text: str) -> None:
        """Show a shape on the wire where there is room."""
        if text != self.wanted:
            self.wanted = text
            self.update_path()
            self.update()

    def set_ghost(self, ghost: bool) -> None:
        """Dim the wire when it is not in the view of the document."""
        if ghost != self.ghost:
            self.ghost = ghost
            self.update()

    def set_route(self, route: Route | None) -> None:
        """Lead the wire as the layout found."""
        if route is not None or self.route is not None:
            self.route = route
            self.update_path()

    def _via(self) -> tuple[QPointF, ...]:
        route = self.route
        if route is None:
            return ()
        a, b = self.source.pos(), self.target.pos()
        dx, dy = a.x() - route.source.x, a.y() - route.source.y
        if abs(b.x() - route.target.x - dx) > 0.5 or abs(b.y() - route.target.y - dy) > 0.5:
            return ()
        return tuple(QPointF(point.x + dx, point.y + dy) for point in route.points)

    def _place_label(self) -> None:
        self.label = ""
        if not self.wanted or self.docked:
            return
        width = self.style.width_of(self.wanted, "small_font")
        if self.via:
            first = self.via[0]
            start = self.line.p1()
            if abs(first.y() - start.y()) > 0.5 or first.x() - start.x() < width + _LABEL_MARGIN:
                at, room = self._longest_level()
            else:
                at, room = (start + first) / 2, first.x() - start.x()
        else:
            at, room = self.path.pointAtPercent(0.5), self.line.x2() - self.line.x1()
        if room >= width + _LABEL_MARGIN:
            self.label = self.wanted
            self.label_at = at

    def _longest_level(self) -> tuple[QPointF, float]:
        points = [self.line.p1(), *self.via, self.line.p2()]
        best, room = self.path.pointAtPercent(0.5), 0.0
        for a, b in pairwise(points):
            length = abs(b.x() - a.x())
            if abs(a.y() - b.y()) < 0.5 and length > room:
                best, room = (a + b) / 2, length
        return best, room

    def _label_rect(self) -> QRectF:
        width = self.style.width_of(self.label, "small_font") + 10.0
        return QRectF(self.label_at.x() - width / 2, self.label_at.y() - 8.0, width, 16.0)

    def boundingRect(self) -> QRectF:
        return self.box

    def shape(self) -> QPainterPath:
        stroker = QPainterPathStroker()
        stroker.setWidth(10.0)
        return stroker.createStroke(self.path)

    def near(self, point: QPointF, reach: float) -> bool:
        """Whether a place in the scene is within ``reach`` pixels of the wire."""
        return self.path.intersects(QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach))

    def pen(self) -> QPen:
        """Pen of the wire in its present state; phases differ by their dashes, not only by colour."""
        style = self.style
        if self.hovered:
            return style.wire_hover
        if self.chosen or self.source.marked or self.target.marked:
            return style.wire_selected
        if self.phase:
            return style.wire_train if self.phase == "TRAIN" else style.wire_test
        return style.wire

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        style = self.style
        if self.ghost:
            painter.setOpacity(GHOST)
        painter.setPen(self.pen())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self.path)
        if self.label and painter.worldTransform().m11() >= LOD_TEXT:
            rect = self._label_rect()
            painter.setPen(style.no_pen)
            painter.setBrush(style.label_back)
            painter.drawRoundedRect(rect, 4.0, 4.0)
            painter.setFont(style.small_font)
            painter.setPen(style.muted)
            label = style.label(self.label, "small_font", 0.0)
            painter.drawStaticText(QPointF(rect.x() + 5.0, rect.y() + 8.0 - label.height / 2), label.static)
        if self.ghost:
            painter.setOpacity(1.0)
