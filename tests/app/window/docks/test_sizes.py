"""Sizes of panels, of their halves and of columns by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QSplitter

from app.window.mainwindow import MainWindow

Key, Modifier = Qt.Key, Qt.KeyboardModifier
WIDER, NARROWER = (Key.Key_F8, Modifier.ControlModifier), (Key.Key_F7, Modifier.ControlModifier)
TALLER, LOWER = ((key, Modifier.ControlModifier | Modifier.ShiftModifier) for key in (Key.Key_F8, Key.Key_F7))
COLUMN = (Key.Key_F9, Modifier.ControlModifier)
COLUMN_WIDER = (Key.Key_F10, Modifier.ControlModifier)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr("app.window.docks.resizing.announce", lambda _widget, text: heard.append(text))
    return heard


@pytest.fixture
def opened(window: MainWindow, lenet: Path, qtbot: Any, said: list[str]) -> MainWindow:
    assert window.files.open(lenet)
    window.activateWindow()
    window.canvas.setFocus()
    qtbot.waitUntil(window.canvas.hasFocus)
    return window


def press(keys: tuple[Qt.Key, Qt.KeyboardModifier], times: int = 1) -> None:
    for _press in range(times):
        QTest.keyClick(QApplication.focusWidget(), *keys)
        QApplication.processEvents()


@pytest.mark.parametrize(
    ("panel", "keys", "side", "sign"),
    [
        ("properties", WIDER, "right", 1),
        ("properties", NARROWER, "right", -1),
        ("outline", WIDER, "left", 1),
        ("costs", TALLER, "bottom", 1),
        ("costs", LOWER, "bottom", -1),
    ],
)
def test_a_panel_gets_another_size_that_is_told_and_kept(opened, said, settings, panel, keys, side, sign) -> None:
    opened._docks.go(panel)
    here = QApplication.focusWidget()
    before = opened._room._sizes()
    press(keys, 2)
    after = opened._room._sizes()
    assert sign * (after[side] - before[side]) >= 24
    assert {each: size for each, size in after.items() if each != side} == {
        each: size for each, size in before.items() if each != side
    }
    assert said[-1].startswith(f"Panels at the {side}: {after[side]} pixels")
    assert settings.dock_sizes[side] == after[side]
    assert QApplication.focusWidget() is here


def test_at_the_canvas_the_panels_give_way(opened, said) -> None:
    wide, high = opened.canvas.width(), opened.canvas.height()
    press(WIDER)
    press(TALLER)
    assert opened.canvas.width() == wide + 24 and opened.canvas.height() == high + 24
    assert [each.partition(":")[0] for each in said] == ["Panels at the right", "Panels at the bottom"]
    opened._docks.go("outline")
    press(TALLER)
    assert said[-1] == "Outline is as high as there is room for it."


def test_the_halves_of_a_panel_share_its_width(opened, said) -> None:
    opened._docks.go("plugins")
    split = opened.panels["plugins"].findChild(QSplitter)
    before = split.sizes()
    press(WIDER)
    assert split.sizes() == [before[0] + 24, before[1] - 24]
    assert said[-1] == f"This part: {before[0] + 24} pixels wide."
    press(NARROWER, 3)
    assert split.sizes()[0] == before[0] - 48


def test_a_floating_panel_is_sized_itself(opened, said, qtbot) -> None:
    dock = opened.findChild(QDockWidget, "window.dock.costs")
    dock.setFloating(True)
    qtbot.waitUntil(dock.isFloating)
    dock.resize(500, 300)
    dock.activateWindow()
    opened.panels["costs"].view.setFocus()
    qtbot.waitUntil(opened.panels["costs"].view.hasFocus)
    opened.findChild(QAction, "window.size.part_taller").trigger()
    assert (dock.width(), dock.height()) == (500, 324)
    dock.setFloating(False)


@pytest.mark.parametrize(("panel", "view"), [("costs", "view"), ("outline", "view"), ("plugins", "list")])
def test_a_column_is_chosen_and_sized(opened, said, qtbot, panel, view) -> None:
    opened._docks.go(panel)
    table = getattr(opened.panels[panel], view)
    table.setFocus()
    head = table.header()
    press(COLUMN, 2)
    shown = [head.logicalIndex(place) for place in range(head.count())]
    column = [each for each in shown if not head.isSectionHidden(each)][1]
    title = str(table.model().headerData(column, Qt.Orientation.Horizontal)).replace("\n", " ")
    assert said[-1] == f"Column '{title}': {head.sectionSize(column)} pixels wide."
    press((Key.Key_F9, COLUMN[1] | Modifier.ShiftModifier))
    before = head.sectionSize(shown[0])
    press(COLUMN_WIDER)
    assert head.sectionSize(shown[0]) == before + 24
    if panel != "costs":  # whose columns give way all together
        opened.resize(opened.width() - 40, opened.height())  # it stays when the table gets another width
        qtbot.wait(1)
        assert head.sectionSize(shown[0]) == before + 24
    press((Key.Key_F10, COLUMN[1] | Modifier.ShiftModifier))
    assert head.sectionSize(shown[0]) == before


def test_without_a_table_it_is_said(opened, said) -> None:
    press(COLUMN)
    assert said[-1].startswith("The keyboard is in no table")


def test_all_of_it_is_among_the_commands(opened) -> None:
    names = {each.name: each.keys for each in opened.keys.commands()}
    assert names["window.size.part_wider"] == "Ctrl+F8"
    assert names["window.size.column_narrower"] == "Ctrl+Shift+F10"
    assert names["curves.on"] == "Right"
