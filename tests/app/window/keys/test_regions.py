"""The keyboard goes everywhere in the window: in reading order, around its parts, and back to the canvas."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QPlainTextEdit, QTabBar, QWidget

from app.window.mainwindow import MainWindow
from tests.app.training.test_parts import long_model

Key = Qt.Key
CTRL, SHIFT, ALT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.NoModifier,
)
DOCKS = (
    "palette",
    "properties",
    "text",
    "solver",
    "training",
    "problems",
    "costs",
    "code",
    "outline",
    "history",
    "plugins",
)


@pytest.fixture
def opened(window: MainWindow, lenet, qtbot) -> MainWindow:
    assert window.files.open(lenet)
    qtbot.waitUntil(lambda: bool(window.bars), timeout=20_000)  # that its data are missing, said late where it is busy
    window.bars[0].dismiss()
    window.document.selection.set([window.document.graph.named("conv1")[0].id])
    window.document.selection.flush()
    qtbot.wait(1)
    window.activateWindow()
    window.canvas.setFocus()
    qtbot.waitUntil(window.canvas.hasFocus)
    return window


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None, "the keyboard is nowhere"
    return widget


def name(widget: QWidget) -> str:
    return widget.objectName() or type(widget).__name__


def stops_of(window: MainWindow) -> list[QWidget]:
    return [stop for region in window.regions.regions() for stop in region.stops]


def takes_tab(widget: QWidget, window: MainWindow) -> bool:
    """Whether the tabulator means something else there, which the guide says; another key leads on."""
    return widget is window.canvas or (isinstance(widget, QPlainTextEdit) and not widget.isReadOnly())


def test_the_tabulator_goes_through_all_that_is_in_view_and_never_sticks(opened, qtbot):
    gone = set()
    for dock in DOCKS:
        opened.show_panel(dock)
        qtbot.wait(5)
        stops = stops_of(opened)
        for stop, then in zip(stops, [*stops[1:], stops[0]], strict=True):
            if (stop, then) in gone:  # around the panels it is the same each time
                continue
            gone.add((stop, then))
            stop.setFocus()
            assert focus() is stop, f"{name(focus())} instead of {name(stop)}"
            if not takes_tab(stop, opened):
                qtbot.keyClick(stop, Key.Key_Tab)
                assert focus() is then, f"{name(stop)} does not lead to {name(then)}"
                qtbot.keyClick(then, Key.Key_Backtab, SHIFT)
                assert focus() is stop


def test_the_order_is_that_of_reading(opened):
    assert [each.name for each in opened.regions.regions()] == ["tools", "left", "tabs", "canvas", "right", "bottom"]
    opened.show_panel("properties")
    right = next(each for each in opened.regions.regions() if each.name == "right")
    assert isinstance(right.stops[0], QTabBar)
    assert [name(each) for each in right.stops[1:3]] == ["properties.search", "properties.name"]
    heights = [each.mapTo(opened, each.rect().center()).y() for each in right.stops[1:]]
    assert all(below - above > -12 for above, below in pairwise(heights))


def test_nothing_behind_a_tab_takes_the_keyboard(opened):
    for front, behind in (("text", "properties"), ("properties", "text")):
        opened.show_panel(front)
        docks = {name(dock) for stop in stops_of(opened) for dock in _docks_of(stop)}
        assert f"window.dock.{front}" in docks
        assert f"window.dock.{behind}" not in docks


def _docks_of(widget: QWidget | None) -> list[QDockWidget]:
    found = []
    while widget is not None:
        if isinstance(widget, QDockWidget):
            found.append(widget)
        widget = widget.parentWidget()
    return found


def test_escape_leads_from_everything_in_a_panel_to_the_canvas(opened, qtbot):
    before = bytes(opened.document.graph)
    for dock in DOCKS:
        opened.show_panel(dock)
        qtbot.wait(5)
        inside = [stop for stop in stops_of(opened) if opened._docks.docks[dock] in _docks_of(stop)]
        assert inside or dock in ("code", "problems"), "only an empty list and no code have nothing for the keyboard"
        for stop in inside:
            stop.setFocus()
            qtbot.keyClick(stop, Key.Key_Escape)
            assert focus() is opened.canvas, f"Escape stays in {name(stop)}"
    assert bytes(opened.document.graph) == before


@pytest.mark.parametrize("place", ["window.train_button", "training.train_button", "undo"])
def test_what_disables_its_own_button_leaves_the_keyboard_to_the_canvas(opened, qtbot, place):
    actions = opened.panels["training"].train_action, opened.actions_by_name["undo"]
    opened.show_panel("training")
    action = actions[place == "undo"]
    tool = opened.toolbar.widgetForAction(action)
    button = tool if place == "undo" else opened.findChild(QWidget, place)
    action.setEnabled(True)
    button.setFocus(Qt.FocusReason.MouseFocusReason)
    assert focus() is button
    action.setEnabled(False)
    assert focus() is opened.canvas, f"a key would do what {name(focus())} does"


def test_a_key_goes_around_the_parts_and_comes_back_where_it_was(opened, qtbot):
    opened.show_panel("properties")
    seen = []
    for _part in range(6):
        qtbot.keyClick(focus(), Key.Key_F6, CTRL)
        seen.append(next(each.name for each in opened.regions.regions() if focus() in each.stops))
    assert seen == ["right", "bottom", "tools", "left", "tabs", "canvas"]
    opened.panels["properties"].findChild(QWidget, "properties.name").setFocus()
    qtbot.keyClick(focus(), Key.Key_F6, CTRL | SHIFT)
    assert focus() is opened.canvas
    qtbot.keyClick(focus(), Key.Key_F6, CTRL)
    assert name(focus()) == "properties.name"


def test_a_message_is_reached_answered_and_left(opened, qtbot):
    answers = []
    opened.notify("What now?", "warning", [("Do it", lambda: answers.append("done"))])
    qtbot.wait(1)
    qtbot.keyClick(opened.canvas, Key.Key_M, ALT)
    assert focus().text() == "Do it"
    qtbot.keyClick(focus(), Key.Key_Escape)
    assert focus() is opened.canvas
    assert not opened.bars, "Escape closes the message"
    opened.notify("What now?", "warning", [("Do it", lambda: answers.append("done"))])
    qtbot.wait(1)
    qtbot.keyClick(opened.canvas, Key.Key_M, ALT)
    assert focus().text() == "Do it"
    qtbot.keyClick(focus(), Key.Key_Space)
    assert answers == ["done"]
    assert focus() is opened.canvas


def test_enter_on_a_layer_goes_to_its_fields_and_escape_comes_back(opened, qtbot):
    qtbot.keyClick(opened.canvas, Key.Key_Return)
    assert opened._docks.docks["properties"] in _docks_of(focus())
    qtbot.keyClick(focus(), Key.Key_Escape)
    assert focus() is opened.canvas


def test_what_is_scrolled_out_of_sight_comes_into_view(opened, qtbot):
    opened.show_panel("properties")
    last = [stop for stop in stops_of(opened) if opened._docks.docks["properties"] in _docks_of(stop)][-1]
    for _press in range(80):
        if focus() is last:
            break
        qtbot.keyClick(focus(), Key.Key_Tab) if focus() is not opened.canvas else opened.regions.step(1)
    assert focus() is last
    assert not last.visibleRegion().isEmpty()


def test_the_tour_is_gone_through_by_keys(opened, qtbot):
    opened.actions_by_name["tour"].trigger()
    seen = [name(focus())]
    for _press in range(2):
        qtbot.keyClick(focus(), Key.Key_Tab)
        seen.append(name(focus()))
    assert seen == ["window.tour.act", "window.tour.next", "window.tour.skip"]
    qtbot.keyClick(focus(), Key.Key_Space)
    assert opened.tour.step == -1
    assert focus() is opened.canvas


def test_the_welcome_page_is_reached_by_keys(opened, qtbot):
    opened.beginnings.welcome()
    qtbot.wait(1)
    canvas = next(each for each in opened.regions.regions() if each.name == "canvas")
    assert all(
        opened.tabs.current.welcome.isAncestorOf(stop) or stop is opened.tabs.current.welcome for stop in canvas.stops
    )
    assert len(canvas.stops) > 10


def test_f1_tells_what_the_layer_is_for_or_what_to_begin_with(opened, qtbot):
    qtbot.keyClick(opened.canvas, Key.Key_F1)
    assert opened.bars[0].text.startswith("Convolution: ")
    opened.document.selection.clear()
    qtbot.keyClick(opened.canvas, Key.Key_F1)
    assert opened.bars[0].text.startswith("Tab adds a layer")


def test_f1_in_the_text_tells_what_the_field_means(opened, qtbot, monkeypatch):
    heard: list[str] = []
    monkeypatch.setattr("app.text.edit.announce", lambda _widget, text: heard.append(text))
    opened.show_panel("text")
    edit = opened.panels["text"].edit
    edit.setFocus()
    place = edit.toPlainText().index("num_output")
    cursor = edit.textCursor()
    cursor.setPosition(place + 2)
    edit.setTextCursor(cursor)
    qtbot.keyClick(edit, Key.Key_F1)
    assert heard[0].startswith("Number of filters")


def test_tabs_change_places_by_keys(opened, lenet, qtbot):
    first = opened.tabs.current
    other = lenet.with_name("other.prototxt")
    other.write_bytes(lenet.read_bytes())
    opened.files.open(other)
    second = opened.tabs.current
    assert opened.tabs.pages() == [first, second]
    opened.actions_by_name["tab_left"].trigger()
    assert opened.tabs.pages() == [second, first]
    assert opened.tabs.current is second
    opened.actions_by_name["tab_right"].trigger()
    assert opened.tabs.pages() == [first, second]


@pytest.fixture
def everything(opened, tmp_path, qtbot) -> MainWindow:
    """A comparison, code, curves beside weights, the bar that replaces, and a message, all at once."""
    file = tmp_path / "mine.py"
    file.write_text("import caffe\n")
    opened.plugins.code.show(file)
    opened.panels["text"].find_bar.open_replace()
    training = opened.panels["training"]
    opened.show_panel("training")
    qtbot.waitUntil(lambda: training.pictures.curves is not None, timeout=20_000)
    training.pictures.show_model(long_model(2000))
    training._tabs.setCurrentWidget(training.weights)
    opened.document.apply("x", lambda graph: graph.rename_node(graph.nodes()[0].id, "mine"))
    opened.comparing.with_file()
    view = opened.tabs.current.comparison
    qtbot.waitUntil(lambda: bool(view.comparison.changes), timeout=20_000)
    opened.notify("What now?", "warning", [("Do it", lambda: None)])
    qtbot.wait(5)
    return opened


def types_tab(widget: QWidget, window: MainWindow) -> bool:
    return isinstance(widget, QPlainTextEdit) and not widget.isReadOnly()


def test_with_everything_open_the_tabulator_goes_around_all_of_it(everything, qtbot):
    went = set()
    for dock in ("code", "text", "solver", "properties"):
        everything.show_panel(dock)
        qtbot.wait(5)
        stops = stops_of(everything)
        names = {name(stop) for stop in stops}
        for stop, then in zip(stops, [*stops[1:], stops[0]], strict=True):
            if (stop, then) in went:
                continue
            went.add((stop, then))
            stop.setFocus()
            assert focus() is stop, f"{name(focus())} instead of {name(stop)}"
            if not types_tab(stop, everything):
                qtbot.keyClick(stop, Key.Key_Tab)
                assert focus() is then, f"{name(stop)} leads to {name(focus())}, not to {name(then)}"
        wanted = {
            "code": {"code.files", "code.edit"},
            "text": {"text.find", "text.replacement", "text.edit"},
            "solver": {"solver.search", "solver.plot"},
            "properties": {"properties.search"},
        }
        assert wanted[dock] | {"compare.list", "window.bar.action.Do it", "training.curves.loss"} <= names
    parts = [each.name for each in everything.regions.regions()]
    assert parts == ["tools", "left", "tabs", "messages", "canvas", "right", "bottom"]


def test_escape_leads_back_from_the_curves(everything, qtbot):
    plot = everything.panels["training"].pictures.curves.loss_plot.plot
    plot.setFocus()
    qtbot.keyClick(plot, Key.Key_Right)
    assert focus() is plot
    qtbot.keyClick(plot, Key.Key_Escape)
    assert everything.tabs.current.isAncestorOf(focus())
