"""The command palette and the shortcuts: everything is found, told why not, and can be given other keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QToolButton

import app
from app.window.keys.commandpalette import Command, rank_commands
from app.window.keys.shortcutpage import ShortcutPage
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings

Control, Shift, Plain = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


def command(name: str, reason: str = "") -> Command:
    return Command(name, name, "Menu", "", reason, lambda: None)


def names(matches) -> list[str]:
    return [found.name for found, _letters in matches]


def test_commands_are_ranked_by_letters_use_and_whether_they_can_be_done():
    commands = [command("Save"), command("Save as"), command("Select all"), command("Undo", "Nothing to undo")]
    assert names(rank_commands(commands, "", [])) == ["Save", "Save as", "Select all", "Undo"]
    assert names(rank_commands(commands, "", ["Undo", "Select all"]))[:2] == ["Undo", "Select all"]
    assert names(rank_commands(commands, "sav", [])) == ["Save", "Save as"]
    assert names(rank_commands(commands, "s", ["Select all"]))[0] == "Select all"
    assert names(rank_commands(commands, "zzz", [])) == []
    same = [command("Fold", "no"), command("Fold it")]
    assert names(rank_commands(same, "fold", [])) == ["Fold it", "Fold"]


def open_palette(window: MainWindow, qtbot):
    window.activateWindow()
    window.canvas.setFocus()
    qtbot.keyClick(window.canvas, Qt.Key.Key_P, Control | Shift)
    palette = window.keys.palette
    assert palette.isVisible()
    return palette


def shown(palette) -> list[Command]:
    return [found for found, _letters in palette.model.matches]


def test_the_palette_has_every_action_of_the_menus_and_every_key_of_the_canvas(window, lenet, qtbot):
    assert window.files.open(lenet)
    palette = open_palette(window, qtbot)
    found = {each.name: each for each in shown(palette)}
    wanted = set(window.actions_by_name) - {"commands"}
    assert {f"window.action.{name}" for name in wanted} <= set(found)
    assert {"training.train", "window.phase.deploy", "window.go.text", "canvas.bypass", "canvas.straighten"} <= set(
        found
    )
    assert {"window.template.resnet50", "window.theme.dark", "window.example.autoencoder"} <= set(found)
    assert found["window.action.save_as"].keys == "Ctrl+Shift+S"
    assert found["window.action.undo"].reason.startswith("Nothing to undo")
    assert found["canvas.bypass"].keys == "Ctrl+B"
    palette.hide()


def test_a_command_is_done_by_a_few_letters_and_comes_first_the_next_time(window, lenet, qtbot):
    assert window.files.open(lenet)
    palette = open_palette(window, qtbot)
    qtbot.keyClicks(palette.search, "selall")
    assert shown(palette)[0].text == "Select all"
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert len(window.document.selection) == len(window.document.graph)
    assert shown(open_palette(window, qtbot))[0].text == "Select all"
    window.keys.palette.hide()


def test_what_cannot_be_done_says_why_and_stays_open(window, qtbot):
    palette = open_palette(window, qtbot)
    qtbot.keyClicks(palette.search, "undo")
    assert shown(palette)[0].reason.startswith("Nothing to undo")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert palette.isVisible()
    qtbot.keyClick(palette.search, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_a_key_of_the_canvas_is_changed_holds_at_once_and_after_a_restart(window, lenet, qtbot):
    assert window.files.open(lenet)
    window.document.selection.set([window.document.graph.named("conv1")[0].id])
    window.keys.shortcuts.set_keys("canvas.grow", ["G"])
    before = len(window.document.selection)
    qtbot.keyClick(window.canvas, Qt.Key.Key_L)
    assert len(window.document.selection) == before
    qtbot.keyClick(window.canvas, Qt.Key.Key_G)
    assert len(window.document.selection) > before
    again = MainWindow(WindowSettings(window.settings._settings))
    try:
        assert again.keys.shortcuts["canvas.grow"].keys == ("G",)
    finally:
        again.close()
        again.deleteLater()


def test_a_shortcut_of_the_window_is_changed_with_its_tooltip(window, lenet, qtbot):
    assert window.files.open(lenet)
    shortcuts = window.keys.shortcuts
    shortcuts.set_keys("window.action.layout", ["Ctrl+Alt+K"])
    action = window.actions_by_name["layout"]
    assert action.shortcut() == QKeySequence("Ctrl+Alt+K")
    assert action.toolTip().endswith("(Ctrl+Alt+K)")
    shortcuts.reset("window.action.layout")
    assert action.shortcut() == QKeySequence("Ctrl+Shift+L")
    assert window.settings.shortcuts == {}


def test_a_hint_in_a_menu_follows_the_key_of_the_canvas(window):
    window.keys.shortcuts.set_keys("canvas.dissolve", ["Shift+Del"])
    assert window.actions_by_name["dissolve"].text().endswith("\tShift+Del")


@pytest.fixture
def page(window: MainWindow) -> ShortcutPage:
    window.actions_by_name["shortcuts"].trigger()
    page = window.findChild(ShortcutPage)
    yield page
    page.close()


def pick(page: ShortcutPage, text: str) -> None:
    page.search.setText(text)
    page.table.selectRow(0)


def test_the_page_finds_by_name_and_key_and_says_what_collides(window, page, qtbot):
    pick(page, "Lay out")
    assert page.current.name == "window.action.layout"
    page.keys.setFocus()
    qtbot.keyClick(page.keys, Qt.Key.Key_D, Control)
    assert "Duplicate" in page._clash.text()
    qtbot.mouseClick(page.assign, Qt.MouseButton.LeftButton)
    assert window.actions_by_name["layout"].shortcut() == QKeySequence("Ctrl+D")
    assert window.actions_by_name["duplicate"].shortcuts() == []
    pick(page, "Ctrl+D")
    assert page.current.name == "window.action.layout"
    qtbot.mouseClick(page.reset_all, Qt.MouseButton.LeftButton)
    assert window.actions_by_name["duplicate"].shortcut() == QKeySequence("Ctrl+D")
    assert window.settings.shortcuts == {}


def test_no_two_things_have_one_key_from_the_start(window):
    """What only the canvas hears may be a window's too only where both mean the same."""
    shortcuts = window.keys.shortcuts
    clashes = {
        (each.name, other.name)
        for each in shortcuts.entries()
        for key in each.keys
        if (other := shortcuts.conflict(each.name, key)) is not None
    }
    assert clashes == set()


def test_the_page_is_used_by_keys_alone(window, page, qtbot):
    """From the search through the table to the new keys and the button; none of them keeps the keyboard."""
    page.activateWindow()
    page.search.setFocus()
    qtbot.waitUntil(page.search.hasFocus)
    qtbot.keyClicks(page.search, "Lay out")
    seen = []
    for _press in range(2):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert seen == [page.table, page.keys]
    qtbot.keyClick(page.table, Qt.Key.Key_Home)
    qtbot.keyClick(page.keys, Qt.Key.Key_J, Control | Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is page.assign
    qtbot.keyClick(page.assign, Qt.Key.Key_Space)
    assert window.actions_by_name["layout"].shortcut() == QKeySequence("Ctrl+Alt+J")


def test_what_is_told_names_the_key_that_is_in_use(window, lenet, qtbot):
    assert window.files.open(lenet)
    view, shortcuts, refused = window.canvas, window.keys.shortcuts, []
    view.refused.connect(refused.append)
    for action, keys in (("canvas.wire", ["J"]), ("window.action.block", ["Ctrl+Alt+B"]), ("canvas.note", [])):
        shortcuts.set_keys(action, keys)
    for name, told in (("bend", "Press J at a layer"), ("written", "Ctrl+G puts a frame.")):
        view.do(name)
        assert told in refused[-1]
    shortcuts.set_keys("canvas.wire", [])
    view.do("bend")
    assert refused[-1].endswith("Click one.")
    for ids in ([node.id for node in view.document.graph.nodes()[2:5]], []):
        view.document.selection.set(ids)
        view.document.selection.flush()
        if ids:
            window.actions_by_name["block"].trigger()
    (card,) = view.canvas.folding.cards.values()
    view.document.selection.set(card.ids)
    view.document.selection.flush()
    assert "Ctrl+Alt+B unfolds it" in view.accessibleDescription()
    unfold = view.breadcrumb.findChild(QToolButton, "canvas.unfold")
    assert "(Ctrl+Shift+F)" in unfold.toolTip()
    shortcuts.set_keys("window.action.fold", [])
    assert "(" not in unfold.toolTip()


#: A key that cannot be changed.
FIXED = "Shift+Tab"


def sentences(source: str) -> Iterator[str]:
    """Go through the texts of a module that are no documentation."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_no_sentence_names_a_key_that_can_be_changed():
    path = Path(app.__file__).parent
    found = [
        (str(each.relative_to(path)), text)
        for each in path.rglob("*.py")
        for text in sentences(each.read_text())
        if " " in text and re.search(r"\b(Ctrl|Alt|Shift|Meta)\+\S", text.replace(FIXED, ""))
    ]
    assert not found


def test_the_list_of_keys_begins_with_the_menus_and_fits_its_page(window, lenet, qtbot):
    assert window.files.open(lenet)
    page = ShortcutPage(window.keys.shortcuts)
    qtbot.addWidget(page)
    page.show()
    qtbot.wait(1)
    groups = list(dict.fromkeys(entry.group for entry in window.keys.shortcuts.entries()))
    assert groups[0] == "File" and groups.index("Comparison") > groups.index("Canvas")
    assert page.table.horizontalScrollBar().maximum() == 0
