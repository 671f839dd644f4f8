"""The main window: files, history, bars, themes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel

from app.document import Document
from app.properties.pages.net_page import net_facts
from app.theme import Theme
from app.window.docks.docks import PANELS
from app.window.upgrading import offer_upgrade
from engine.diagnostics import Diagnostic
from engine.resources import resource_path
from tests.app.canvas.hands import Hands
from tests.app.window.support import edit, open_net


def test_all_panels_are_there(window):
    assert set(window.panels) == {spec.name for spec in PANELS}
    for name, panel in window.panels.items():
        assert type(panel).__name__ != "_Waiting", f"the panel '{name}' failed to load"


def test_the_title_shows_name_and_changes(window, lenet):
    open_net(window, lenet)
    assert lenet.name in window.windowTitle()
    assert not window.isWindowModified()
    edit(window)
    assert window.isWindowModified()
    window.actions_by_name["undo"].trigger()
    assert not window.isWindowModified()


def test_undo_and_redo_name_what_they_do(window, lenet):
    open_net(window, lenet)
    undo, redo = window.actions_by_name["undo"], window.actions_by_name["redo"]
    assert not undo.isEnabled()
    assert "Nothing" in undo.toolTip()
    edit(window)
    assert "Rename conv1" in undo.text()
    undo.trigger()
    assert "Rename conv1" in redo.text()


def test_the_same_message_is_shown_once(window):
    for _time in range(5):
        window.notify("Disk is full.", "error")
    assert [bar.text for bar in window.bars] == ["Disk is full."]


def test_an_action_of_a_bar_runs_and_closes_it(window):
    done = []
    bar = window.notify("Changed.", "warning", [("Reload", lambda: done.append(1))])
    button = bar.findChild(object, "window.bar.action.Reload")
    button.click()
    assert done == [1]
    assert window.bars == []


def test_a_training_is_told_of_where_it_is_seen(window, lenet, qtbot):
    open_net(window, lenet)
    qtbot.waitUntil(lambda: "training" in window.panels and "problems" in window.panels)
    window.show_panel("problems")
    panel = window.panels["training"]
    panel.train_action.triggered.disconnect(panel.train)
    panel.train_action.trigger()
    assert not panel.visibleRegion().isEmpty()


def test_the_theme_changes_and_is_remembered(window, lenet):
    open_net(window, lenet)
    light = window.canvas.grab().toImage()
    window.actions_by_name["theme"].trigger()
    assert Theme.current().is_dark
    assert window.settings.theme == "dark"
    assert window.canvas.grab().toImage() != light


def test_what_is_refused_is_told_at_the_pointer_until_something_else_is_done(window, lenet):
    open_net(window, lenet)
    hands = Hands(window.canvas)
    window.canvas.frame()
    end = hands.input("conv1")
    hands.drag(hands.output("ip2"), end)
    told = window.canvas.findChild(QLabel, "canvas.reason")
    assert told.isVisible()
    assert "cycle" in told.text()
    hands.move(end + QPoint(4, 4), button=Qt.MouseButton.NoButton)
    assert told.isVisible()
    hands.click(hands.empty())
    assert not told.isVisible()
    assert window.bars == []


def test_a_message_does_not_move_the_canvas(window, lenet, qtbot, still):
    open_net(window, lenet)
    before = window.canvas.mapTo(window, QPoint(0, 0)), window.canvas.size()
    bar = window.notify("Changed.", "warning")
    qtbot.waitUntil(lambda: bar.height() > 0 and bar.isVisible())
    still(window)
    assert (window.canvas.mapTo(window, QPoint(0, 0)), window.canvas.size()) == before
    assert window.childAt(bar.mapTo(window, QPoint(200, 8))).window() is window
    assert bar.rect().contains(bar.mapFrom(window, bar.mapTo(window, QPoint(5, 5))))
    assert not bar.visibleRegion().isEmpty()


def test_a_problem_leads_to_its_layer_and_line(window, tmp_path, qtbot):
    path = tmp_path / "broken.prototxt"
    path.write_text(
        'layer { name: "a" type: "Input" top: "a" }\n' * 1 + "\n" * 80 + 'layer { name: "b" typo: 1 top: "b" }\n'
    )
    open_net(window, path)
    problems, pane = window.panels["problems"], window.panels["text"]
    window.show_panel("problems")
    qtbot.waitUntil(lambda: any(each.line > 80 for each in window.document.diagnostics), timeout=5000)
    row = next(i for i, each in enumerate(problems.model.rows) if each.line > 80)
    problems.view.clicked.emit(problems.model.index(row, 0))
    assert pane.isVisible()
    assert pane.edit.textCursor().blockNumber() + 1 == problems.model.rows[row].line
    assert pane.edit.viewport().rect().contains(pane.edit.cursorRect().center())
    assert window.document.selection.last == window.document.graph.named("b")[0].id


def test_the_hint_of_an_empty_net_stays_in_the_middle(window, lenet, qtbot):
    open_net(window, lenet)
    window.files.new()
    canvas = window.canvas
    hint = next(label for label in canvas.findChildren(QLabel) if "Tab" in label.text())
    canvas.scroll_by(120, 80)
    canvas.frame()
    assert (hint.geometry().center() - canvas.viewport().rect().center()).manhattanLength() < 4


def test_the_palette_inserts_into_the_net(window, lenet, qtbot):
    open_net(window, lenet)
    window.document.selection.set([window.document.graph.named("ip2")[0].id])
    qtbot.keyClicks(window.palette_panel.search, "softmax")
    qtbot.keyClick(window.palette_panel.search, Qt.Key.Key_Return)
    assert window.document.graph.named("prob")[0].bottoms == ("ip2",)


def test_selection_is_shared_by_canvas_and_properties(window, lenet, qtbot):
    open_net(window, lenet)
    hands = Hands(window.canvas)
    window.canvas.frame()
    hands.click(hands.title("conv1"))
    assert window.document.selection.node_ids == (hands.node("conv1").node_id,)
    window.document.selection.set([hands.node("pool1").node_id])
    window.document.selection.flush()
    assert hands.node("pool1").marked
    assert not hands.node("conv1").marked


def test_inputs_of_the_net_are_no_layers(window, qtbot, tmp_path):
    path = tmp_path / "deploy.prototxt"
    path.write_text('input: "x"\ninput_dim: 1\ninput_dim: 2\nlayer { name: "r" type: "ReLU" bottom: "x" top: "y" }\n')
    assert window.files.open(path)
    qtbot.waitUntil(lambda: window.status.layers.text() == "1 layer", timeout=2000)
    assert dict(net_facts(window.document))["Layers"] == "1"


def test_the_status_line_says_what_is_followed_in_the_tab_in_view(window, lenet):
    window.files.open(lenet)
    page, following = window.tabs.current, window.status.following
    assert following.isHidden()
    page.document.selection.set([page.document.graph.named("conv1")[0].id])
    page.canvas.do("trace")
    assert following.isVisible() and following.text() == "Following 'conv1': Esc ends it"
    window.show_document(Document.new())
    assert following.isHidden()
    window.tabs.show_page(page)
    assert following.isVisible()
    page.canvas.do("trace")
    assert following.isHidden()


def test_the_status_line_counts(window, qtbot):
    net = resource_path("examples/lenet/lenet_train_test.prototxt")
    assert window.files.open(net)
    qtbot.waitUntil(lambda: "11 layers" in window.status.layers.text(), timeout=2000)
    window.canvas.set_scale(0.5)
    assert window.status.zoom.text() == "50 %"


def test_python_layers_are_not_run_before_the_user_allows_it(window, tmp_path, qtbot):
    path = tmp_path / "py.prototxt"
    path.write_text('layer { name: "p" type: "Python" top: "t" python_param { module: "m" layer: "L" } }')
    (tmp_path / "m.py").write_text("raise SystemExit\n")
    open_net(window, path)
    qtbot.waitUntil(lambda: any("m.py" in bar.text for bar in window.bars))
    assert not window.document.live.trusted
    bar = next(bar for bar in window.bars if "m.py" in bar.text)
    bar.findChild(object, "window.bar.action.Trust").click()
    assert window.document.live.trusted
    assert window.settings.is_trusted(tmp_path)


def test_an_old_net_that_cannot_be_upgraded_is_not_offered_it(window, tmp_path):
    path = tmp_path / "old.prototxt"
    path.write_text('layers { name: "d" type: BATCH_NORM top: "x" batch_norm_param { eps: 1 } }\n')
    open_net(window, path)
    bar = next(bar for bar in window.bars if "old format" in bar.text)
    assert "Layer 'd' cannot be upgraded" in bar.text and bar.findChild(object, "window.bar.action.Upgrade") is None


@pytest.mark.parametrize(
    ("more", "words"),
    [("", "old format"), ('layer { name: "n" type: "ReLU" bottom: "x" top: "x" }', "mixes"), ("layer {", None)],
)
def test_an_old_net_is_upgraded_with_one_click_and_one_undo(window, tmp_path, more, words):
    """B5, B6."""
    path = tmp_path / "old.prototxt"
    path.write_text(f'layers {{ name: "d" type: DATA top: "x" }}\n{more}\n')
    open_net(window, path)
    offer_upgrade(window.tabs.current)
    bar = next((bar for bar in window.bars if "format" in bar.text), None)
    if words is None:
        assert bar is None
        return
    assert words in bar.text
    bar.findChild(object, "window.bar.action.Upgrade").click()
    graph = window.document.graph
    assert all(node.version == 2 for node in graph.nodes()) and graph.nodes()[0].type == "Data"
    window.document.undo_stack.undo()
    assert bytes(graph) == path.read_bytes()


def test_a_click_on_the_number_of_problems_leads_to_them(window, lenet, qtbot):
    open_net(window, lenet)
    window.show_panel("training")
    panel = window._docks.docks["problems"]
    assert panel.visibleRegion().isEmpty()
    qtbot.mouseClick(window.status.problems, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.visibleRegion().isEmpty(), timeout=10_000)


def test_a_fault_of_a_run_is_listed_with_the_problems(window, lenet, qtbot):
    open_net(window, lenet)
    document = window.document
    document.set_node_error("conv1", Diagnostic("run", "error", "Layer 'conv1' gave NaN."))
    qtbot.waitUntil(lambda: "error" in window.status.problems.text())
    rows = window.panels["problems"].model.rows
    (row,) = [index for index, each in enumerate(rows) if each.code == "run"]
    window.panels["problems"].view.clicked.emit(window.panels["problems"].model.index(row, 0))
    node = document.graph.named("conv1")[0]
    assert document.selection.last == node.id
    assert window.panels["text"].edit.textCursor().blockNumber() + 1 == node.line
    document.apply("Delete conv1", lambda graph: graph.remove_nodes([node.id]))
    assert not [each for each in document.diagnostics if each.code == "run"]
    qtbot.waitUntil(lambda: not [each for each in window.panels["problems"].model.rows if each.code == "run"])


def test_every_disabled_action_says_why(window, lenet, qtbot):
    open_net(window, lenet)
    for action in window.findChildren(QAction):
        name = action.objectName()
        if not action.isEnabled() and name.startswith(("window.action", "training")):
            assert action.toolTip().startswith(("Nothing ", "The ")), name
    window.document.selection.set([window.document.graph.named("conv1")[0].id])
    window.document.selection.flush()
    duplicate = window.actions_by_name["duplicate"]
    assert duplicate.isEnabled()
    assert "Ctrl+D" in duplicate.toolTip()


@pytest.mark.parametrize(
    ("key", "name", "inside"),
    [
        ("Alt+1", "palette", "palette.search"),
        ("Alt+2", "properties", "properties.search"),
        ("Alt+3", "text", "text.edit"),
        ("Alt+4", "training", "training.train_button"),
        ("Alt+5", "problems", "problems.list"),
    ],
)
def test_every_panel_is_reached_by_its_key_and_the_canvas_is_left(window, lenet, qtbot, key, name, inside):
    open_net(window, lenet)
    window.document.set_node_error("conv1", Diagnostic("run", "error", "Layer 'conv1' gave NaN."))
    action = window.findChild(QAction, f"window.go.{name}")
    assert action.shortcut().toString() == key
    action.trigger()
    assert window.focusWidget().objectName() == inside
    window.canvas.setFocus()
    qtbot.keyClick(window.canvas, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert window.focusWidget() is not window.canvas
    assert not window.canvas.popup.isVisible()


def test_the_map_is_there_while_the_net_is_not_all_in_view(window, lenet, qtbot):
    open_net(window, lenet)
    canvas = window.canvas
    qtbot.waitUntil(lambda: canvas.is_placed and len(canvas.canvas.nodes) > 0)
    canvas.arrange_at_start()
    for scale, shown in ((2.0, True), (0.0, False), (2.0, True)):
        canvas.set_scale(scale) if scale else canvas.frame()
        qtbot.waitUntil(lambda shown=shown: canvas.minimap.isVisible() == shown)
    canvas.minimap.toggle()
    canvas.scroll_by(10, 10)
    qtbot.wait(200)
    assert canvas.minimap.isHidden()
