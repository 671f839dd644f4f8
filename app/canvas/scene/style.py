"""Pens, brushes, fonts and prepared texts of the canvas, made once per theme.

A node is painted thousands of times while a view pans, so nothing is made while painting.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QLinearGradient, QPen, QPixmap, QPolygonF, QStaticText
from PySide6.QtWidgets import QApplication

from app.canvas.scene.face import HEADER
from app.layerpicture import LayerPicture, layer_mark
from app.theme import Theme, blend

__all__ = ["GRID_STEP", "SMALL_PRINT", "CanvasStyle", "StaticLabel"]

#: Distance of the dots behind the net, in pixels at 100 %.
GRID_STEP = 40.0
#: Height of the smallest print that must be read to understand a card, in pixels at 100 %.
SMALL_PRINT = 12
#: What names are written in; the part of the room that their beginnings have, and the most of it, in pixels.
_NAMES = ("title_font", "text_font")
_BEGINNING, _MOST_BEGINNING = 0.42, 38.0


class StaticLabel:
    """A line of text that is laid out once.

    Parameters
    ----------
    text : str
        Plain text on one line.
    font : QFont
        Font that it is always painted with.
    """

    __slots__ = ("height", "static", "text", "width")

    def __init__(self, text: str, font: QFont, width: float) -> None:
        self.text = text
        self.static = QStaticText(text)
        self.static.setTextFormat(Qt.TextFormat.PlainText)
        self.static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        self.static.prepare(font=font)
        self.width = width
        self.height = self.static.size().height()


def _cut_inside(name: str, metrics: QFontMetricsF, room: float) -> str:
    """Shorten a name so that what differs stays: of ``inception_3a/3x3_reduce`` as of ``loss1_classifier``."""
    kept = 1
    while metrics.horizontalAdvance(name[: kept + 1]) <= min(_BEGINNING * room, _MOST_BEGINNING):
        kept += 1
    left = room - metrics.horizontalAdvance(name[:kept])
    return name[:kept] + metrics.elidedText(name[kept:], Qt.TextElideMode.ElideLeft, left)


class CanvasStyle:
    """Everything that painting the canvas needs, for one theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        family = QApplication.font().family()
        self.title_font = self._font(family, 13, QFont.Weight.DemiBold)
        self.text_font = self._font(family, 12)
        self.small_font = self._font(family, SMALL_PRINT)
        self.badge_font = self._font(family, 10, QFont.Weight.DemiBold)
        self._metrics = {
            id(f): QFontMetricsF(f) for f in (self.title_font, self.text_font, self.small_font, self.badge_font)
        }

        color = theme.color
        self.canvas = color("canvas")
        self.text = QPen(color("text"))
        self.muted = QPen(color("text_muted"))
        self.node_brush = QBrush(color("node"))
        self.chip_brush = QBrush(theme.mix("node", "canvas", 0.86))
        self.border = QPen(color("node_border"), 1.0)
        self.border_aside = QPen(color("text_muted"), 1.2, Qt.PenStyle.DashLine)
        self.ring = QPen(color("accent"), 1.6, Qt.PenStyle.DotLine)
        self.hover = QPen(color("node_hover"), 1.4)
        self.selected = QPen(color("selection"), 2.0)
        self.line = QPen(theme.mix("node_border", "node", 0.6), 1.0)
        self.shadow = color("shadow")
        self.port = QBrush(color("port"))
        self.port_open = QBrush(color("node"))
        self.port_pen = QPen(color("port"), 1.5)
        self.port_hot = QBrush(color("accent"))
        self.accent = QPen(color("accent"), 2.0)
        self.accent_brush = QBrush(color("accent"))
        self.dots = QPen(color("grid_strong"), 2.0)
        self.dots.setCosmetic(True)
        self.no_pen = QPen(Qt.PenStyle.NoPen)
        self.band = QBrush(QColor(color("accent").red(), color("accent").green(), color("accent").blue(), 36))
        self.error = color("error")
        self.warning = color("warning")
        self.ok = color("ok")
        self.badge_text = QPen(color("surface"))
        self.wire = self._wire("wire", 1.8)
        self.wire_far = QPen(color("wire"), 0)
        self.followed_far = QPen(color("accent"), 3.0)
        self.followed_far.setCosmetic(True)
        self.wire_hover = self._wire("wire_hover", 2.4)
        self.wire_selected = self._wire("accent", 2.2)
        self.wire_bad = self._wire("error", 2.0)
        self.wire_doubtful = self._wire("warning", 2.0)
        self.wire_doomed = self._wire("error", 2.4, [4.0, 3.0])
        self.wire_lit = self._wire("accent", 4.0)
        self.guide = QPen(color("accent"), 1.0, Qt.PenStyle.DashLine)
        self.guide.setCosmetic(True)
        self.wire_train = self._wire("wire", 1.8, [7.0, 3.0])
        self.wire_test = self._wire("wire", 1.8, [1.5, 3.0])
        self.label_back = QBrush(theme.mix("canvas", "surface", 0.85))
        self.phase_fill = {
            phase: QBrush(blend(color(role), color("node"), 0.22))
            for phase, role in (("TRAIN", "ok"), ("TEST", "warning"))
        }
        self.phase_pen = {"TRAIN": QPen(color("ok")), "TEST": QPen(color("warning"))}
        self.categories = {key: QBrush(value) for key, value in theme.categories.items()}
        self.headers = {key: QBrush(blend(value, color("node"), 0.16)) for key, value in theme.categories.items()}
        self.far = {key: blend(value, color("node"), 0.62) for key, value in theme.categories.items()}
        self.grid_points = lru_cache(maxsize=512)(self._grid_points)
        self.card = lru_cache(maxsize=256)(self._card)
        self.label = lru_cache(maxsize=20_000)(self._label)
        self.icon = lru_cache(maxsize=256)(self._icon)

    @staticmethod
    def _font(family: str, pixels: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        font = QFont(family)
        font.setPixelSize(pixels)
        font.setWeight(weight)
        return font

    def _wire(self, role: str, width: float, dashes: list[float] | None = None) -> QPen:
        pen = QPen(self.theme.color(role), width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if dashes:
            pen.setDashPattern(dashes)
        return pen

    def _card(self, category: str, height: float) -> QBrush:
        """Fill of a card: the header in the category's tint, the rest plain, with a hard edge between."""
        gradient = QLinearGradient(0.0, 0.0, 0.0, height)
        edge = HEADER / height
        gradient.setColorAt(0.0, self.headers[category].color())
        gradient.setColorAt(edge - 1e-4, self.headers[category].color())
        gradient.setColorAt(edge, self.node_brush.color())
        gradient.setColorAt(1.0, self.node_brush.color())
        return QBrush(gradient)

    def _grid_points(self, columns: int, rows: int) -> QPolygonF:
        return QPolygonF([QPointF(x * GRID_STEP, y * GRID_STEP) for x in range(columns) for y in range(rows)])

    def _label(self, text: str, font_name: str, room: float) -> StaticLabel:
        font: QFont = getattr(self, font_name)
        metrics = self._metrics[id(font)]
        width = metrics.horizontalAdvance(text)
        if room and width > room:
            if font_name in _NAMES:
                text = _cut_inside(text, metrics, room)
            else:
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            width = metrics.horizontalAdvance(text)
        return StaticLabel(text, font, width)

    def _icon(self, category: str, size: int, ratio: float, picture: LayerPicture | None = None) -> QPixmap:
        return layer_mark(picture, category, size, ratio, self.theme.category(category), self.headers[category].color())

    def width_of(self, text: str, font_name: str) -> float:
        """Width of a text in pixels at 100 %."""
        return self._metrics[id(getattr(self, font_name))].horizontalAdvance(text)
