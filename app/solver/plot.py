"""A picture of the learning rate over a whole training."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFont, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.qt import announce, guard
from app.solver.schedule import Schedule
from app.theme import GRID, Theme
from app.widgets.curvekeys import MOVES, CurveActions, walk

__all__ = ["SchedulePlot", "nice_ticks"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 13 * GRID, 3 * GRID, 7 * GRID, 6 * GRID
_SMALLEST = 1e-30
_MOST_MARKS = 40


class SchedulePlot(QWidget):
    """Draws a schedule with its drops, its warm-up and its end, and tells the rate under the pointer or at the cross.

    Attributes
    ----------
    keys : CurveActions
        Move the cross while the keyboard is here.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("solver.plot")
        self.setAccessibleName("Learning rate")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.keys = CurveActions(MOVES, self)
        self.keys.asked.connect(self._walk)
        self.addActions(self.keys.actions)
        self.schedule = Schedule()
        self._pointer: float | None = None
        self.log_button = QToolButton(self)
        self.log_button.setObjectName("solver.log_scale")
        self.log_button.setText("Log")
        self.log_button.setCheckable(True)
        self.log_button.setProperty("toggle", True)
        self.log_button.setToolTip("Show the rate on a logarithmic scale")
        self.log_button.setAccessibleName("Logarithmic scale")
        self.log_button.toggled.connect(self.update)

    def show_schedule(self, schedule: Schedule) -> None:
        """Draw another schedule."""
        self.schedule = schedule
        self.setAccessibleDescription(schedule.words)
        self.update()

    @guard(default=QSize(260, 180))
    def sizeHint(self) -> QSize:
        return QSize(65 * GRID, 45 * GRID)

    @guard
    def resizeEvent(self, event: object) -> None:
        hint = self.log_button.sizeHint()
        height = max(6 * GRID, self.fontMetrics().height() + GRID)
        self.log_button.setGeometry(self.width() - hint.width() - GRID, 0, hint.width(), height)

    @property
    def _top(self) -> int:
        """Where the picture begins, below the button."""
        return max(_TOP, self.log_button.height() + GRID)

    @property
    def said(self) -> str:
        """The line above the picture: the rate under the pointer, or the schedule in a line."""
        if self._pointer is None or self.schedule.problem or not len(self.schedule.rates):
            return self.schedule.words if len(self.schedule.rates) or self.schedule.problem else ""
        iteration, rate = self.schedule.at(self._pointer)
        return f"iteration {iteration:,}: {rate:.4g}".replace(",", "\u202f")

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area = self._area()
        share = (event.position().x() - area.left()) / max(area.width(), 1.0)
        self._pointer = share * self._end if 0.0 <= share <= 1.0 else None
        self.update()

    @guard
    def leaveEvent(self, event: object) -> None:
        self._pointer = None
        self.update()

    @guard
    def _walk(self, move: str) -> None:
        """Go along the curve and say the rate there."""
        here = math.nan if self._pointer is None else self._pointer
        at = walk(move, self.schedule.iterations, here, self._end)
        if math.isfinite(at) and not self.schedule.problem:
            self._pointer = at
            self.update()
            said = self.said[:1].upper() + self.said[1:]
            self.setAccessibleDescription(f"{said}; {self.schedule.words}")
            announce(self, said)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._pointer = None
        self.update()

    # Painting

    def _area(self) -> QRectF:
        return QRectF(
            _LEFT, self._top, max(self.width() - _LEFT - _RIGHT, 1), max(self.height() - self._top - _BOTTOM, 1)
        )

    @property
    def _end(self) -> float:
        return float(max(self.schedule.max_iter, int(self.schedule.iterations[-1]) if len(self.schedule.rates) else 1))

    def _range(self) -> tuple[float, float]:
        """Return the lowest and highest value of the axis: logarithms where the scale is logarithmic."""
        rates = self.schedule.rates
        if self.log_button.isChecked():
            low = max(float(rates[rates > 0].min()) if (rates > 0).any() else _SMALLEST, _SMALLEST)
            bottom, top = math.log10(low), math.log10(max(float(rates.max()), low))
            return (bottom, top) if top - bottom > 1e-9 else (bottom - 0.5, top + 0.5)
        low, high = min(float(rates.min()), 0.0), float(rates.max())
        return low, high * 1.05 if high > low else low + 1.0

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area, schedule = self._area(), self.schedule
        font = QFont(self.font())
        painter.setFont(font)
        painter.setPen(theme.color("error" if schedule.problem else "text"))
        room = QRectF(GRID, 0, self.log_button.x() - 2 * GRID, self._top - GRID)
        if schedule.problem:
            wrap = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect().adjusted(GRID, 0, -GRID, 0)), wrap, schedule.problem)
        elif len(schedule.rates):
            elided = painter.fontMetrics().elidedText(self.said, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
            font.setPointSizeF(font.pointSizeF() * 0.85)
            painter.setFont(font)
            self._paint_axes(painter, theme, area)
            self._paint_marks(painter, theme, area)
            self._paint_curve(painter, theme, area)
        self.log_button.setVisible(not schedule.problem)
        painter.end()

    def _place(self, area: QRectF, iteration: float, value: float) -> QPointF:
        low, high = self._range()
        if self.log_button.isChecked():
            value = math.log10(max(value, 10**low))
        x = area.left() + area.width() * iteration / self._end
        return QPointF(x, area.bottom() - area.height() * (value - low) / (high - low))

    def _paint_axes(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        low, high = self._range()
        log = self.log_button.isChecked()
        align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextDontClip
        for value in nice_ticks(low, high, 4):
            y = area.bottom() - area.height() * (value - low) / (high - low)
            painter.setPen(QPen(theme.color("border"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.color("text_muted"))
            text = f"{10**value:.2g}" if log else f"{value:.4g}"
            painter.drawText(QRectF(0, y - 10, _LEFT - 2 * GRID, 20), align, text)
        for value in nice_ticks(0, self._end, max(int(area.width() // 90), 1)):
            x = area.left() + area.width() * value / self._end
            painter.setPen(theme.color("text_muted"))
            where = QRectF(x - 50, area.bottom() + 2, 100, _BOTTOM - 2)
            if where.right() - 25 < self.width():
                centre = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextDontClip
                painter.drawText(where, centre, _iterations(value))
            else:
                where.moveRight(self.width() - 2)
                right = Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextDontClip
                painter.drawText(where, right, _iterations(value))

    def _paint_marks(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        schedule = self.schedule
        if schedule.warm_up:
            share = min(schedule.warm_up / self._end, 1.0)
            shade = theme.mix("accent", "window", 0.14)
            painter.fillRect(QRectF(area.left(), area.top(), area.width() * share, area.height()), shade)
        painter.setPen(QPen(theme.color("text_muted"), 1, Qt.PenStyle.DashLine))
        for drop in schedule.drops[:_MOST_MARKS]:
            x = area.left() + area.width() * drop / self._end
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if schedule.max_iter:
            painter.setPen(QPen(theme.color("text"), 1))
            painter.drawLine(area.topRight(), area.bottomRight())
            ends_low = self._place(area, self._end, float(schedule.rates[-1])).y() > area.center().y()
            align = Qt.AlignmentFlag.AlignTop if ends_low else Qt.AlignmentFlag.AlignBottom
            painter.drawText(area.adjusted(0, 0, -GRID, -GRID), Qt.AlignmentFlag.AlignRight | align, "max_iter")

    def _paint_curve(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        path = QPainterPath()
        for index, (iteration, rate) in enumerate(zip(self.schedule.iterations, self.schedule.rates, strict=True)):
            point = self._place(area, float(iteration), float(rate))
            if index:
                path.lineTo(point)
            else:
                path.moveTo(point)
        painter.setPen(QPen(theme.color("accent"), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if self._pointer is not None:
            painter.setBrush(theme.color("accent"))
            painter.drawEllipse(self._place(area, *map(float, self.schedule.at(self._pointer))), 4, 4)


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Return up to about ``most`` round numbers from ``low`` to ``high``."""
    raw = (high - low) / max(most, 1)
    if not math.isfinite(raw) or raw <= 0:
        return [low]
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [step * index for index in range(first, math.floor(high / step + 1e-9) + 1)]


def _iterations(value: float) -> str:
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.4g}{unit}"
    return f"{value:.4g}"
