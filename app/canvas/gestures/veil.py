"""What a drag of very many cards shows: where they would go, as outlines over the net that stays until it is done."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QTransform
from PySide6.QtWidgets import QWidget

from app.qt import guard
from app.theme import Theme

__all__ = ["Veil"]

_SHADE = 0.16


class Veil(QWidget):
    """Outlines of cards over a viewport.

    Parameters
    ----------
    viewport : QWidget
        What it lies over.
    boxes : iterable of QRectF
        The cards, in scene coordinates.
    """

    def __init__(self, viewport: QWidget, boxes: Iterable[QRectF]) -> None:
        super().__init__(viewport)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(viewport.rect())
        self._viewport = viewport
        self._boxes = list(boxes)
        self._transform = QTransform()
        self._step = QPointF()
        self.show()

    def show_step(self, transform: QTransform, step: QPointF) -> None:
        """Show the cards so far from where they stand, in a view that shows the scene with a transform."""
        self._transform, self._step = transform, step
        self.setGeometry(self._viewport.rect())  # Qt scrolls what lies on the viewport along
        self.update()

    def end(self) -> None:
        """Go away."""
        self.hide()
        self.setParent(None)
        self.deleteLater()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        accent = Theme.current().color("accent")
        fill = QColor(accent)
        fill.setAlphaF(_SHADE)
        seen = self._transform.inverted()[0].mapRect(QRectF(event.rect())).translated(-self._step)
        painter = QPainter(self)
        painter.setTransform(self._transform)
        painter.translate(self._step)
        painter.setPen(QPen(accent, 0))
        painter.setBrush(fill)
        painter.drawRects([box for box in self._boxes if box.intersects(seen)])
        painter.end()
