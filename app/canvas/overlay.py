"""Small widgets that lie over a corner of the canvas."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.qt import guard
from app.theme import Theme

__all__ = ["OVERLAY_GAP", "CornerWidget"]

#: Pixels between such a widget and the edges of the view.
OVERLAY_GAP = 12


class CornerWidget(QWidget):
    """A widget that keeps to a corner of a view; it does not scroll with what the view shows.

    Parameters
    ----------
    view : QAbstractScrollArea
        The view that it lies on.
    corner : Qt.Corner
        Where.
    """

    def __init__(self, view: QAbstractScrollArea, corner: Qt.Corner) -> None:
        super().__init__(view)
        self._on = view
        self._corner = corner
        view.installEventFilter(self)
        self.hide()

    def place(self) -> None:
        """Go to the corner."""
        area = self._on.rect()
        right = self._corner in (Qt.Corner.TopRightCorner, Qt.Corner.BottomRightCorner)
        bottom = self._corner in (Qt.Corner.BottomLeftCorner, Qt.Corner.BottomRightCorner)
        x = area.right() - self.width() - OVERLAY_GAP if right else OVERLAY_GAP
        y = area.bottom() - self.height() - OVERLAY_GAP if bottom else OVERLAY_GAP
        self.move(x, y)
        self.raise_()

    def paint_plate(self, painter: QPainter, theme: Theme) -> None:
        """Paint what sets it off from the net below it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("border"), 1.0))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6.0, 6.0)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._on:
            self.place()
        return False
