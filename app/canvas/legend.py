"""The legend of the heat-map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent

from app.canvas.overlay import OVERLAY_GAP, CornerWidget
from app.canvas.scene.heat import UPDATES, paint_scale
from app.qt import guard

if TYPE_CHECKING:
    from app.canvas.navigation import NavigationView

__all__ = ["HeatLegend"]

_WIDTH, _HEIGHT, _LINE = 240, 68, 16
_ABOVE_MAP = 200  # pixels that the map may take, with the edges


class HeatLegend(CornerWidget):
    """Says what the colours of the heat-map stand for."""

    def __init__(self, view: NavigationView) -> None:
        super().__init__(view, Qt.Corner.TopRightCorner)
        self.setObjectName("canvas.heat_legend")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._view = view
        self.resize(self.sizeHint())
        view.canvas.heat_changed.connect(self._changed)
        view.top_room_changed.connect(self.place)

    def place(self) -> None:
        """Go to the corner, below the messages over the canvas; to the left where the map would be in the way."""
        super().place()
        room = self._view.height() - self._view.top_room - _ABOVE_MAP
        x = self.x() if room > self.height() else OVERLAY_GAP
        self.move(x, self.y() + self._view.top_room)

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        lines = (" ".join(self.texts[:2]), "  ".join((self.texts[2], self.middle, self.texts[3])))
        width = max(_WIDTH, *(self.fontMetrics().horizontalAdvance(words) + 40 for words in lines))
        return QSize(width, _HEIGHT + 2 * max(0, line - _LINE))

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """Title, total, least and most, as written; empty without a heat-map."""
        heat = self._view.canvas.heat
        if heat.measure is None:
            return "", "", "", ""
        if not heat.known:
            return heat.measure.title, "train to see it" if heat.measure is UPDATES else "not known yet", "", ""
        if heat.measure is UPDATES:
            title = "Last size of updates" if heat.is_stale else UPDATES.title
            return title, f"iteration {heat.updates_at:,}", "\u2264 1e-5", "\u2265 1e-1"
        if heat.is_stale:
            return (
                "Time before the change",
                heat.measure.text(heat.total),
                "0",
                heat.measure.text(heat.largest),
            )
        return heat.measure.title, f"{heat.measure.text(heat.total)} in all", "0", heat.measure.text(heat.largest)

    @property
    def middle(self) -> str:
        """What the colour in the middle stands for, where that is said."""
        heat = self._view.canvas.heat
        return "1e-3 of weights" if heat.measure is UPDATES and heat.known else ""

    @guard
    def _changed(self) -> None:
        self.setVisible(self._view.canvas.heat.measure is not None)
        self.resize(self.sizeHint())
        self.setAccessibleName(", ".join(filter(None, (*self.texts[:3], self.middle, self.texts[3]))))
        self.place()
        self.update()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._view.canvas.style_set.theme
        painter = QPainter(self)
        self.paint_plate(painter, theme)
        title, total, least, most = self.texts
        high = float(max(_LINE, self.fontMetrics().height()))
        line = QRectF(12.0, 8.0, self.width() - 24.0, high)
        painter.setPen(theme.color("text"))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(theme.color("text_muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, total)
        if most:
            below = line.translated(0.0, high + 20.0)
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, least)
            painter.drawText(below, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, most)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, self.middle)
            paint_scale(
                painter, QRectF(12.0, 12.0 + high, self.width() - 24.0, 10.0), is_stale=self._view.canvas.heat.is_stale
            )
        painter.end()
