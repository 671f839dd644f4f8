"""What screen readers and tooltips say: everything has a name, a state and its key, in every state of the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface, QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QDialog, QLabel, QMenu, QWidget
from shiboken6 import isValid

from app.window.mainwindow import MainWindow

LAYERS = ("mnist", "conv1", "relu1", "accuracy", "loss")
DOCKS = (
    *("palette", "outline", "history", "properties", "text", "solver", "code"),
    *("training", "problems", "costs", "plugins"),
)


def interface(widget: QWidget) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None
    return found


def where(widget: QWidget | None) -> str:
    names = []
    while widget is not None:
        names.append(widget.objectName() or type(widget).__name__)
        widget = widget.parentWidget()
    return " in ".join(names[:4])


def faults_of(root: QWidget) -> Iterator[str]:
    """What is wrong with what takes the keyboard in a widget, and with its buttons."""
    for widget in root.findChildren(QWidget):
        if not widget.isVisibleTo(root) or widget.focusProxy() is not None:
            continue
        is_button = isinstance(widget, QAbstractButton)
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus and not (is_button and widget.isEnabled()):
            continue
        name = interface(widget).text(QAccessible.Text.Name)
        if not name.strip():
            yield f"no name: {where(widget)}"
        elif any(mark in name for mark in "&\n\t") and not isinstance(widget, QLabel):  # a text may have lines
            yield f"a mark in the name {name!r}: {where(widget)}"
        of_qt = widget.objectName().startswith(("Scroll", "qt_"))
        if is_button and not of_qt and not widget.text().strip(" \u2009\u2026") and not widget.toolTip():
            yield f"an icon without a tooltip: {where(widget)}"
        if (
            is_button
            and not widget.isEnabled()
            and not widget.toolTip()
            and type(widget).__module__ != "PySide6.QtWidgets"
        ):
            yield f"no reason why not: {where(widget)}"


def check(root: QWidget, state: str) -> None:
    faults = sorted(set(faults_of(root)))
    assert not faults, f"{state}:\n" + "\n".join(faults)


def select(window: MainWindow, *names: str) -> None:
    graph = window.document.graph
    window.document.selection.set([graph.named(name)[0].id for name in names])
    window.document.selection.flush()


def test_everything_that_takes_the_keyboard_has_a_name_in_every_state(window, lenet, qtbot):
    check(window, "empty net")
    assert window.files.open(lenet)
    check(window, "LeNet")
    for dock in DOCKS:
        window.show_panel(dock)
        qtbot.wait(2)
        check(window, f"{dock} in front")
    window.show_panel("properties")
    for names in (*[(name,) for name in LAYERS], ("conv1", "conv2"), ("conv1", "pool1")):
        select(window, *names)
        qtbot.wait(2)
        check(window, f"properties of {names}")
    window.notify("Something", "warning", [("Do it", lambda: None)])
    window.canvas.minimap.toggle()
    window.canvas.show_heat("parameters")
    window.beginnings.welcome()
    qtbot.wait(2)
    check(window, "welcome, a message, the map and the heat map")


def test_what_opens_over_the_window_has_names_too(window, lenet, qtbot):
    assert window.files.open(lenet)
    window.keys.open_page()
    window.canvas.export_picture()
    window.plugins.code.new_layer()
    qtbot.wait(2)
    dialogs = [each for each in window.findChildren(QDialog) if each.isVisible()]
    assert len(dialogs) >= 2
    for dialog in dialogs:
        check(dialog, dialog.windowTitle())
        dialog.close()
    for popup in (window.canvas.popup, window.canvas.finder, window.keys.palette):
        assert interface(popup.search).text(QAccessible.Text.Name)
        assert interface(popup.view).text(QAccessible.Text.Name)


def test_a_new_control_without_a_name_is_found(window):
    button = QAbstractButtonStub(window.toolbar)
    button.show()
    assert any("no name" in each for each in faults_of(window))


class QAbstractButtonStub(QAbstractButton):
    def paintEvent(self, _event) -> None:
        pass


def test_lists_have_rows_that_speak(window, lenet, qtbot):
    """Each list says its rows in words: no row is empty."""
    assert window.files.open(lenet)
    for dock in ("palette", "outline", "history", "costs"):
        window.show_panel(dock)
        qtbot.wait(5)
        panel = window._docks.docks[dock]
        for view in panel.findChildren(QAbstractItemView):
            model = view.model()
            if model is None or not view.isVisible() or not model.rowCount():
                continue
            for row in range(min(model.rowCount(), 20)):
                index = model.index(row, 0)
                spoken = index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data()
                assert str(spoken or "").strip(), f"{dock}: row {row}"


def test_a_field_tells_its_unit_whether_it_is_set_and_what_is_wrong(window, lenet, qtbot):
    assert window.files.open(lenet)
    window.show_panel("properties")
    select(window, "conv1")
    qtbot.wait(2)
    field = window.findChild(QWidget, "properties.convolution_param.num_output")
    assert field.accessibleName() == "num_output"
    assert field.accessibleDescription().startswith("set. ")
    assert "Unit: channels" in field.accessibleDescription()
    assert (
        window.findChild(QWidget, "properties.convolution_param.group").accessibleDescription().startswith("default. ")
    )
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "many")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "num_output" in field.accessibleDescription().split(".")[0]
    field.revert()


# Actions


def actions_in(menu: QMenu) -> Iterator[QAction]:
    menu.aboutToShow.emit()
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from actions_in(inner)
        elif not action.isSeparator():
            yield action


def all_actions(window: MainWindow) -> list[QAction]:
    return [each for top in window.menuBar().actions() for each in actions_in(top.menu())]


def plain(action: QAction) -> str:
    return action.text().partition("\t")[0].replace("&", "").rstrip("\u2026")


def check_actions(window: MainWindow, state: str) -> None:
    menus = [window.canvas.node_menu()] if window.document.selection.node_ids else []
    for action in [*all_actions(window), *(each for menu in menus for each in actions_in(menu))]:
        tip, name = action.toolTip(), f"{state}: {action.objectName() or action.text()}"
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        if action.isEnabled():
            assert not key or tip.endswith(f"({key})"), f"{name} does not say its key: {tip}"
        elif action.text().partition("\t")[0] != tip:  # what only says why there is nothing is its own reason
            assert tip, f"{name} does not say why not"
            assert tip not in (plain(action), f"{plain(action)} ({key})"), f"{name} does not say why not: {tip}"
    for menu in menus:
        menu.deleteLater()


def test_every_action_says_its_key_or_why_it_cannot_be_done_in_every_state(window, lenet, tmp_path, qtbot):
    check_actions(window, "empty net")
    assert window.files.open(lenet)
    check_actions(window, "nothing selected")
    select(window, "conv1")
    check_actions(window, "one selected")
    select(window, *LAYERS)
    check_actions(window, "many selected")
    training = window.panels["training"]
    for run in ("waiting", "running", "paused", "failed"):
        training._actions.show_state(run, "", "")
        check_actions(window, f"training is {run}")
    training._actions.show_state("running", "stop", "")
    check_actions(window, "training is to stop")
    training._actions.show_state("idle", "", "")
    for name, text in (("broken", "layer { name: 'x'\n type: \n"), ("empty", "")):
        path = tmp_path / f"{name}.prototxt"
        path.write_text(text)
        window.files.open(path)
        qtbot.wait(2)
        check_actions(window, name)


def test_after_other_keys_every_tooltip_says_those(window, lenet):
    assert window.files.open(lenet)
    select(window, "conv1")
    shortcuts = window.keys.shortcuts
    old = {}
    entries = [each for each in shortcuts.entries() if each.group not in ("Canvas", "Text") and each.keys]
    for number, entry in enumerate(entries):
        old[entry.name] = entry.keys
        shortcuts.set_keys(entry.name, [f"Ctrl+Alt+Shift+F{number}" if number < 36 else f"Meta+Alt+F{number - 35}"])
    check_actions(window, "other keys")
    tips = [action.toolTip() for action in all_actions(window) if action.isEnabled()]
    assert not [tip for tip in tips if tip.endswith(("(Ctrl+S)", "(Alt+2)"))]
    shortcuts.reset_all()
    check_actions(window, "own keys again")


@pytest.mark.parametrize(("key", "name"), [("add", "add"), ("minimap", "minimap"), ("note", "note")])
def test_a_hint_of_the_canvas_is_in_the_tooltip_and_follows(window, key, name):
    action = window.actions_by_name[name]
    window.keys.shortcuts.set_keys(f"canvas.{key}", ["Ctrl+Alt+Y"])
    assert action.toolTip().endswith("(Ctrl+Alt+Y)")
    assert action.text().endswith("\tCtrl+Alt+Y")
    assert window.toolbar.widgetForAction(action) is None or "\t" not in (
        window.toolbar.widgetForAction(action).accessibleName()
    )


def test_menus_of_layers_the_map_and_tabs_say_other_keys(window, lenet):
    assert window.files.open(lenet)
    select(window, "conv1")
    shortcuts = window.keys.shortcuts
    shortcuts.set_keys("canvas.bypass", ["Ctrl+Alt+B"])
    shortcuts.set_keys("canvas.minimap", ["Ctrl+Alt+M"])
    shortcuts.set_keys("window.action.duplicate", ["Ctrl+Alt+D"])
    shortcuts.set_keys("window.action.close_tab", ["Ctrl+Alt+W"])
    menu = window.canvas.node_menu()
    texts = [action.text() for action in menu.actions()]
    assert "Bypass\tCtrl+Alt+B" in texts
    assert "Duplicate\tCtrl+Alt+D" in texts
    assert "Ctrl+Alt+M" in window.canvas.minimap.toolTip()
    assert window.tabs.bar.findChild(QWidget, "window.tab_close").toolTip() == "Close (Ctrl+Alt+W)"
    if isValid(menu):
        menu.deleteLater()


# What is said unasked


@pytest.fixture
def said(monkeypatch) -> list[str]:
    """What a screen reader is told, for as long as there is one."""
    heard: list[str] = []
    for module in ("app.canvas.focus", "app.window.bars", "app.window.docks.docks", "app.training.panel"):
        monkeypatch.setattr(f"{module}.announce", lambda _widget, text: heard.append(text))
    return heard


def test_selections_messages_and_trainings_are_announced(window, lenet, qtbot, said):
    assert window.files.open(lenet)
    window.activateWindow()
    window.canvas.setFocus()
    qtbot.waitUntil(window.canvas.hasFocus)
    select(window, "conv1")
    assert said[-1].startswith("conv1, Convolution; ")
    qtbot.keyClick(window.canvas, Qt.Key.Key_W)
    assert said[-1].startswith("Wire from mnist to conv1")
    window.notify("The disk is full.", "error")
    assert said[-1] == "Error: The disk is full."
    window.show_panel("problems")
    window._docks.go("problems")
    assert said[-1].startswith("Problems")
    window.panels["training"].tell_action.trigger()
    assert said[-1] == "Not trained."
