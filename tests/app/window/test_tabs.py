"""Several documents, each in its tab: whose they are, how they come, go and follow one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from app.window.mainwindow import MainWindow

LAYER = b'layer { name: "%s" type: "Input" top: "x" input_param { shape { dim: 1 } } }\n'


@pytest.fixture
def nets(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.prototxt" for name in "abc"]
    for path in paths:
        path.write_bytes(LAYER % path.stem.encode())
    return paths


@pytest.fixture
def opened(window: MainWindow, nets: list[Path]) -> list[Path]:
    for path in nets:
        assert window.files.open(path)
    return nets


def titles(window: MainWindow) -> list[str]:
    bar = window.tabs.bar
    return [bar.tabText(index) for index in range(bar.count())]


def rename(window: MainWindow, name: str = "new") -> None:
    document = window.document
    document.apply("Rename", lambda graph: graph.rename_node(graph.nodes()[0].id, name))


def click(window: MainWindow, index: int, button: Qt.MouseButton = Qt.MouseButton.LeftButton) -> None:
    QTest.mouseClick(window.tabs.bar, button, pos=window.tabs.bar.tabRect(index).center())


def answer(monkeypatch: pytest.MonkeyPatch, button: str) -> None:
    monkeypatch.setattr(QMessageBox, "exec", lambda _box: QMessageBox.StandardButton[button])


def test_each_net_opens_in_a_tab_and_the_untouched_one_goes(window, opened):
    assert titles(window) == ["a.prototxt", "b.prototxt", "c.prototxt"]
    assert window.document.path == opened[2]


def test_a_file_that_is_open_is_shown_and_not_opened_twice(window, opened, tmp_path):
    link = tmp_path / "link.prototxt"
    link.symlink_to(opened[0])
    rename(window)
    for path in (opened[0], tmp_path / "x" / ".." / "a.prototxt", link):
        (tmp_path / "x").mkdir(exist_ok=True)
        click(window, 2)
        assert window.files.open(path)
        assert window.document.path == opened[0]
    assert len(titles(window)) == 3


def test_panels_title_and_history_follow_the_tab(window, opened):
    click(window, 0)
    rename(window, "first")
    click(window, 1)
    assert "b.prototxt" in window.windowTitle()
    assert not window.actions_by_name["undo"].isEnabled()
    assert '"b"' in window.panels["text"].edit.toPlainText()
    assert window.panels["properties"].document is window.document
    click(window, 0)
    assert "a.prototxt" in window.windowTitle()
    assert "Rename" in window.actions_by_name["undo"].text()
    assert '"first"' in window.panels["text"].edit.toPlainText()
    window.actions_by_name["undo"].trigger()
    assert window.document.graph.named("a")


def test_what_is_typed_goes_to_the_net_it_was_typed_for(window, opened, qtbot):
    """F2: the text pane writes with a pause; a change of tab in between must not send it to another net."""
    click(window, 0)
    window.show_panel("text")
    edit = window.panels["text"].edit
    edit.setFocus()
    edit.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(edit, "# mine")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    click(window, 1)
    pages = window.tabs.pages()
    assert bytes(pages[0].document.graph).startswith(b"# mine\n")
    assert bytes(pages[1].document.graph) == opened[1].read_bytes()
    assert titles(window)[:2] == ["● a.prototxt", "b.prototxt"]


def test_a_dot_marks_what_is_not_saved(window, opened):
    rename(window)
    assert titles(window) == ["a.prototxt", "b.prototxt", "● c.prototxt"]
    assert window.files.save()
    assert titles(window)[2] == "c.prototxt"


def test_two_untitled_nets_have_names_of_their_own(window):
    window.files.new()
    assert titles(window) == ["Untitled"]
    window.document.apply("Type", lambda graph: graph.replace_text(LAYER % b"x"))
    window.files.new()
    assert titles(window) == ["● Untitled", "Untitled 2"]
    assert len({page.document.identity for page in window.tabs.pages()}) == 2


def test_files_of_one_name_are_told_apart_by_their_folders(window, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.prototxt").write_bytes(LAYER % folder.encode())
        window.files.open(tmp_path / folder / "net.prototxt")
    assert titles(window) == ["net.prototxt – one", "net.prototxt – two"]


def test_keys_walk_through_the_tabs_and_around_the_end(window, opened, qtbot):
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    window.activateWindow()
    window.canvas.setFocus()
    seen = []
    for key, modifiers in [(Qt.Key.Key_Tab, control)] * 3 + [(Qt.Key.Key_Backtab, control | shift)]:
        qtbot.keyClick(window.canvas, key, modifiers)
        seen.append(window.document.path.stem)
    assert seen == ["a", "b", "c", "b"]


def test_a_middle_click_closes(window, opened):
    click(window, 1, Qt.MouseButton.MiddleButton)
    assert titles(window) == ["a.prototxt", "c.prototxt"]
    assert window.document.path == opened[2]


def test_closing_the_current_one_shows_its_neighbour(window, opened):
    click(window, 1)
    window.actions_by_name["close_tab"].trigger()
    assert window.document.path == opened[2]
    window.actions_by_name["close_tab"].trigger()
    assert window.document.path == opened[0]


def test_the_last_tab_leaves_an_empty_net_and_no_empty_window(window, lenet):
    window.files.open(lenet)
    window.actions_by_name["close_tab"].trigger()
    assert titles(window) == ["Untitled"]
    assert window.document.is_untouched


@pytest.mark.parametrize(("button", "left", "saved"), [("Save", 2, True), ("Discard", 2, False), ("Cancel", 3, False)])
def test_closing_a_changed_tab_asks(window, opened, monkeypatch, button, left, saved):
    click(window, 0)
    rename(window)
    click(window, 2)
    answer(monkeypatch, button)
    click(window, 0, Qt.MouseButton.MiddleButton)
    assert len(titles(window)) == left
    assert (b"new" in opened[0].read_bytes()) == saved
    assert window.document.path == (opened[0] if button == "Cancel" else opened[1])


def test_closing_the_window_asks_for_each_changed_net(window, opened, monkeypatch):
    for index in (0, 2):
        click(window, index)
        rename(window)
    asked = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: asked.append(box.text()) or QMessageBox.StandardButton.Discard)
    assert window.close()
    assert asked == ["Save changes to a.prototxt?", "Save changes to c.prototxt?"]


def test_saving_onto_a_net_that_is_open_elsewhere_is_refused(window, opened, monkeypatch):
    """F2: two tabs never write one file."""
    before = opened[0].read_bytes()
    monkeypatch.setattr("app.window.files.files.QFileDialog.getSaveFileName", lambda *_args: (str(opened[0]), ""))
    assert not window.files.save_as()
    assert opened[0].read_bytes() == before
    assert "another tab" in window.bars[0].text


def test_tabs_are_moved_by_dragging(window, opened):
    window.tabs.bar.moveTab(2, 0)
    assert [page.document.path for page in window.tabs.pages()] == [opened[2], opened[0], opened[1]]
    click(window, 1)
    assert window.document.path == opened[0]


def test_messages_stay_with_their_net(window, opened):
    window.notify("About c.", "warning")
    click(window, 0)
    assert window.bars == []
    click(window, 2)
    assert [bar.text for bar in window.bars] == ["About c."]


def test_each_canvas_keeps_its_place(window, opened, qtbot):
    click(window, 0)
    window.canvas.set_scale(2.0)
    click(window, 1)
    window.canvas.set_scale(0.5)
    assert window.status.zoom.text() == "50 %"
    click(window, 0)
    assert window.status.zoom.text() == "200 %"
    assert window.canvas.rect().contains(window.canvas.mapFrom(window, window.canvas.mapTo(window, QPoint(3, 3))))


def test_many_tabs_can_still_be_told_apart(window, tmp_path):
    for number in range(8):
        path = tmp_path / f"a_net_of_{number}.prototxt"
        path.write_bytes(LAYER % b"a")
        assert window.files.open(path)
    bar = window.tabs.bar
    bar.setFixedWidth(400)
    assert min(bar.tabRect(index).width() for index in range(bar.count())) >= 100
    assert bar.rect().contains(bar.tabRect(bar.currentIndex()).center())


@pytest.mark.parametrize("at_once", [False, True])
def test_a_big_net_is_out_of_sight_before_it_is_ended(window, opened, tmp_path, qtbot, at_once):
    path = tmp_path / "big.prototxt"
    path.write_bytes(b"".join(LAYER % b"%d" % number for number in range(400)))
    assert window.files.open(path)
    page = window.tabs.current
    document, left = page.document, []
    window.document_left.connect(left.append)
    window.close_page(page)
    assert "big.prototxt" not in titles(window)
    assert not left and not page.isVisible()
    if at_once:
        window.close()
    qtbot.waitUntil(lambda: left == [document])
    assert all(panel.document is not left[0] for panel in window.panels.values() if hasattr(panel, "document"))
