"""A node: one graphics item that paints itself and its ports.

No child items, no item cache, no change callbacks: that is what keeps thousands of nodes smooth. No ``__slots__``:
PySide crashes in a class derived from one of its own that has them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.face import ASIDE, FOOTER, GHOST, HEADER, NODE_RADIUS, NODE_WIDTH, PADDING, PARAM_ROW, PORT_ROW, Face
from app.qt import guard

if TYPE_CHECKING:
    from app.canvas.edgeitem import EdgeItem
    from app.canvas.heat import Heat
    from app.canvas.style import CanvasStyle
    from engine.graph import NodeId

__all__ = ["LOD_BOXES", "LOD_TEXT", "NodeItem"]

#: Below this scale texts are left out.
LOD_TEXT = 0.4
#: Below this scale the whole net is painted as boxes and lines.
LOD_BOXES = 0.22

_PORT = 4.5
_TEXT_LEFT = 12.0


class NodeItem(QGraphicsItem):
    """One node of the net.

    Attributes
    ----------
    node_id : NodeId
        The node that is shown.
    edges : set of EdgeItem
        Wires at its ports.
    facts : object
        The computed facts that the face shows, to tell when it must be described anew.
    docked : bool
        Whether it hangs under the node that it works on in place.
    heat : Heat or None
        What it costs, where the canvas shows that.
    """

    #: Room that is kept free beside the title.
    title_margin = 10.0

    def __init__(self, node_id: NodeId, face: Face, style: CanvasStyle) -> None:
        super().__init__()
        self.node_id = node_id
        self.style = style
        self.edges: set[EdgeItem] = set()
        self.wired_inputs: dict[int, int] = {}
        self.docked = False
        self.marked = False
        self.hovered = False
        self.ringed = False
        self.hot_port: tuple[str, int] | None = None
        self.face = face
        self.facts: object = None
        self.heat: Heat | None = None
        self.body = QRectF(0.0, 0.0, NODE_WIDTH, face.height)
        self.box = self.body.adjusted(-8.0, -8.0, 8.0, 8.0)

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """The layers that it stands for."""
        return (self.node_id,)

    def end(self, side: str, index: int) -> tuple[NodeId, int]:
        """The layer and the number of its port that a port of the card stands for."""
        return self.node_id, index

    def set_face(self, face: Face) -> bool:
        """Show another face; return whether the size changed."""
        if face == self.face:
            return False
        resized = face.height != self.face.height
        if resized:
            self.prepareGeometryChange()
        self.face = face
        if resized:
            self.body = QRectF(0.0, 0.0, NODE_WIDTH, face.height)
            self.box = self.body.adjusted(-8.0, -8.0, 8.0, 8.0)
        self.update()
        return resized

    def boundingRect(self) -> QRectF:
        return self.box

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.box)
        return path

    def input_point(self, index: int) -> QPointF:
        """Place of an input in the scene."""
        pos = self.pos()
        return QPointF(pos.x(), pos.y() + self.face.input_y(index))

    def output_point(self, index: int) -> QPointF:
        """Place of an output in the scene."""
        pos = self.pos()
        return QPointF(pos.x() + NODE_WIDTH, pos.y() + self.face.output_y(index))

    def scene_body(self) -> QRectF:
        """The card in the scene, without glow and ports."""
        return self.body.translated(self.pos())

    def scene_badge(self) -> QRectF:
        """Where the sign is that something is wrong, in the scene."""
        return QRectF(NODE_WIDTH - 15.0, -7.0, 18.0, 18.0).translated(self.pos())

    def port_at(self, scene_pos: QPointF, reach: float) -> tuple[str, int] | None:
        """Return ``("input" or "output", index)`` of the nearest port within ``reach`` pixels."""
        best: tuple[float, tuple[str, int]] | None = None
        ends = [("input", i, self.input_point(i)) for i in range(len(self.face.inputs))]
        ends += [("output", i, self.output_point(i)) for i in range(len(self.face.outputs))]
        for side, index, point in ends:
            distance = (point - scene_pos).manhattanLength()
            if distance <= reach and (best is None or distance < best[0]):
                best = (distance, (side, index))
        return best[1] if best else None

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        scale = painter.worldTransform().m11()
        style = self.style
        opacity = painter.opacity()
        if self.face.ghost or self.face.bypassed:
            painter.setOpacity(opacity * (GHOST if self.face.ghost else ASIDE))
        if scale < LOD_TEXT:
            self._paint_plain(painter, style)
        else:
            self._paint_card(painter, style)
            if self.face.chip:
                self._paint_chip_text(painter, style)
            else:
                self._paint_texts(painter, style)
            self._paint_ports(painter, style)
        if self.heat is not None:
            self.heat.paint(painter, style, self.body, scale)
        if self.face.severity:
            self._paint_badge(painter, style, scale)
        if self.ringed:
            painter.setPen(style.ring)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.body.adjusted(-5.0, -5.0, 5.0, 5.0), NODE_RADIUS + 4.0, NODE_RADIUS + 4.0)
        painter.setOpacity(opacity)

    def _paint_plain(self, painter: QPainter, style: CanvasStyle) -> None:
        painter.setPen(style.selected if self.marked else style.border)
        painter.setBrush(style.node_brush)
        painter.drawRect(self.body)
        painter.setPen(style.no_pen)
        painter.fillRect(
            QRectF(0.0, 0.0, NODE_WIDTH, min(HEADER, self.body.height())), style.headers[self.face.category]
        )
        painter.fillRect(QRectF(0.0, 0.0, 6.0, self.body.height()), style.categories[self.face.category])

    def _paint_card(self, painter: QPainter, style: CanvasStyle) -> None:
        # One antialiased shape for border, header and body: each costs more than all texts together.
        body, category = self.body, self.face.category
        painter.fillRect(QRectF(4.0, body.height(), NODE_WIDTH - 8.0, 2.5), style.shadow)
        painter.setBrush(style.headers[category] if self.face.chip else style.card(category, body.height()))
        plain = style.border_aside if self.face.bypassed else style.border
        painter.setPen(style.selected if self.marked else style.hover if self.hovered else plain)
        painter.drawRoundedRect(body, NODE_RADIUS, NODE_RADIUS)
        painter.fillRect(QRectF(0.5, NODE_RADIUS, 3.0, body.height() - 2 * NODE_RADIUS), style.categories[category])

    def _paint_texts(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        painter.drawPixmap(QPointF(_TEXT_LEFT, 11.0), style.icon(face.category, 18, _detail(painter), face.picture))
        left = _TEXT_LEFT + 26.0
        room = NODE_WIDTH - left - (48.0 if face.phase else self.title_margin)
        kind_room = room if self.heat is None else min(room, NODE_WIDTH - left - self.heat.width(style))
        painter.setFont(style.title_font)
        painter.setPen(style.text)
        painter.drawStaticText(QPointF(left, 5.0), style.label(face.title, "title_font", room).static)
        painter.setFont(style.small_font)
        painter.setPen(style.muted)
        painter.drawStaticText(QPointF(left, 22.0), style.label(face.type, "small_font", kind_room).static)
        if face.phase:
            self._paint_phase(painter, style, QRectF(NODE_WIDTH - 48.0, 12.0, 40.0, 16.0))
        painter.setFont(style.text_font)
        half = NODE_WIDTH / 2 - _TEXT_LEFT - 4.0
        in_room = half if face.outputs else 2 * half
        out_room = half if face.inputs else 2 * half
        y = HEADER + PADDING + 2.0
        for index, port in enumerate(face.inputs):
            painter.setPen(style.muted)
            label = style.label(port.label, "text_font", in_room)
            painter.drawStaticText(QPointF(_TEXT_LEFT, y + PORT_ROW * index), label.static)
        for index, port in enumerate(face.outputs):
            painter.setPen(style.muted)
            label = style.label(port.label, "text_font", out_room)
            painter.drawStaticText(QPointF(NODE_WIDTH - _TEXT_LEFT - label.width, y + PORT_ROW * index), label.static)
        self._paint_params(painter, style)

    def _paint_params(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        y = HEADER + PADDING + PORT_ROW * face.rows
        painter.setFont(style.small_font)
        for name, value in face.params:
            value_label = style.label(value, "small_font", NODE_WIDTH * 0.5)
            name_label = style.label(name, "small_font", NODE_WIDTH - 3 * _TEXT_LEFT - value_label.width)
            painter.setPen(style.muted)
            painter.drawStaticText(QPointF(_TEXT_LEFT, y + 1.0), name_label.static)
            painter.setPen(style.text)
            painter.drawStaticText(QPointF(NODE_WIDTH - _TEXT_LEFT - value_label.width, y + 1.0), value_label.static)
            y += PARAM_ROW
        y += 3.0
        painter.setPen(style.line)
        painter.drawLine(QPointF(_TEXT_LEFT, y), QPointF(NODE_WIDTH - _TEXT_LEFT, y))
        shape = face.outputs[0].shape if face.outputs else ""
        painter.setPen(style.muted)
        bottom = self.body.height() - FOOTER + 2.0
        shape_label = style.label(shape, "small_font", NODE_WIDTH * 0.6)
        size_text = ", ".join(filter(None, (face.size_text, face.state)))
        room = NODE_WIDTH - 3 * _TEXT_LEFT - shape_label.width
        size_label = style.label(size_text, "small_font", 0.0)
        if size_label.width > room:
            size_label = style.label(size_text.replace(" params", ""), "small_font", room)
        painter.drawStaticText(QPointF(_TEXT_LEFT, bottom), size_label.static)
        painter.drawStaticText(QPointF(NODE_WIDTH - _TEXT_LEFT - shape_label.width, bottom), shape_label.static)

    def _paint_chip_text(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        painter.drawPixmap(QPointF(_TEXT_LEFT, 7.0), style.icon(face.category, 14, _detail(painter), face.picture))
        left = _TEXT_LEFT + 22.0
        right = NODE_WIDTH - _TEXT_LEFT
        if face.phase:
            self._paint_phase(painter, style, QRectF(right - 40.0, 6.0, 40.0, 16.0))
            right -= 48.0
        kind = style.label(face.state or face.type, "small_font", 84.0)
        title = style.label(face.title, "text_font", right - left - kind.width - 8.0)
        painter.setFont(style.text_font)
        painter.setPen(style.text)
        painter.drawStaticText(QPointF(left, 6.0), title.static)
        painter.setFont(style.small_font)
        painter.setPen(style.muted)
        painter.drawStaticText(QPointF(right - kind.width, 7.0), kind.static)

    def _paint_phase(self, painter: QPainter, style: CanvasStyle, rect: QRectF) -> None:
        painter.setPen(style.no_pen)
        painter.setBrush(style.phase_fill[self.face.phase])
        painter.drawRoundedRect(rect, 4.0, 4.0)
        painter.setFont(style.badge_font)
        painter.setPen(style.phase_pen[self.face.phase])
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.face.phase)

    def _paint_ports(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        if not (self.docked and face.chip):
            for index, port in enumerate(face.inputs):
                self._paint_port(painter, style, "input", index, QPointF(0.0, face.input_y(index)), port.blob)
        for index, port in enumerate(face.outputs):
            self._paint_port(painter, style, "output", index, QPointF(NODE_WIDTH, face.output_y(index)), port.blob)

    def _paint_port(self, painter: QPainter, style: CanvasStyle, side: str, index: int, at: QPointF, blob: str) -> None:
        hot = self.hot_port == (side, index)
        wired = side == "output" or index in self.wired_inputs
        painter.setPen(style.no_pen if hot else style.port_pen)
        painter.setBrush(style.port_hot if hot else style.port if wired else style.port_open)
        radius = _PORT + 2.0 if hot else _PORT
        painter.drawEllipse(at, radius, radius)

    def _paint_badge(self, painter: QPainter, style: CanvasStyle, scale: float) -> None:
        size = 16.0 if scale >= LOD_TEXT else 28.0
        center = QPointF(NODE_WIDTH - 6.0, 2.0)
        error = self.face.severity == "error"
        painter.setPen(style.no_pen)
        painter.setBrush(style.error if error else style.warning)
        if error:
            painter.drawEllipse(center, size / 2, size / 2)
        else:
            triangle = QPainterPath(center + QPointF(0.0, -size * 0.56))
            triangle.lineTo(center + QPointF(size * 0.6, size * 0.48))
            triangle.lineTo(center + QPointF(-size * 0.6, size * 0.48))
            triangle.closeSubpath()
            painter.drawPath(triangle)
        painter.setFont(style.text_font)
        painter.setPen(style.badge_text)
        rect = QRectF(center.x() - size, center.y() - size + (0.0 if error else 1.5), 2 * size, 2 * size)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "!")


def _detail(painter: QPainter) -> float:
    """Return the device pixels to a logical one that an icon needs to be crisp, in steps so that few are made."""
    scale = painter.worldTransform().m11()
    return float(painter.device().devicePixelRatioF()) * math.ceil(4.0 * scale) / 4.0
