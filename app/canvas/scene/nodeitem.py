"""A node: one graphics item that paints itself and its ports.

No child items, no item cache, no change callbacks: that is what keeps thousands of nodes smooth. No ``__slots__``:
PySide crashes in a class derived from one of its own that has them.

Cards and wires are rectangles to Qt, so that it knows their boxes itself: asked in Python, those of 10,000 items that
are put in order take 40 ms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsRectItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.scene.face import (
    ASIDE,
    CHIP_HEIGHT,
    GHOST,
    HEADER,
    NODE_RADIUS,
    NODE_WIDTH,
    PADDING,
    PARAM_ROW,
    PORT_ROW,
    Face,
)
from app.qt import guard

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.heat import Heat
    from app.canvas.scene.style import CanvasStyle, StaticLabel
    from engine.graph import NodeId

__all__ = ["LOD_BOXES", "LOD_TEXT", "NO_PEN", "NodeItem"]

#: Below this scale texts are left out.
LOD_TEXT = 0.4
#: Below this scale the whole net is painted as boxes and lines.
LOD_BOXES = 0.22

#: Of items that are painted by themselves, whose boxes have no border.
NO_PEN = QPen(Qt.PenStyle.NoPen)

_PORT = 4.5
_TEXT_LEFT = 12.0
_FINEST = 20.0  # times the size at 100 %: icons of larger pictures are stretched
#: Width of the sign that says TRAIN or TEST.
_BADGE = 42.0
#: What the sign that something is wrong takes at the right of a card, and a little air.
_BADGE_ROOM = 20.0
#: A chip names the type beside its name where that keeps so much, in pixels.
_LEAST_TITLE = 52.0
#: So much of its line words on the state of a layer keep beside a long type, in pixels.
_STATE_ROOM = 46.0
#: The name of an input that has less room, in pixels, is written whole or not at all.
_LEAST_NAME = 40.0


class NodeItem(QGraphicsRectItem):
    """One node of the net.

    Attributes
    ----------
    node_id : NodeId
        The node that is shown.
    edges : set of EdgeItem
        Wires at its ports.
    facts : object
        The computed facts that the face shows, to tell when it must be described anew.
    hangs_under : NodeItem or None
        The node that it works on in place, where it stands right under it, be that shown or folded away.
    heat : Heat or None
        What it costs, where the canvas shows that.
    height : float
        That of its face, which many ask for.
    """

    #: Room that is kept free beside the title.
    title_margin = 10.0

    def __init__(self, node_id: NodeId, face: Face, style: CanvasStyle) -> None:
        super().__init__()
        self.setPen(NO_PEN)
        self.node_id = node_id
        self.style = style
        self.edges: set[EdgeItem] = set()
        self.wired_inputs: dict[int, int] = {}
        self.hangs_under: NodeItem | None = None
        self.marked = False
        self.hovered = False
        self.ringed = False
        self.hot_port: tuple[str, int] | None = None
        self.face = face
        self.facts: object = None
        self.heat: Heat | None = None
        self.height = face.height
        self.body = QRectF(0.0, 0.0, NODE_WIDTH, self.height)
        self._grow()

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """The layers that it stands for."""
        return (self.node_id,)

    @property
    def docked(self) -> bool:
        """Whether it hangs under the node that it works on in place; not under one that is folded away."""
        host = self.hangs_under
        return host is not None and host.isVisible() == self.isVisible()

    def end(self, side: str, index: int) -> tuple[NodeId, int]:
        """The layer and the number of its port that a port of the card stands for."""
        return self.node_id, index

    def set_face(self, face: Face) -> bool:
        """Show another face; return whether the size changed."""
        if face == self.face:
            return False
        height = face.height
        resized = height != self.height
        self.face = face
        if resized:
            self.height = height
            self.body = QRectF(0.0, 0.0, NODE_WIDTH, height)
            self._grow()
        self.update()
        return resized

    def _grow(self) -> None:
        """Keep room around the card for its ports and its glow."""
        self.setRect(self.body.adjusted(-8.0, -8.0, 8.0, 8.0))

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
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem | None, widget: QWidget | None = None) -> None:
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
        painter.drawPixmap(
            QPointF(_TEXT_LEFT - 1.0, 9.0), style.icon(face.category, 18, _detail(painter), face.picture)
        )
        left = _TEXT_LEFT + 25.0
        badge_right = NODE_WIDTH - (17.0 if face.severity else 8.0)  # beside the sign that something is wrong
        margin = max(self.title_margin, _BADGE_ROOM if face.severity else 0.0)
        room = (badge_right - _BADGE - 4.0 if face.phase else NODE_WIDTH - margin) - left
        painter.setFont(style.title_font)
        painter.setPen(style.text)
        painter.drawStaticText(QPointF(left, 2.0), style.label(face.title, "title_font", room).static)
        if face.phase:
            self._paint_phase(painter, style, QRectF(badge_right - _BADGE, 3.0, _BADGE, 15.0))
        self._paint_kind(painter, style, left)
        self._paint_port_texts(painter, style)
        self._paint_params(painter, style)

    def _paint_kind(self, painter: QPainter, style: CanvasStyle, left: float) -> None:
        """Paint the line below the title: the type, and what is to be said of the layer as a whole."""
        face = self.face
        right = NODE_WIDTH - _TEXT_LEFT + 2.0
        room = right - left
        if self.heat is not None:
            room = NODE_WIDTH - left - self.heat.width(style)
        painter.setFont(style.small_font)
        painter.setPen(style.muted)
        said = face.state or face.size_text
        if said and self.heat is None:
            kind = style.label(face.type, "small_font", 0.0)
            said_label = style.label(said, "small_font", 0.0)
            if kind.width + said_label.width + 8.0 > room:
                most = max(_STATE_ROOM, room - kind.width - 8.0)  # the type is read first
                said_label = style.label(said.replace(" params", ""), "small_font", most)
            if face.state or kind.width + said_label.width + 8.0 <= room:
                painter.drawStaticText(QPointF(right - said_label.width, 18.0), said_label.static)
                room -= said_label.width + 8.0
        painter.drawStaticText(QPointF(left, 18.0), style.label(face.type, "small_font", room).static)

    def _paint_port_texts(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        whole = NODE_WIDTH - 2 * _TEXT_LEFT
        painter.setPen(style.muted)
        painter.setFont(style.text_font)
        for row in range(face.rows):
            y = HEADER + PADDING + 2.0 + PORT_ROW * row
            asked = face.inputs[row].label if row < len(face.inputs) else ""
            room = whole
            if row < len(face.outputs):
                label = self._output_label(style, row, asked, whole)
                painter.drawStaticText(QPointF(NODE_WIDTH - _TEXT_LEFT - label.width, y), label.static)
                room -= label.width + 8.0
            if asked and (room >= _LEAST_NAME or style.width_of(asked, "text_font") <= room):
                painter.drawStaticText(QPointF(_TEXT_LEFT, y), style.label(asked, "text_font", room).static)

    def _output_label(self, style: CanvasStyle, row: int, asked: str, whole: float) -> StaticLabel:
        """Return what stands beside an output: shape and name, or one of them where there is no room for both.

        The shape of an only output is read before its name, and before the name of the input beside it.
        """
        face = self.face
        beside = style.label(asked, "text_font", 0.0).width + 8.0 if asked else 0.0
        most = max(whole / 2, whole - beside)
        said = face.output_text(row)
        label = style.label(said, "text_font", most)
        if label.text == said:
            return label
        port = face.outputs[row]
        if port.shape and len(face.outputs) == 1 and style.width_of(port.shape, "text_font") <= whole:
            return style.label(port.shape, "text_font", whole)
        return style.label(port.label, "text_font", most)

    def _paint_params(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        y = HEADER + PADDING + PORT_ROW * face.rows
        whole = NODE_WIDTH - 2 * _TEXT_LEFT - 8.0
        painter.setFont(style.small_font)
        for name, value in face.params:
            most = max(NODE_WIDTH * 0.4, whole - style.width_of(name, "small_font"))
            value_label = style.label(value, "small_font", most)
            name_label = style.label(name, "small_font", whole - value_label.width)
            painter.setPen(style.muted)
            painter.drawStaticText(QPointF(_TEXT_LEFT, y), name_label.static)
            painter.setPen(style.text)
            painter.drawStaticText(QPointF(NODE_WIDTH - _TEXT_LEFT - value_label.width, y), value_label.static)
            y += PARAM_ROW

    def _paint_chip_text(self, painter: QPainter, style: CanvasStyle) -> None:
        face = self.face
        painter.drawPixmap(QPointF(_TEXT_LEFT, 6.0), style.icon(face.category, 14, _detail(painter), face.picture))
        left = _TEXT_LEFT + 22.0
        right = NODE_WIDTH - (_BADGE_ROOM if face.severity else _TEXT_LEFT)
        if self.heat is not None:
            right = min(right, NODE_WIDTH - self.heat.width(style) - 4.0)
        if face.phase:
            self._paint_phase(painter, style, QRectF(right - _BADGE, 5.0, _BADGE, 16.0))
            right -= _BADGE + 8.0
        kind = style.label(face.state or face.type, "small_font", 84.0)
        room = right - left - kind.width - 8.0
        is_told = room >= _LEAST_TITLE or bool(face.state) or style.width_of(face.title, "text_font") <= room
        title = style.label(face.title, "text_font", room if is_told else right - left)
        painter.setFont(style.text_font)
        painter.setPen(style.text)
        painter.drawStaticText(QPointF(left, (CHIP_HEIGHT - title.height) / 2), title.static)
        if not is_told:  # the name is read first; icon and colour tell the kind too
            return
        painter.setFont(style.small_font)
        painter.setPen(style.muted)
        painter.drawStaticText(QPointF(right - kind.width, (CHIP_HEIGHT - kind.height) / 2), kind.static)

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
    return float(painter.device().devicePixelRatioF()) * min(_FINEST, math.ceil(4.0 * scale) / 4.0)
