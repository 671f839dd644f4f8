"""Live curves: loss with the test loss, and the other test outputs beside or below it."""

from __future__ import annotations

import html
import math
import re

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.qt import guard
from app.theme import Theme
from app.training import formats
from app.training.axes import QuietPlot
from app.training.model import RunModel, is_loss
from app.training.series import Series

__all__ = ["CurvesView"]

_MARKS_BELOW = 200
_HEADER_HEIGHT = 24
_TWO_PLOTS_WIDTH, _TWO_PLOTS_HEIGHT = 480, 200
_NUMBERS_BELOW = 80
_TEST_ROLES = ("ok", "warning", "error", "text")


class CurvesView(QWidget):
    """Draws the curves of a :class:`RunModel`; call :meth:`show_model` when it changed.

    Attributes
    ----------
    plots : tuple of Plot
        That of the losses, and that of the other test outputs.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.curves")
        self._model = RunModel()
        self._drawn: tuple[int, ...] = ()
        self._loss = Plot("Loss", self)
        self._tests = Plot("Test", self, shares=True)
        self.log_button = QToolButton(self)
        self.log_button.setText("Log")
        self.log_button.setCheckable(True)
        self.log_button.setProperty("toggle", True)
        self.log_button.setAccessibleName("Logarithmic scale")
        self.log_button.setObjectName("training.log_scale")
        self.log_button.setToolTip("Show the loss on a logarithmic scale")
        self.log_button.toggled.connect(self._set_log_scale)
        self._loss.header.addWidget(self.log_button)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(8, 4, 8, 4)
        self._layout.setSpacing(8)
        self._layout.addWidget(self._loss, 3)
        self._layout.addWidget(self._tests, 2)
        self.plots = (self._loss, self._tests)
        for plot in self.plots:
            plot.hovered.connect(self.point_at)
            plot.plot.asked_for_all.connect(self.show_all)
        self._loss.moved.connect(self._tests.show_iterations)
        self._tests.moved.connect(self._loss.show_iterations)
        Theme.notifier().changed.connect(self._dress)
        self._dress()

    @property
    def loss_plot(self) -> Plot:
        """The plot of losses."""
        return self._loss

    @property
    def test_plot(self) -> Plot:
        """The plot of the other test outputs."""
        return self._tests

    def show_model(self, model: RunModel) -> None:
        """Draw the curves as they are now; nothing is done where they have no new points."""
        drawn = (id(model), len(model.train), *map(len, model.tests.values()))
        if drawn == self._drawn:
            return
        self._drawn = drawn
        if model is not self._model:
            self._model = model
            for plot in self.plots:
                plot.clear()
            self.show_all()
        theme = Theme.current()
        loss = self._loss
        loss.draw("loss", model.train, 1, theme.mix("accent", "surface", 0.45), ragged=True)
        loss.draw("smoothed", model.trend, 1, theme.color("accent"))
        for name, series, color in self._colored(theme):
            plot = loss if is_loss(name) else self._tests
            label = f"test {name}" if is_loss(name) else name
            plot.draw(label, series, 1, color, marks=len(series) < _MARKS_BELOW)
        for plot in self.plots:
            plot.fit(model.iteration)
            plot.tell()
        self._tests.setVisible(any(not is_loss(name) for name in model.tests))

    def _colored(self, theme: Theme) -> list[tuple[str, Series, QColor]]:
        losses = [name for name in self._model.tests if is_loss(name)]
        others = [name for name in self._model.tests if not is_loss(name)]
        colors = {name: theme.category("loss") for name in losses}
        colors |= {name: theme.color(_TEST_ROLES[i % len(_TEST_ROLES)]) for i, name in enumerate(others)}
        return [(name, series, colors[name]) for name, series in self._model.tests.items()]

    def _set_log_scale(self, on: bool) -> None:
        self._loss.log = on
        self._loss.plot.setLogMode(y=on)
        self.show_all()

    @guard
    def show_all(self) -> None:
        """Show the whole of the curves, and go on doing so."""
        for plot in self.plots:
            plot.fitted = True
            plot.fit(self._model.iteration)

    def show_part(self, first: float, last: float) -> None:
        """Show these iterations, with as much of the other axis as the curves take there."""
        for plot in self.plots:
            plot.show_part(first, last)

    @guard
    def point_at(self, iteration: float) -> None:
        """Show the values at an iteration in both plots, or none for NaN."""
        for plot in self.plots:
            plot.point_at(iteration)

    @guard
    def _dress(self, _theme: object = None) -> None:
        for plot in self.plots:
            plot.dress(Theme.current())
        self._drawn = ()
        self.show_model(self._model)

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the plots side by side where there is more width than height."""
        super().resizeEvent(event)
        width, height = event.size().width(), event.size().height()
        wide = width > 1.3 * height and (width > _TWO_PLOTS_WIDTH or height < _TWO_PLOTS_HEIGHT)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._layout.direction() != direction:
            self._layout.setDirection(direction)


class Plot(QWidget):
    """One pair of axes with a heading that is legend and readout at once.

    Parameters
    ----------
    shares : bool
        Whether values from 0 to 1 are shares of 1, as an accuracy is: then 1 is the top of the axis.

    Attributes
    ----------
    hovered : Signal(float)
        The iteration under the pointer, or NaN when it left.
    moved : Signal(float, float)
        The user zoomed or dragged to these iterations.
    fitted : bool
        Whether the whole is in view, and stays so. Not by pyqtgraph's automatic ranges: a curve of one marked point
        makes these repaint without end.
    log : bool
        Whether the vertical axis is logarithmic.
    iteration : float
        Where the cross is; NaN for nowhere.
    """

    hovered = Signal(float)
    moved = Signal(float, float)

    def __init__(self, title: str, parent: QWidget | None = None, *, shares: bool = False) -> None:
        super().__init__(parent)
        self._title = title
        self._shares = shares
        self._curves: dict[str, tuple[pg.PlotDataItem, Series, int, QColor]] = {}
        self.iteration = math.nan
        self.fitted = True
        self.log = False
        self.legend = QLabel(self)
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setToolTip("Turn the wheel to zoom, drag to pan, double-click to show everything")
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.header = QHBoxLayout()
        self.header.setContentsMargins(0, 0, 0, 0)
        self.header.addWidget(self.legend, 1)
        self.header.addStrut(_HEADER_HEIGHT)
        self.plot = QuietPlot(self)
        self.plot.setMinimumHeight(24)
        self.plot.setObjectName(f"training.curves.{title.lower()}")
        self.plot.setAccessibleName(f"{title} curves")
        self.cross = pg.InfiniteLine(angle=90, movable=False)
        self.cross.setVisible(False)
        self.plot.addItem(self.cross, ignoreBounds=True)
        self.plot.scene().sigMouseMoved.connect(self._mouse_moved)
        self.plot.getPlotItem().vb.sigRangeChangedManually.connect(self._moved_by_hand)
        self.plot.left.connect(lambda: self.hovered.emit(math.nan))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self.header)
        layout.addWidget(self.plot, 1)

    def clear(self) -> None:
        """Take all curves off."""
        for curve, *_ in self._curves.values():
            self.plot.removeItem(curve)
        self._curves.clear()
        self.tell()

    def fit(self, last: int) -> None:
        """Show the whole of the curves up to iteration ``last``, unless the user looks at a part of them."""
        span = self._span_of(-math.inf, math.inf) if self.fitted else None
        if span is not None:
            self._set_range((-0.01 * last, 1.01 * max(last, 1)), span)

    def _span_of(self, first: float, last: float) -> tuple[float, float] | None:
        """Ends of the vertical axis for what the curves are at these iterations; None where they are not."""
        parts = [np.zeros(0)]
        for _, series, column, _ in self._curves.values():
            parts.append(series.column(column)[(series.x >= first) & (series.x <= last)])
        values = np.concatenate(parts)
        if self.log:
            values = np.log10(values[values > 0])
        values = values[np.isfinite(values)]
        return self._span(float(values.min()), float(values.max())) if len(values) else None

    def _span(self, low: float, high: float) -> tuple[float, float]:
        """Least and largest number on the vertical axis for values from ``low`` to ``high``."""
        if self._shares and low >= 0.0 and high <= 1.0:
            low = min(math.floor(10.0 * low) / 10.0, 0.9)
            return low - 0.02 * (1.0 - low), 1.0 + 0.03 * (1.0 - low)
        room = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
        bottom = low - room
        return (bottom if self.log or low < 0.0 else max(0.0, bottom)), high + room

    def show_part(self, first: float, last: float) -> None:
        """Show these iterations of the curves as large as there is room for."""
        self.fitted = False
        self._set_range((first, last), self._span_of(first, last))

    def show_iterations(self, first: float, last: float) -> None:
        """Show the iterations that another plot was moved to."""
        self.fitted = False
        self._set_range((first, last), None)

    def _set_range(self, x: tuple[float, float], y: tuple[float, float] | None) -> None:
        ranges = {"xRange": x} if y is None else {"xRange": x, "yRange": y}
        self.plot.setRange(**ranges, padding=0.0)

    @guard
    def _moved_by_hand(self, _axes: object) -> None:
        self.fitted = False
        first, last = self.plot.viewRange()[0]
        self.moved.emit(first, last)

    def draw(
        self, name: str, series: Series, column: int, color: QColor, *, ragged: bool = False, marks: bool = False
    ) -> None:
        """Draw a curve, or bring the one of that name up to date.

        Parameters
        ----------
        ragged : bool
            Keep every peak, in a thin line without smooth edges, which cost most and are seen least there.
        marks : bool
            Mark each point.
        """
        curve = self._curves[name][0] if name in self._curves else self._add_curve(ragged)
        self._curves[name] = (curve, series, column, color)
        curve.setPen(pg.mkPen(color, width=1.0 if ragged else 2.0))
        curve.setSymbol("o" if marks else None)
        curve.setSymbolBrush(pg.mkBrush(color))
        curve.setSymbolPen(None)
        # A copy: the item must not see numbers that are added while it paints.
        curve.setData(series.x.copy(), series.column(column).copy(), antialias=not ragged)

    def _add_curve(self, ragged: bool) -> pg.PlotDataItem:
        curve = pg.PlotDataItem(symbolSize=6, connect="finite")
        self.plot.addItem(curve)
        # After adding, which resets both. One or two points for each column of pixels are all that can be seen.
        curve.setDownsampling(auto=True, method="peak" if ragged else "mean")
        curve.setClipToView(True)
        curve.opts["autoDownsampleFactor"] = 1.0
        return curve

    @property
    def points(self) -> NDArray[np.float64]:
        """The iterations at which any curve has a point, shape (n,), rising."""
        return np.unique(np.concatenate([np.zeros(0), *(series.x for _, series, _, _ in self._curves.values())]))

    @property
    def words(self) -> str:
        """The iteration of the cross and what the curves are there: ``Iteration 200: loss 0.4, smoothed 0.5``."""
        values = []
        for name, (_, series, column, _) in self._curves.items():
            row = series.at(self.iteration)
            if row is not None:
                values.append(f"{name} {formats.number(float(row[column]))}")
        return f"Iteration {int(self.iteration):,}: {', '.join(values)}"

    def curve(self, name: str) -> pg.PlotDataItem:
        """Return the curve of a name; KeyError when there is none."""
        return self._curves[name][0]

    def point_at(self, iteration: float) -> None:
        """Show the values at an iteration, or none for NaN."""
        self.iteration = iteration
        self.cross.setVisible(math.isfinite(iteration))
        if math.isfinite(iteration):
            self.cross.setPos(iteration)
        self.tell()

    def dress(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.plot.setBackground(theme.color("surface"))
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(theme.color("border")))
            axis.setTextPen(pg.mkPen(theme.color("text_muted")))
        self.plot.rules.color = theme.mix("border", "surface", 0.5)
        self.cross.setPen(pg.mkPen(theme.color("text_muted"), width=1, style=Qt.PenStyle.DashLine))
        self.tell()

    def tell(self) -> None:
        """Write the heading: the curves' names and their values under the pointer, as much as there is room for."""
        text = next(filter(self._fits, self._headings()), "") or self._headings()[-1]
        if text != self.legend.text():  # laying it out costs more than a curve
            self.legend.setText(text)

    def _fits(self, text: str) -> bool:
        return _plain_width(text, self.legend) <= self.legend.width()

    def _headings(self) -> list[str]:
        """Headings, the most telling first."""
        if math.isfinite(self.iteration):
            return [self._heading(named=len(self._curves)), self._heading(named=0)]
        counts = range(len(self._curves), 0, -1)
        named = [self._heading(named=each, title="") for each in counts]
        return [self._heading(named=len(self._curves)), *named, self._heading(named=0)]

    def _heading(self, *, named: int, title: str | None = None) -> str:
        """Return the heading with the last ``named`` curves, or all without their names.

        A mark without a name is told by its colour alone: there is none beside one that has its name.
        """
        theme = Theme.current()
        muted = theme.color("text_muted").name()
        parts, at = [], math.nan
        nameless = len(self._curves) - named
        for place, (name, (_, series, column, color)) in enumerate(self._curves.items()):
            if named and place < nameless:
                continue
            row = series.at(self.iteration) if math.isfinite(self.iteration) else None
            words = [f"<span style='color:{color.name()}'>●</span>"]
            if place >= nameless:
                words.append(f"<span style='color:{muted}'>{html.escape(name)}</span>")
            if row is not None:
                words.append(f"<b>{formats.number(float(row[column]))}</b>")
                at = float(row[0]) if math.isnan(at) else at
            parts.append("&nbsp;".join(words))
        if math.isfinite(at):
            place_words = formats.count(int(at))
            title = f"iteration {place_words}" if named else f"{place_words}:"
        else:
            title = f"<b>{self._title}</b>" if title is None else title
        return "&nbsp;&nbsp; ".join(filter(None, [title, *parts]))

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what has no room: the numbers below where it is low, words where it is narrow."""
        super().resizeEvent(event)
        room = event.size().height() - _HEADER_HEIGHT
        self.plot.getAxis("bottom").setStyle(showValues=room >= _NUMBERS_BELOW)
        self.tell()

    @guard
    def _mouse_moved(self, position: QPointF) -> None:
        view = self.plot.getPlotItem().vb
        inside = view.sceneBoundingRect().contains(position)
        self.hovered.emit(view.mapSceneToView(position).x() if inside and self._curves else math.nan)


def _plain_width(text: str, label: QLabel) -> int:
    plain = html.unescape(re.sub(r"<[^>]*>", "", text))
    return label.fontMetrics().horizontalAdvance(plain)
