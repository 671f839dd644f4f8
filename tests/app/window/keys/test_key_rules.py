"""Keys that are given to something else: taken ones, those of the text, letters; and what a restart leaves of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.window.keys.shortcutpage import ShortcutPage
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings

Control = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def opened(window: MainWindow, lenet: Path) -> MainWindow:
    assert window.files.open(lenet)
    window.activateWindow()
    return window


@pytest.fixture
def page(opened: MainWindow) -> Iterator[ShortcutPage]:
    opened.actions_by_name["shortcuts"].trigger()
    page = opened.findChild(ShortcutPage)
    yield page
    page.close()


def ask(page: ShortcutPage, name: str, keys: str) -> str:
    """Choose an action and press keys for it; return what is said of them."""
    page.search.setText(name)
    page.table.selectRow(0)
    page.keys.setKeySequence(QKeySequence(keys))
    return page._clash.text()


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


@pytest.mark.parametrize(
    ("name", "keys", "said", "can"),
    [
        ("Lay out", "Ctrl+D", "Ctrl+D is 'Duplicate' (Edit); it loses the key", True),
        ("Lay out", "Ctrl+D", "In the text it stays 'Duplicate line'.", True),
        ("Lay out", "Ctrl+/", "In the text it stays 'Toggle comment'.", True),
        ("Lay out", "Ctrl+Z", "keeps its usual meaning", True),
        ("Lay out", "G", "Where text is written it is typed.", True),
        ("Lay out", "L", "L is 'Select what is linked too' (Canvas)", True),
        ("Lay out", "Return", "needed to type and to move", False),
        ("Lay out", "Del", "needed to type and to move", False),
        ("Lay out", "Ctrl+Alt+K", "", True),
        ("Toggle comment", "G", "needed to type and to move", False),
        ("Toggle comment", "Ctrl+Shift+L", "", True),
        ("Straighten wires", "Space", "for its gestures", False),
        ("Straighten wires", "Left", "for its gestures", False),
        ("Straighten wires", "G", "", True),
    ],
)
def test_what_is_said_of_keys(page, name, keys, said, can):
    told = ask(page, name, keys)
    assert said in told if said else told == ""
    assert page.assign.isEnabled() is can


def test_a_letter_of_the_window_is_typed_where_text_is_written(opened, qtbot):
    ran: list[int] = []
    opened.actions_by_name["minimap"].triggered.connect(lambda: ran.append(1))
    opened.keys.shortcuts.set_keys("window.action.minimap", ["G"])
    opened.show_panel("text")
    edit = opened.panels["text"].edit
    before = edit.toPlainText()
    edit.setFocus()
    qtbot.keyClick(focused(), Qt.Key.Key_G)
    assert edit.toPlainText() != before and not ran
    opened.canvas.setFocus()
    opened.actions_by_name["commands"].trigger()
    qtbot.keyClick(opened.keys.palette.search, Qt.Key.Key_G)
    assert opened.keys.palette.search.text() == "g" and not ran
    qtbot.keyClick(opened.keys.palette.search, Qt.Key.Key_Escape)
    opened.canvas.setFocus()
    qtbot.keyClick(focused(), Qt.Key.Key_G)
    assert ran == [1]


def test_a_key_taken_from_another_stays_taken_after_a_restart_and_comes_back(opened, qtbot):
    opened.keys.shortcuts.set_keys("window.action.layout", ["Ctrl+D"])
    again = MainWindow(WindowSettings(opened.settings._settings))
    try:
        assert again.actions_by_name["layout"].shortcut() == QKeySequence("Ctrl+D")
        assert again.actions_by_name["duplicate"].shortcuts() == []
        again.keys.shortcuts.reset("window.action.duplicate")
        assert again.actions_by_name["duplicate"].shortcut() == QKeySequence("Ctrl+D")
        assert again.actions_by_name["layout"].shortcuts() == []
        again.keys.shortcuts.reset_all()
        assert again.actions_by_name["layout"].shortcut() == QKeySequence("Ctrl+Shift+L")
        assert again.settings.shortcuts == {}
    finally:
        again.close()
        again.deleteLater()


def test_a_key_given_away_before_a_panel_is_there_is_not_heard_by_two(settings, qtbot):
    """Qt runs neither of two actions with one key; the training's are made when the window is idle."""
    settings.set_shortcut("window.action.layout", ["F6"])
    shown = MainWindow(settings)
    try:
        assert "training" not in shown._docks.panels
        shown.load_panels()
        assert shown.panels["training"].pause_action.shortcuts() == []
        assert shown.actions_by_name["layout"].shortcut() == QKeySequence("F6")
    finally:
        shown.close()
        shown.deleteLater()


def test_a_key_given_to_the_text_is_the_texts_only_there(opened, qtbot):
    opened.keys.shortcuts.set_keys("text.comment", ["Ctrl+Shift+L"])
    opened.show_panel("text")
    pane = opened.panels["text"]
    pane.edit.setFocus()
    before = pane.edit.toPlainText()
    ran: list[int] = []
    opened.actions_by_name["layout"].triggered.connect(lambda: ran.append(1))
    QTest.keyClick(focused(), Qt.Key.Key_L, Control | Qt.KeyboardModifier.ShiftModifier)
    assert pane.edit.toPlainText() == before.removeprefix("# ") and not ran
    opened.canvas.setFocus()
    QTest.keyClick(focused(), Qt.Key.Key_L, Control | Qt.KeyboardModifier.ShiftModifier)
    assert ran == [1]


@pytest.mark.parametrize("panel", ["text", "properties", "solver", "training", "problems", "costs", "plugins", "code"])
def test_keys_of_the_canvas_do_nothing_in_a_dock(opened, qtbot, panel):
    opened.document.selection.set([opened.document.graph.named("conv1")[0].id])
    opened.findChild(QAction, f"window.go.{panel}").trigger()
    before = bytes(opened.document.graph)
    shown = opened.canvas.minimap.isVisible()
    widget = focused()
    assert widget is not opened.canvas
    for key in (Qt.Key.Key_Q, Qt.Key.Key_M, Qt.Key.Key_L, Qt.Key.Key_U):
        qtbot.keyClick(widget, key)
    assert len(opened.document.selection) == 1 and opened.canvas.minimap.isVisible() == shown
    if panel == "text":
        opened.panels["text"].commit()
        opened.document.undo_stack.undo()
    assert bytes(opened.document.graph) == before
