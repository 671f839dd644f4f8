"""The curves by keyboard: the cross goes from point to point, values are said, and what is in view follows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.solver.plot import SchedulePlot
from app.solver.schedule import Schedule
from app.training.pictures import Pictures
from app.widgets.curvekeys import MOVES, walk
from tests.app.training.test_parts import long_model

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
POINTS = np.array([0, 3, 10, 11, 50, 90, 100])


@pytest.mark.parametrize(
    ("move", "here", "there"),
    [
        ("on", math.nan, 0),
        ("back", math.nan, 100),
        ("point_on", 3, 10),
        ("point_back", 3, 0),
        ("on", 10, 11),
        ("far_on", 0, 10),
        ("far_on", 11, 50),
        ("far_back", 11, 0),
        ("back", 0, 0),
        ("on", 100, 100),
        ("far_on", 95, 100),
        ("first", 50, 0),
        ("last", 50, 100),
    ],
)
def test_where_the_keys_lead(move: str, here: float, there: float) -> None:
    assert walk(move, POINTS, here, 100.0) == there


@pytest.mark.parametrize("move", MOVES)
def test_without_points_they_lead_nowhere(move: str) -> None:
    assert math.isnan(walk(move, np.zeros(0), 3.0, 100.0))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    for module in ("app.training.curvewalk", "app.solver.plot"):
        monkeypatch.setattr(f"{module}.announce", lambda _widget, text: heard.append(text))
    return heard


@pytest.fixture
def pictures(qtbot: QtBot) -> Pictures:
    shown = Pictures()
    qtbot.addWidget(shown)
    shown.resize(900, 240)
    shown.show()
    qtbot.waitUntil(lambda: shown.curves is not None, timeout=20_000)
    shown.shutdown()
    shown.show_model(long_model(2000))
    shown.activateWindow()
    return shown


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    widget = QApplication.focusWidget()
    assert widget is not None
    QTest.keyClick(widget, key, modifiers)


def test_the_cross_goes_along_and_says_what_is_there(pictures: Pictures, said: list[str], qtbot: QtBot) -> None:
    assert pictures.curves is not None
    loss, tests = pictures.curves.plots
    loss.plot.setFocus()
    qtbot.waitUntil(loss.plot.hasFocus)
    press(Key.Key_Home)
    assert said[-1].startswith("Iteration 0: loss ") and "test loss 0.1" in said[-1]
    assert loss.plot.accessibleDescription() == said[-1]
    press(Key.Key_Right, SHIFT)
    assert loss.iteration == 1 and loss.cross.isVisible() and tests.iteration == 1
    press(Key.Key_Right)
    assert 10 < loss.iteration < 40
    press(Key.Key_PageDown)
    assert 200 < loss.iteration < 300
    press(Key.Key_End)
    assert said[-1].startswith("Iteration 1,999: ")
    tests.plot.setFocus()
    assert not loss.cross.isVisible(), "it goes with the keyboard"
    press(Key.Key_Home)
    press(Key.Key_Right)
    assert said[-1] == "Iteration 500: accuracy 0.9"


def test_what_is_in_view_follows_the_cross(pictures: Pictures, said: list[str], qtbot: QtBot) -> None:
    assert pictures.curves is not None
    plot = pictures.curves.loss_plot
    plot.plot.setFocus()
    qtbot.waitUntil(plot.plot.hasFocus)
    whole = plot.plot.viewRange()[0]
    press(Key.Key_End)
    press(Key.Key_Plus)
    press(Key.Key_Plus)
    first, last = plot.plot.viewRange()[0]
    assert last - first == pytest.approx((whole[1] - whole[0]) / 4)
    assert first < 1999 < last
    press(Key.Key_Home)
    assert plot.plot.viewRange()[0][0] <= 0 < plot.plot.viewRange()[0][1]
    press(Key.Key_0)
    assert plot.fitted and plot.plot.viewRange()[0] == pytest.approx(whole)


def test_the_menu_says_why_there_is_nothing(qtbot: QtBot) -> None:
    shown = Pictures()
    qtbot.addWidget(shown)
    actions = shown.walk.menu.actions()
    assert [each.objectName() for each in actions][:2] == ["curves.back", "curves.on"]
    assert not any(each.isEnabled() for each in actions)
    assert actions[0].toolTip() == "There are no curves yet: train the net first."


@pytest.fixture
def schedule(qtbot: QtBot) -> SchedulePlot:
    plot = SchedulePlot()
    qtbot.addWidget(plot)
    plot.show_schedule(Schedule("step", np.array([0, 500, 999]), np.array([0.1, 0.01, 0.001]), 1000))
    plot.show()
    plot.activateWindow()
    plot.setFocus()
    qtbot.waitUntil(plot.hasFocus)
    return plot


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ((Key.Key_Right,), "Iteration 0: 0.1"),
        ((Key.Key_Home, Key.Key_Right), "Iteration 500: 0.01"),
        ((Key.Key_End,), "Iteration 999: 0.001"),
    ],
)
def test_the_learning_rate_is_gone_along_too(
    schedule: SchedulePlot, said: list[str], keys: tuple[Qt.Key, ...], text: str
) -> None:
    grab: Callable[[], object] = schedule.grab
    for key in keys:
        press(key)
        grab()
    assert said[-1] == text
    assert schedule.accessibleDescription().startswith(text)
