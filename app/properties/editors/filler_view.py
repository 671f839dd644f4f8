"""A small picture of what a filler draws from, for the parameter that it fills."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.properties.facts import shape_text
from app.qt import guard
from app.theme import GRID, Theme
from engine.errors import NetcanvasError
from engine.fillers import FILLER_TYPES, Distribution, distribution
from engine.prototxt import parse
from engine.schema import to_message

if TYPE_CHECKING:
    from app.properties.snapshot import Path
    from app.properties.target import Target

__all__ = ["FillerView", "filler_words"]

_PLOT_HEIGHT = 13 * GRID
_POINTS = 80


def filler_words(kind: str, found: Distribution | None, shape: tuple[int, ...] | None) -> str:
    """Say in a line what a filler of a type draws from."""
    if kind not in FILLER_TYPES:
        return f"No filler is called '{kind}'."
    if found is None:
        return "Depends on the shape, which is not known yet."
    fans = f" \u00b7 fan-in {found.fans[0]:g}, fan-out {found.fans[1]:g}" if found.fans is not None else ""
    match found.kind:
        case "constant":
            return f"every value {found.low:.4g}"
        case "uniform":
            return f"uniform from {found.low:.4g} to {found.high:.4g} \u00b7 std {found.std:.4g}{fans}"
        case "normal" if found.kept < 1:
            return f"normal, {found.kept:.3g} of the values, the others 0 \u00b7 std {found.std:.4g}"
        case "normal":
            return f"normal \u00b7 mean {found.mean:.4g}, std {found.std:.4g}{fans}"
    rows = "weights of each output are positive and sum to 1"
    return rows if kind == "positive_unitball" else "weights that enlarge bilinearly, for Deconvolution"


class FillerView(QWidget):
    """Draws the distribution of a ``FillerParameter``.

    Parameters
    ----------
    target : Target
        What is edited.
    path : tuple
        Where the filler stands.
    """

    def __init__(self, target: Target, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"properties.{'.'.join(map(str, path))}.picture")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._path = path
        self.distribution: Distribution | None = None
        self.words = ""
        self.show_target(target)

    def show_target(self, target: Target) -> None:
        """Read filler and shape anew."""
        state = target.state(self._path)
        text = state.entries[-1].text if state.entries and not state.mixed else "{}"
        shape = target.param_shape(self._path)
        try:
            message = parse(f"filler {text}").root.get("filler")
            held = message.message if message is not None else None
            filler = to_message(held, "FillerParameter", schema=target.schema) if held is not None else None
        except NetcanvasError:
            filler = None
        self.distribution = distribution(filler, shape) if filler is not None else None
        words = filler_words(filler.type if filler is not None else "", self.distribution, shape)
        self.words = "several values" if state.mixed else words
        if state.mixed:
            self.distribution = None
        whole = f"{self.words}\nShape {shape_text(shape)}" if shape is not None else self.words
        self.setToolTip(whole)
        self.setAccessibleName("Distribution")
        self.setAccessibleDescription(whole)
        self.updateGeometry()
        self.update()

    @property
    def _has_plot(self) -> bool:
        return self.distribution is not None and self.distribution.kind in ("uniform", "normal", "constant")

    @guard(default=QSize(200, 64))
    def sizeHint(self) -> QSize:
        return QSize(50 * GRID, (_PLOT_HEIGHT if self._has_plot else 0) + self._words_height())

    @guard(default=QSize(80, 20))
    def minimumSizeHint(self) -> QSize:
        return QSize(20 * GRID, self.sizeHint().height())

    def _words_height(self) -> int:
        width = max(self.width() - 4 * GRID, 40 * GRID)
        flags = int(Qt.TextFlag.TextWordWrap)
        return self.fontMetrics().boundingRect(0, 0, width, 400, flags, self.words).height() + 2 * GRID

    @guard
    def resizeEvent(self, event: object) -> None:
        self.updateGeometry()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = 0
        if self._has_plot and self.distribution is not None:
            self._paint_density(painter, theme, self.distribution)
            top = _PLOT_HEIGHT
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.92)
        painter.setFont(font)
        painter.setPen(theme.color("text_muted"))
        room = QRectF(4 * GRID, top, self.width() - 4 * GRID, self.height() - top)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap), self.words)
        painter.end()

    def _paint_density(self, painter: QPainter, theme: Theme, found: Distribution) -> None:
        area = QRectF(4 * GRID, GRID, self.width() - 6 * GRID, _PLOT_HEIGHT - 3 * GRID)
        span = max(abs(found.low), abs(found.high), 1e-12) * 1.25
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        middle = area.center().x()
        painter.drawLine(QPointF(middle, area.top()), QPointF(middle, area.bottom()))

        def place(value: float, height: float) -> QPointF:
            return QPointF(middle + area.width() / 2 * value / span, area.bottom() - (area.height() - 2) * height)

        path = QPainterPath(place(-span, 0.0))
        for value, height in _density(found, span):
            path.lineTo(place(value, height))
        path.lineTo(place(span, 0.0))
        fill = QColor(theme.color("accent"))
        fill.setAlphaF(0.18)
        painter.fillPath(path, fill)
        painter.setPen(QPen(theme.color("accent"), 1.5))
        painter.drawPath(path)


def _density(found: Distribution, span: float) -> list[tuple[float, float]]:
    """Return points of the density from the left, its highest at 1."""
    if found.kind == "constant":
        return [(found.low, 0.0), (found.low, 1.0), (found.low, 0.0)]
    if found.kind == "uniform":
        return [(found.low, 0.0), (found.low, 1.0), (found.high, 1.0), (found.high, 0.0)]
    centre, std = (found.low + found.high) / 2, max((found.high - found.low) / 6, 1e-12)
    values = [span * (2 * index / _POINTS - 1) for index in range(_POINTS + 1)]
    return [(value, math.exp(-(((value - centre) / std) ** 2) / 2)) for value in values]
