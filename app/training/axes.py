"""The axes of a plot: numbers that never touch, faint lines at them, and none of pyqtgraph's menus."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.qt import guard

__all__ = ["QuietPlot"]


class _Rules(pg.GraphicsObject):  # type: ignore[misc]
    """Faint lines at the numbers of the vertical axis; pyqtgraph's own grid costs more than all curves together."""

    def __init__(self, axis: pg.AxisItem) -> None:
        super().__init__()
        self._axis = axis
        self.color = QColor()
        self.setZValue(-1)

    @guard(default=QRectF())
    def boundingRect(self) -> QRectF:
        return self.viewRect() or QRectF()

    @guard
    def viewRangeChanged(self, *_ranges: object) -> None:
        self.prepareGeometryChange()

    @guard
    def paint(self, painter: QPainter, _option: object, _widget: object = None) -> None:
        view = self.viewRect()
        painter.setPen(pg.mkPen(self.color))
        levels = self._axis.tickValues(view.top(), view.bottom(), self._axis.height())
        for value in levels[0][1] if levels else ():
            painter.drawLine(QPointF(view.left(), value), QPointF(view.right(), value))


class _Axis(pg.AxisItem):  # type: ignore[misc]
    """An axis whose numbers do not touch, however low or narrow it is."""

    #: Pixels from one number to the next.
    GAPS: Mapping[str, float] = MappingProxyType({"left": 20.0, "bottom": 48.0})

    @guard(default=list[tuple[float, float]]())
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        span = abs(maxVal - minVal)
        if size <= 0 or not span:
            return []
        levels: list[tuple[float, float]] = super().tickSpacing(minVal, maxVal, size)
        if not levels:
            return levels
        major, least = levels[0][0], self.GAPS[self.orientation] * span / size
        if self.orientation == "bottom":
            least = max(1.0, least)  # there are no parts of iterations
        if major >= least:
            return levels
        while major < least:
            leading = round(major / 10.0 ** math.floor(math.log10(major) + 1e-9))
            major *= 2.5 if leading == 2 else 2.0
        return [(major, 0.0)]


class QuietPlot(pg.PlotWidget):  # type: ignore[misc]
    """A plot without pyqtgraph's menus and buttons; a double click shows everything again."""

    left = Signal()
    asked_for_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, axisItems={side: _Axis(side) for side in _Axis.GAPS})
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # before its keys are served
        self.setMenuEnabled(False)
        self.hideButtons()
        self.disableAutoRange()
        self.setFrameShape(self.Shape.NoFrame)
        self.rules = _Rules(self.getAxis("left"))
        self.addItem(self.rules, ignoreBounds=True)
        self.getAxis("bottom").enableAutoSIPrefix(False)
        self.getAxis("left").enableAutoSIPrefix(False)
        self.getAxis("left").setWidth(48)
        self.getAxis("left").setTickDensity(0.7)
        self.getPlotItem().setContentsMargins(0.0, 8.0, 0.0, 0.0)  # half a line, or the topmost number is cut off

    @guard
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.asked_for_all.emit()

    @guard
    def leaveEvent(self, event: object) -> None:
        super().leaveEvent(event)
        self.left.emit()

    @guard
    def focusOutEvent(self, event: object) -> None:
        super().focusOutEvent(event)
        self.left.emit()
