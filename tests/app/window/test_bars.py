"""The bars with messages over the canvas."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QPushButton, QWidgetItem
from shiboken6 import Shiboken

from app.window import bars
from app.window.bars import InfoArea


@pytest.mark.parametrize(("still_for", "answered"), [(10**9, []), (0, ["Discard"])])
def test_a_click_that_was_meant_for_what_stood_there_before_answers_nothing(qtbot, monkeypatch, still_for, answered):
    monkeypatch.setattr(bars, "_STEADY_AFTER", still_for)
    area, given = InfoArea(), []
    qtbot.addWidget(area)
    area.show()
    old = area.add("Unsaved changes were kept.", "warning", [("Discard", lambda: given.append("Discard"))])
    area.add("The data are not here.", "info", [("Assume", lambda: given.append("Assume"))])
    qtbot.mouseClick(old.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert given == answered


def test_a_bar_that_comes_alone_answers_at_once(qtbot, monkeypatch):
    monkeypatch.setattr(bars, "_STEADY_AFTER", 10**9)
    area, given = InfoArea(), []
    qtbot.addWidget(area)
    area.show()
    bar = area.add("The data are not here.", "info", [("Assume", lambda: given.append("Assume"))])
    qtbot.mouseClick(bar.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert given == ["Assume"]


def test_nothing_of_the_layout_is_left_of_bars_that_went(window, qtbot):
    """What would stand for an item of the layout would be left where something else is by then, and crash."""

    def items() -> int:
        return sum(isinstance(each, QWidgetItem) for each in Shiboken.getAllValidWrappers())

    before = items()
    for number in range(6):
        window.notify(f"Message {number}.", "warning")
    assert len(window.bars) == 3
    while window.bars:
        window.bars[0].dismiss()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert items() <= before
