"""Choosing what the heat-map shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.canvas.scene.heat import MEASURES, TIME, UPDATES
from app.qt import guard

if TYPE_CHECKING:
    from app.window.views.viewing import ViewingCanvas

__all__ = ["HeatMenu"]

_LETTERS = {
    "parameters": "P",
    "multiply_adds": "M",
    "memory": "A",
    "inference": "u",
    "training": "i",
    "time": "t",
    "updates": "L",
}
_UPDATES = "Show on each layer how large its last update was beside its weights, while the net trains"
_TIMES = {
    True: "Show measured times on each layer",
    False: "Run the net, measure how long each layer takes, and show it on each layer",
}


def _with_letter(title: str, name: str) -> str:
    """Underline the letter of a title by which it is chosen."""
    letter = _LETTERS.get(name, "")
    return title.replace(letter, f"&{letter}", 1) if letter else title


class HeatMenu(QMenu):
    """Lists what layers cost, to be shown on them.

    Parameters
    ----------
    canvas : callable
        Returns the canvas in view.

    Attributes
    ----------
    choices : dict of QAction
        By the name of the measure; the empty name shows none.
    measure : QAction
        Measures times anew.
    """

    def __init__(self, canvas: Callable[[], ViewingCanvas], parent: QWidget) -> None:
        super().__init__("&Heat map", parent)
        self.setObjectName("window.menu.heat")
        self.setToolTipsVisible(True)
        self._canvas = canvas
        self.choices: dict[str, QAction] = {}
        group = QActionGroup(self)
        for name, title in (("", "&Off"), *((measure.name, measure.title) for measure in MEASURES)):
            action = self.addAction(_with_letter(title, name))
            action.setObjectName(f"window.heat.{name or 'off'}")
            action.setCheckable(True)
            action.setToolTip(f"Show {title.lower()} on each layer" if name else "Show no costs on the layers")
            action.triggered.connect(lambda _checked=False, name=name: self._canvas().show_heat(name))
            group.addAction(action)
            self.choices[name] = action
        self.choices[UPDATES.name].setToolTip(_UPDATES)
        self.addSeparator()
        self.measure = self.addAction("&Measure times now", lambda: self._canvas().measure_times())
        self.measure.setObjectName("window.measure_times")
        self.aboutToShow.connect(self.refresh)

    @guard
    def refresh(self) -> None:
        """Mark what is shown, and say what cannot be."""
        heat = self._canvas().canvas.heat
        shown = heat.measure.name if heat.measure is not None else ""
        self.choices[shown].setChecked(True)
        timings = self._canvas().document.live.timings
        obstacle = "Times are being measured" if timings.is_running else timings.obstacle()
        times = self.choices[TIME.name]
        times.setEnabled(heat.has_times or not obstacle)
        times.setToolTip(_TIMES[heat.has_times] if times.isEnabled() else obstacle)
        self.measure.setEnabled(not obstacle)
        self.measure.setToolTip(obstacle or "Run the net forward and backward, and measure how long each layer takes")
