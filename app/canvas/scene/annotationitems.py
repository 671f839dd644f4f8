"""Frames and notes in the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.qt import guard
from app.theme import blend

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from app.canvas.scene.style import CanvasStyle
    from app.document.annotations import Annotation

__all__ = ["TITLE", "AnnotationItem", "AnnotationItems"]

#: Height of the title of a frame, in pixels at 100 %.
TITLE = 28.0
_CORNER = 16.0
_BORDER = 6.0
_FRAME_Z, _NOTE_Z = -10.0, 0.5
_FONT = 14.0
_FAR = 0.6


class AnnotationItem(QGraphicsItem):
    """A frame or a note.

    Attributes
    ----------
    value : Annotation
        What is shown; another one while it is dragged.
    chosen : bool
        Whether it is selected.
    has_grip : bool
        Whether its corner shows that it can be drawn larger; not in pictures.
    """

    def __init__(self, value: Annotation, style: CanvasStyle) -> None:
        super().__init__()
        self.value = value
        self.style = style
        self.chosen = False
        self.has_grip = True
        self.setZValue(_FRAME_Z if value.kind == "frame" else _NOTE_Z)

    @property
    def area(self) -> QRectF:
        """Its place in the scene."""
        return self.value.area

    def show_value(self, value: Annotation) -> None:
        """Show it so."""
        self.prepareGeometryChange()
        self.value = value
        self.update()

    def boundingRect(self) -> QRectF:
        return self.area.adjusted(-_BORDER, -_BORDER, _BORDER, _BORDER)

    def zone(self, point: QPointF, reach: float) -> str:
        """What a press at a place takes hold of: ``resize``, ``move`` or nothing."""
        area = self.area
        if not area.adjusted(-reach, -reach, reach, reach).contains(point):
            return ""
        corner = max(_CORNER, reach)
        if QRectF(area.right() - corner, area.bottom() - corner, 2 * corner, 2 * corner).contains(point):
            return "resize"
        if self.value.kind == "note":
            return "move"
        inner = area.adjusted(_BORDER, TITLE, -_BORDER, -_BORDER)
        return "" if inner.contains(point) else "move"

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        self.paint_on(painter, painter.worldTransform().m11())

    def paint_on(self, painter: QPainter, scale: float) -> None:
        """Paint in scene coordinates."""
        style, area, value = self.style, self.area, self.value
        hue = style.categories[value.color].color()
        is_note = value.kind == "note"
        fill = blend(hue, style.node_brush.color() if is_note else style.canvas, 0.14)
        painter.setBrush(QBrush(fill))
        painter.setPen(style.selected if self.chosen else QPen(blend(hue, style.canvas, 0.6), 1.2))
        painter.drawRoundedRect(area, 8.0, 8.0)
        if is_note:
            self._paint_note(painter, scale, area)
            return
        # Far away the title stays large enough to be read, as far as the frame has room.
        size = min(max(_FONT, _FONT * _FAR / max(scale, 0.01)), max(_FONT, area.height() * 0.4))
        painter.setFont(_font(style, size, bold=True))
        painter.setPen(style.text)
        room = area.adjusted(10.0, 2.0, -10.0, 0.0)
        room.setHeight(max(TITLE, size * 1.6) - 2.0)
        text = painter.fontMetrics().elidedText(value.text, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        self._paint_corner(painter, hue)

    def _paint_note(self, painter: QPainter, scale: float, area: QRectF) -> None:
        if scale >= 0.3:
            painter.setFont(_font(self.style, 12.0, bold=False))
            painter.setPen(self.style.text)
            flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft
            painter.save()
            painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
            painter.drawText(area.adjusted(10.0, 8.0, -10.0, -8.0), int(flags), self.value.text)
            painter.restore()
        self._paint_corner(painter, self.style.categories[self.value.color].color())

    def _paint_corner(self, painter: QPainter, hue: QColor) -> None:
        if not self.has_grip:
            return
        painter.setPen(QPen(hue, 1.2))
        corner = self.area.bottomRight()
        for step in (5.0, 9.0):
            painter.drawLine(corner - QPointF(step, 2.5), corner - QPointF(2.5, step))


def _font(style: CanvasStyle, size: float, *, bold: bool) -> QFont:
    font = QFont(style.title_font if bold else style.text_font)
    font.setPixelSize(max(1, round(size)))
    return font


class AnnotationItems:
    """The frames and notes of one scene.

    Attributes
    ----------
    items : dict of AnnotationItem
        By id.
    chosen : set of int
        Those that are selected.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._annotations = scene.document.positions.annotations
        self.items: dict[int, AnnotationItem] = {}
        self.chosen: set[int] = set()
        self._annotations.changed.connect(self._changed)
        scene.level_changed.connect(self.show_level)
        self._changed(frozenset(each.id for each in self._annotations))

    def close(self) -> None:
        """Let go of the document."""
        self._annotations.changed.disconnect(self._changed)
        self._scene.level_changed.disconnect(self.show_level)
        self.items.clear()

    def shown(self) -> list[AnnotationItem]:
        """Return those on the level that is looked at."""
        level = self._scene.folding.level
        return [item for item in self.items.values() if item.value.level == level]

    def at(self, point: QPointF, reach: float) -> tuple[AnnotationItem, str] | None:
        """Return what a press at a place of the scene takes hold of, notes and small frames first, and where."""
        order = sorted(self.shown(), key=lambda item: (-item.zValue(), item.area.width() * item.area.height()))
        return next(((item, zone) for item in order if (zone := item.zone(point, reach))), None)

    def choose(self, numbers: set[int]) -> None:
        """Select these frames and notes, and no other."""
        for number in self.chosen ^ numbers:
            item = self.items.get(number)
            if item is not None:
                item.chosen = number in numbers
                item.update()
        self.chosen = {number for number in numbers if number in self.items}

    def paint_far(self, painter: QPainter) -> None:
        """Paint the frames and notes of this level under the far view."""
        scale = painter.worldTransform().m11()
        for item in sorted(self.shown(), key=lambda item: item.zValue()):
            item.paint_on(painter, scale)

    def set_style(self, style: CanvasStyle) -> None:
        """Paint in another theme."""
        for item in self.items.values():
            item.style = style

    @guard
    def show_level(self) -> None:
        """Show what belongs to the level that is looked at."""
        level = self._scene.folding.level
        for item in self.items.values():
            item.setVisible(item.value.level == level)

    @guard
    def _changed(self, numbers: frozenset[int]) -> None:
        for number in numbers:
            value, item = self._annotations.get(number), self.items.get(number)
            if value is None and item is not None:
                self._scene.removeItem(self.items.pop(number))
                self.chosen.discard(number)
            elif value is not None and item is None:
                item = self.items[number] = AnnotationItem(value, self._scene.style_set)
                self._scene.addItem(item)
            elif value is not None and item is not None:
                item.show_value(value)
        self.show_level()
        self._scene.told_shown()
