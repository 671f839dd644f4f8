"""Keys of the comparison, of problems, of properties and of code can be changed as all others, and tooltips follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from app.window.keys.shortcuts import Shortcuts
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings

Alt, Control = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier

PARTS = {
    "compare.take": "T",
    "compare.map": "M",
    "compare.equal_next": "H",
    "compare.previous": "F7",
    "compare.next": "F8",
    "compare.close": "Esc",
    "problems.fix": "Ctrl+.",
    "properties.name": "F2",
    "code.save": "Ctrl+S",
    "text.find": "Ctrl+F",
    "text.find_next": "F3",
    "text.find_previous": "Shift+F3",
}


def compare(window: MainWindow, lenet: Path, qtbot: Any) -> Any:
    assert window.files.open(lenet)
    window.document.apply("x", lambda graph: graph.rename_node(graph.nodes()[0].id, "mine"))
    window.comparing.with_file()
    view = window.tabs.current.comparison
    qtbot.waitUntil(lambda: bool(view.comparison.changes), timeout=20_000)
    return view


def tip(view: Any, name: str) -> str:
    return str(view.findChild(QToolButton, f"compare.{name}_button").toolTip())


def test_all_of_them_are_there_with_their_keys_whether_their_parts_are_or_not(window: MainWindow) -> None:
    window.load_panels()
    found = {name: window.keys.shortcuts[name].keys for name in PARTS}
    assert found == {name: (key,) for name, key in PARTS.items()}


def test_a_comparison_has_the_keys_that_it_was_given_before_and_while_it_is_there(window, lenet, qtbot) -> None:
    window.keys.shortcuts.set_keys("compare.next", ("Alt+Right",))
    view = compare(window, lenet, qtbot)
    assert tip(view, "next") == "Next difference (Alt+Right)" and tip(view, "previous").endswith("(F7)")
    window.keys.shortcuts.set_keys("compare.close", ("Alt+Q",))
    window.keys.shortcuts.set_keys("compare.equal_next", ("E",))
    assert tip(view, "close") == "Back to the canvas (Alt+Q)" and tip(view, "all").endswith("(E goes on to the next)")
    view.list.setFocus()
    qtbot.keyClick(view.list, Qt.Key.Key_Escape)
    assert window.tabs.current.comparison is view
    qtbot.keyClick(view.list, Qt.Key.Key_Q, Alt)
    assert window.tabs.current.comparison is None
    window.keys.shortcuts.reset("compare.close")  # the view is gone: nothing that it had is touched
    again = compare_again(window, qtbot)
    qtbot.waitUntil(lambda: bool(again.comparison.changes), timeout=20_000)
    assert tip(again, "close").endswith("(Esc)") and tip(again, "next").endswith("(Alt+Right)")


def compare_again(window: MainWindow, qtbot: Any) -> Any:
    window.comparing.with_file()
    return window.tabs.current.comparison


def test_code_is_saved_by_the_key_that_was_given_to_it_in_every_file(window, lenet, tmp_path, qtbot) -> None:
    assert window.files.open(lenet)  # which the old key saves from now on
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    for file in files:
        file.write_text("x = 1\n")
    window.plugins.code.show(files[0])
    pane = window.panels["code"]
    window.keys.shortcuts.set_keys("code.save", ("Ctrl+Alt+S",))
    assert pane.save_button.toolTip().endswith("(Ctrl+Alt+S)")
    window.plugins.code.show(files[1])
    for file in files:
        pane.open(file)
        qtbot.keyClicks(pane.edit, "#")
        qtbot.keyClick(pane.edit, Qt.Key.Key_S, Control)
        assert pane.unsaved == [file]
        qtbot.keyClick(pane.edit, Qt.Key.Key_S, Control | Alt)
        assert not pane.unsaved and file.read_text() == "#x = 1\n"


def test_tooltips_of_the_name_and_of_quick_fixes_follow(window, lenet, qtbot) -> None:
    assert window.files.open(lenet)
    window.load_panels()
    window.document.selection.set([window.document.graph.nodes()[0].id])
    panel = window.panels["properties"]
    qtbot.waitUntil(lambda: hasattr(panel.page, "header"))
    assert panel.page.header.name.toolTip() == "Name of the layer (F2)"
    window.keys.shortcuts.set_keys("properties.name", ("Alt+N",))
    assert panel.page.header.name.toolTip() == "Name of the layer (Alt+N)"
    window.keys.shortcuts.set_keys("properties.name", ())
    assert panel.page.header.name.toolTip() == "Name of the layer"
    window.keys.shortcuts.set_keys("problems.fix", ("Ctrl+J",))
    assert window.panels["problems"].model._fix_key == ("(Ctrl+J)",)


@pytest.mark.parametrize(
    ("one", "key", "other"),
    [
        ("compare.next", "M", "compare.map"),
        ("compare.next", "Ctrl+S", "window.action.save"),
        ("window.action.save", "F8", "compare.next"),
        ("compare.next", "Ctrl+B", None),  # the canvas is not there meanwhile
        ("compare.next", "F2", None),
        ("code.save", "Ctrl+/", "text.comment"),
        ("code.save", "Ctrl+O", None),
    ],
)
def test_keys_collide_where_both_can_be_heard(window: MainWindow, one: str, key: str, other: str | None) -> None:
    window.load_panels()
    found = window.keys.shortcuts.conflict(one, key)
    assert (found.name if found is not None else None) == other


def test_actions_of_one_name_have_the_same_keys_however_late_they_come(qapp: Any, tmp_path: Path) -> None:
    shortcuts = Shortcuts(WindowSettings(QSettings(str(tmp_path / "own.ini"), QSettings.Format.IniFormat)))
    first, second, third = (QAction(qapp) for _ in range(3))
    for each in (first, second, third):
        each.setObjectName("a.b")
        each.setShortcut("F5")
    shortcuts.adopt([first, second], "Menu")
    shortcuts.set_keys("a.b", ("F6",))
    shortcuts.adopt([third], "Menu")
    assert [each.shortcut().toString() for each in (first, second, third)] == ["F6"] * 3


FINDING = {
    "text": ("text.find", "text.find"),
    "properties": ("properties.find", "properties.search"),
    "solver": ("solver.find", "solver.search"),
}


def press_find(window: MainWindow, qtbot: Any, panel: str, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> str:
    """Press a key in a panel, as the window gets it; return what has the keyboard then."""
    window.activateWindow()
    window._docks.go(panel)
    QApplication.processEvents()
    QTest.keyClick(QApplication.focusWidget(), key, modifiers)
    return str(QApplication.focusWidget().objectName())


@pytest.mark.parametrize("panel", FINDING)
def test_find_is_that_of_the_part_with_the_keyboard_and_can_be_changed(window, lenet, qtbot, panel) -> None:
    assert window.files.open(lenet)
    window.load_panels()
    name, line = FINDING[panel]
    found: list[int] = []
    window.canvas.find_asked.connect(lambda: found.append(1))
    assert press_find(window, qtbot, panel, Qt.Key.Key_F, Control) == line
    window.keys.shortcuts.set_keys(name, ("Ctrl+Alt+F",))
    assert press_find(window, qtbot, panel, Qt.Key.Key_F, Control | Alt) == line
    window.keys.shortcuts.set_keys(name, ())
    assert not found, "the canvas heard it too"
    window.canvas.setFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F, Control)
    assert found == [1]
    window.canvas.finder.hide()


def test_from_place_to_place_in_the_text_and_in_the_bar_by_keys_of_ones_own(window, lenet, qtbot) -> None:
    assert window.files.open(lenet)
    window.load_panels()
    pane = window.panels["text"]
    bar, edit = pane.find_bar, pane.edit
    step = {each.accessibleName(): each for each in bar.findChildren(QToolButton)}
    assert step["Next"].toolTip() == "Next (F3)"
    for key, modifiers in ((Qt.Key.Key_F3, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_N, Control | Alt)):
        window.keys.shortcuts.set_keys("text.find_next", (QKeySequence(key | modifiers).toString(),))
        bar.line.clear()
        assert press_find(window, qtbot, "text", key, modifiers) == "text.find", "first it asks what"
        qtbot.keyClicks(bar.line, "conv1")
        places = [bar.count.text()]
        for widget in (bar.line, bar.word, edit):
            widget.setFocus()
            QTest.keyClick(widget, key, modifiers)
            places.append(bar.count.text())
        assert [each.partition(" ")[0] for each in places] == ["1", "2", "3", "1"], "conv1 stands at three places"
    assert step["Next"].toolTip() == "Next (Ctrl+Alt+N)"
