"""Files in the window: opened, saved, dropped, changed and taken away by others, and what is said about them."""

from __future__ import annotations

import shutil

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMessageBox, QPushButton

from tests.app.window.support import edit, open_net


def test_an_untouched_net_is_saved_byte_for_byte(window, lenet):
    before = lenet.read_bytes()
    open_net(window, lenet)
    assert window.files.save()
    assert lenet.read_bytes() == before
    assert not list(lenet.parent.glob("*.canvas.json"))


def test_the_solver_opens_its_net(window, lenet):
    open_net(window, lenet.with_name("lenet_solver.prototxt"))
    assert window.document.path == lenet
    assert window.document.solver_path == lenet.with_name("lenet_solver.prototxt")


def test_a_solver_without_its_net_is_shown_alone_and_says_so_in_a_bar(window, tmp_path):
    solver = tmp_path / "solver.prototxt"
    solver.write_text('net: "nowhere/net.prototxt" base_lr: 0.1')
    assert window.files.open(solver)
    assert window.document.solver_path == solver
    assert window.bars[0].kind == "error"
    assert "solver" in window.bars[0].text


@pytest.mark.parametrize(("name", "data"), [("gone.prototxt", None), ("w.caffemodel", b"\0\1")])
def test_what_cannot_be_opened_leaves_the_document_and_says_why(window, lenet, tmp_path, name, data):
    open_net(window, lenet)
    if data is not None:
        (tmp_path / name).write_bytes(data)
    assert not window.files.open(tmp_path / name)
    assert name in window.bars[0].text
    assert window.document.path == lenet


@pytest.mark.parametrize("data", [b"", b"layer {", b"}}}}", b"\xff\xfe\xfa", b"layer { name: 1 type: [ }"])
def test_empty_and_broken_files_open(window, tmp_path, data):
    path = tmp_path / "broken.prototxt"
    path.write_bytes(data)
    open_net(window, path)
    assert bytes(window.document.graph) == data
    if not len(window.document.graph):
        assert "broken.prototxt" in window.bars[0].text


def test_a_file_that_is_no_net_is_told_from_an_empty_one(window, tmp_path):
    path = tmp_path / "notes.prototxt"
    path.write_text("hello, this is a shopping list\n- milk\n")
    open_net(window, path)
    assert "holds no layers" in window.bars[0].text
    assert "Line 1" in window.bars[0].text
    window.bars[0].findChild(QPushButton).click()
    assert window._docks.docks["text"].isVisible()


def test_a_file_changed_elsewhere_is_asked_about_in_a_bar(window, lenet):
    open_net(window, lenet)
    edit(window)
    theirs = b"# theirs\n" + lenet.read_bytes()
    lenet.write_bytes(theirs)
    assert not window.files.save()
    assert lenet.read_bytes() == theirs
    window.bars[0].findChild(object, "window.bar.action.Overwrite").click()
    assert b"first" in lenet.read_bytes()


def test_saving_over_a_changed_file_offers_to_merge(window, lenet, qtbot):
    open_net(window, lenet)
    edit(window)
    lenet.write_bytes(lenet.read_bytes().replace(b"num_output: 500", b"num_output: 300"))
    assert not window.files.save()
    window.bars[0].findChild(object, "window.bar.action.Merge\u2026").click()
    qtbot.waitUntil(lambda: any("do not overlap" in bar.text for bar in window.bars))
    next(iter(window.bars)).findChild(object, "window.bar.action.Merge").click()
    assert window.files.save()
    assert b"first" in lenet.read_bytes() and b"num_output: 300" in lenet.read_bytes()


@pytest.mark.parametrize(
    ("answer", "closed", "saved"),
    [("Save", True, True), ("Discard", True, False), ("Cancel", False, False)],
)
def test_closing_asks_about_changes(window, lenet, monkeypatch, answer, closed, saved):
    open_net(window, lenet)
    edit(window)
    monkeypatch.setattr(QMessageBox, "exec", lambda _box: QMessageBox.StandardButton[answer])
    assert window.close() == closed
    assert (b"first" in lenet.read_bytes()) == saved


def test_a_file_dropped_on_the_window_opens(window, lenet):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(lenet))])
    copy, move = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction
    event = QDropEvent(QPointF(5, 5), copy | move, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier)
    event.setDropAction(move)
    window.dropEvent(event)
    assert event.isAccepted()
    assert event.dropAction() == copy, "who is told of a move may delete the file"
    assert window.document.path == lenet
    assert window.settings.recent_files == [lenet]


def test_the_nets_of_a_dropped_folder_are_offered(window, lenet):
    folder = lenet.parent
    window.files.open_dropped([str(folder)])
    assert folder.name in window.bars[0].text and "2 files" in window.bars[0].text
    window.bars[0].findChild(QPushButton).click()
    assert window.document.path == lenet
    assert window.document.solver_path == lenet.with_name("lenet_solver.prototxt")


def test_a_folder_with_code_is_a_plugin_also_where_it_has_nets(window, lenet, qtbot):
    (lenet.parent / "layers.py").write_text("import caffe\nclass TwiceLayer(caffe.Layer):\n    pass\n")
    window.files.open_dropped([str(lenet.parent)])
    qtbot.waitUntil(lambda: any("TwiceLayer" in bar.text for bar in window.bars), timeout=10_000)


def test_reloading_can_be_undone(window, lenet, qtbot):
    open_net(window, lenet)
    edit(window)
    mine = bytes(window.document.graph)
    theirs = lenet.read_bytes().replace(b"num_output: 20", b"num_output: 30")
    lenet.write_bytes(theirs)
    window.files.look_at_disk()
    qtbot.waitUntil(lambda: bool(window.bars), timeout=10_000)
    window.bars[0].findChild(object, "window.bar.action.Reload").click()
    assert bytes(window.document.graph) == theirs
    assert not window.document.modified
    window.actions_by_name["undo"].trigger()
    assert bytes(window.document.graph) == mine
    assert window.document.modified
    assert window.files.save()
    assert lenet.read_bytes() == mine


def test_a_file_that_vanished_is_written_anew_and_one_that_cannot_be_is_told(window, lenet, monkeypatch):
    open_net(window, lenet)
    edit(window)
    lenet.unlink()
    assert window.files.save()
    assert b"first" in lenet.read_bytes()
    edit_again = window.document.graph.named("first")[0].id
    window.document.apply("Rename", lambda graph: graph.rename_node(edit_again, "second"))
    shutil.rmtree(lenet.parent)
    assert not window.files.save()
    assert window.bars[0].kind == "error"
    assert "not saved" in window.bars[0].text
    assert window.document.modified


def test_several_dropped_files_open_in_a_tab_each_and_a_net_with_its_solver_in_one(window, lenet, tmp_path):
    other = tmp_path / "other.prototxt"
    other.write_bytes(lenet.read_bytes())
    window.files.open_dropped([str(lenet), str(lenet.with_name("lenet_solver.prototxt")), str(other)])
    assert [page.document.path for page in window.tabs.pages()] == [lenet, other]
    assert window.tabs.pages()[0].document.solver_path == lenet.with_name("lenet_solver.prototxt")
