"""The curves of a training by keyboard: a cross that goes along them, and what is said of its place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu, QWidget

from app.qt import announce, guard, key_text
from app.widgets.curvekeys import CURVE_KEYS, MOVES, CurveActions, walk

if TYPE_CHECKING:
    from app.training.curves import CurvesView, Plot

__all__ = ["CurveWalk"]

_ZOOM = {"zoom_in": 0.5, "zoom_out": 2.0}
_NOTHING = "There are no curves yet: train the net first."


class CurveWalk(QObject):
    """Moves the cross of the curves by keys, and says the values there.

    Attributes
    ----------
    menu : QMenu
        All of it, for the window.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._panel = parent
        self._curves: CurvesView | None = None
        self._keys = CurveActions(tuple(name for name, _text, _keys in CURVE_KEYS), parent)
        self._keys.asked.connect(self._do)
        self.menu = QMenu("Cur&ves", parent)
        self.menu.setObjectName("training.menu.curves")
        self.menu.setToolTipsVisible(True)
        self.menu.addActions(self._keys.actions)
        self.offer(False)

    def serve(self, curves: CurvesView) -> None:
        """Hear the keys in both plots of the curves."""
        self._curves = curves
        for plot in curves.plots:
            plot.plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            plot.plot.addActions(self._keys.actions)

    def offer(self, there: bool) -> None:
        """Enable the actions where there are curves, or have them say that there are none."""
        for action in self._keys.actions:
            key = key_text(action)
            action.setEnabled(there)
            action.setToolTip(f"{action.text()} ({key})" if there and key else action.text() if there else _NOTHING)

    @guard
    def _do(self, name: str) -> None:
        curves = self._curves
        if curves is None:
            return
        plot = next((each for each in curves.plots if each.plot.hasFocus()), curves.loss_plot)
        if plot.visibleRegion().isEmpty():
            show = getattr(self._panel.window(), "show_panel", None)
            if callable(show):
                show("training")
        plot.plot.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if name == "whole":
            curves.show_all()
        elif name in MOVES:
            self._move(curves, plot, name)
        else:
            self._zoom(curves, plot, _ZOOM[name])

    def _move(self, curves: CurvesView, plot: Plot, move: str) -> None:
        first, last = plot.plot.viewRange()[0]
        at = walk(move, plot.points, plot.iteration, last - first)
        if not math.isfinite(at):
            return
        if not first <= at <= last:
            by = at - (first if at < first else last)
            curves.show_part(first + by, last + by)
        curves.point_at(at)
        plot.plot.setAccessibleDescription(plot.words)
        announce(plot.plot, plot.words)

    def _zoom(self, curves: CurvesView, plot: Plot, times: float) -> None:
        """Show more or less of the curves, around the cross."""
        first, last = plot.plot.viewRange()[0]
        middle = plot.iteration if math.isfinite(plot.iteration) else (first + last) / 2
        first, last = (middle + (end - middle) * times for end in (first, last))
        curves.show_part(first, last)
        announce(plot.plot, f"Iterations {max(0, round(first)):,} to {round(last):,}.")
