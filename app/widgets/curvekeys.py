"""Going along a curve by keyboard: the keys, and where they lead."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

__all__ = ["CURVE_KEYS", "MOVES", "CurveActions", "walk"]

#: Name, what it does, and its keys in portable notation; the first of these move along the curve.
CURVE_KEYS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("back", "Go back along the curves", ("Left",)),
    ("on", "Go on along the curves", ("Right",)),
    ("point_back", "Go to the point before on the curves", ("Shift+Left",)),
    ("point_on", "Go to the next point of the curves", ("Shift+Right",)),
    ("far_back", "Go far back along the curves", ("PgUp",)),
    ("far_on", "Go far on along the curves", ("PgDown",)),
    ("first", "Go to the beginning of the curves", ("Home",)),
    ("last", "Go to the end of the curves", ("End",)),
    ("zoom_in", "Look at the curves more closely", ("+",)),
    ("zoom_out", "Look at more of the curves", ("-",)),
    ("whole", "Show the whole of the curves", ("0",)),
)
MOVES = tuple(name for name, _text, _keys in CURVE_KEYS[:8])
#: Which part of what is in view each step goes; at least to the next point.
_STEPS = {"back": -0.01, "on": 0.01, "point_back": -0.0, "point_on": 0.0, "far_back": -0.1, "far_on": 0.1}


class CurveActions(QObject):
    """Actions for the keys of curves, which hold while the keyboard is in one.

    Parameters
    ----------
    names : sequence of str
        Which of :data:`CURVE_KEYS`.

    Attributes
    ----------
    asked : Signal(str)
        The keys of this name were pressed, or its action was chosen elsewhere.
    actions : list of QAction
    """

    asked = Signal(str)

    def __init__(self, names: tuple[str, ...], parent: QWidget) -> None:
        super().__init__(parent)
        self.actions = [self._make(*each) for each in CURVE_KEYS if each[0] in names]

    def _make(self, name: str, text: str, keys: tuple[str, ...]) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"curves.{name}")
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(partial(self._chosen, name))
        return action

    def _chosen(self, name: str, _checked: bool = False) -> None:
        self.asked.emit(name)


def walk(move: str, points: NDArray[np.floating] | NDArray[np.integer], here: float, span: float) -> float:
    """Return the point of a curve to which a move leads.

    Parameters
    ----------
    move : str
        One of :data:`MOVES`.
    points : ndarray, shape (n,)
        Where the curve has points, in rising order.
    here : float
        Where one is; NaN before the first move, which then leads to the end, or on from the beginning.
    span : float
        How much of the curve is in view, in the unit of ``points``.

    Returns
    -------
    float
        NaN where there is no point.
    """
    if not len(points):
        return math.nan
    last = len(points) - 1
    if move in ("first", "last") or not math.isfinite(here):
        return float(points[0 if move in ("first", "on", "point_on", "far_on") else last])
    wanted = here + _STEPS[move] * span
    if math.copysign(1.0, _STEPS[move]) > 0:
        place = max(np.searchsorted(points, here, "right"), np.searchsorted(points, wanted, "left"))
    else:
        place = min(np.searchsorted(points, here, "left"), np.searchsorted(points, wanted, "right")) - 1
    return float(points[min(max(int(place), 0), last)])
