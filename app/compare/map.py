"""The map of one side of a comparison: the whole net, and where in it something differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPen, QPixmap

from app.canvas.minimap import Minimap
from app.theme import Theme

if TYPE_CHECKING:
    from app.compare.canvas import CompareCanvas

__all__ = ["CompareMap"]

#: Least size of a mark on the map, in pixels.
_LEAST = 6.0


class CompareMap(Minimap):
    """Shows the marks of a comparison on the map, however small their layers are there."""

    def __init__(self, view: CompareCanvas) -> None:
        super().__init__(view)
        self._canvas = view
        self.setAccessibleName("Map of the net and of what differs; drag to move what is in view")
        self.hide()

    def _paint_net(self, ratio: float) -> QPixmap:
        picture = super()._paint_net(ratio)
        theme, transform = Theme.current(), self.transform()
        painter = QPainter(picture)
        painter.setPen(QPen(theme.color("surface"), 1.0))
        for item, kind in self._canvas.marked_cards().items():
            body = transform.mapRect(item.scene_body())
            size = max(_LEAST, body.width()), max(_LEAST, body.height())
            painter.setBrush(theme.color(kind.role))
            center = body.center()
            painter.drawRect(QRectF(center.x() - size[0] / 2, center.y() - size[1] / 2, *size))
        painter.end()
        return picture

    def marks_changed(self) -> None:
        """Paint the map anew, for other layers differ."""
        self._picture = None
        self.update()
