"""Files that go away under an open net, and what is in the way of saving: said in a sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton

from app.pluginpanel.sourcefile import SourceFile
from app.window.bars import InfoBar
from app.window.files.saving import why_not_saved
from app.window.mainwindow import MainWindow

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="files, links and devices of POSIX")


def bar_with(window: MainWindow, words: str) -> InfoBar | None:
    return next((bar for bar in window.bars if words in bar.text), None)


def labels(bar: InfoBar) -> list[str]:
    return [button.text() for button in bar.findChildren(QPushButton)]


def press(qtbot, window: MainWindow, words: str, label: str) -> None:
    bar = bar_with(window, words)
    assert bar is not None, [each.text for each in window.bars]
    button = bar.findChild(QPushButton, f"window.bar.action.{label}")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def tab_text(window: MainWindow) -> str:
    return window.tabs.bar.tabText(window.tabs.bar.currentIndex())


def rename(window: MainWindow, old: str = "conv1", new: str = "first") -> None:
    node = window.document.graph.named(old)[0].id
    window.document.apply("Rename", lambda graph: graph.rename_node(node, new))


@pytest.fixture
def net(window: MainWindow, lenet: Path) -> Path:
    assert window.files.open(lenet)
    return lenet


def test_a_file_that_is_deleted_is_said_at_once_and_saved_again(window, net, qtbot):
    text = net.read_bytes()
    net.unlink()
    qtbot.waitUntil(lambda: bar_with(window, "no longer there") is not None, timeout=5_000)  # nobody left the window
    assert tab_text(window).startswith("\u25cf") and window.isWindowModified() and window.document.unsaved
    assert labels(window.bars[0]) == ["Save it again", "Save as\u2026", "Close"]
    press(qtbot, window, "no longer there", "Save it again")
    assert net.read_bytes() == text
    assert not window.document.unsaved and not tab_text(window).startswith("\u25cf")


def test_a_file_that_comes_back_takes_its_bar_away(window, net, qtbot):
    text = net.read_bytes()
    net.unlink()
    qtbot.waitUntil(lambda: bar_with(window, "no longer there") is not None, timeout=5_000)
    net.write_bytes(text)
    qtbot.waitUntil(lambda: bar_with(window, "no longer there") is None, timeout=5_000)
    assert bar_with(window, "changed by another program") is None
    assert not window.document.unsaved and not tab_text(window).startswith("\u25cf")


def test_one_that_comes_back_with_something_else_is_asked_about(window, net, qtbot):
    net.unlink()
    window.files.look_at_disk()
    net.write_bytes(b"# theirs\n")
    window.files.look_at_disk()
    assert bar_with(window, "no longer there") is None
    assert bar_with(window, "changed by another program") is not None


def test_it_is_said_once_and_of_nets_that_are_not_in_view_too(window, net, qtbot, tmp_path):
    other = tmp_path / "other.prototxt"
    other.write_bytes(net.read_bytes())
    assert window.files.open(other)
    net.unlink()
    window.files.look_at_disk()
    window.files.look_at_disk()
    page = window.tabs.pages()[0]
    assert len(page.bars.bars()) == 1 and window.bars == []
    assert window.tabs.bar.tabText(0).startswith("\u25cf") and not tab_text(window).startswith("\u25cf")
    page.bars.bars()[0].dismiss()
    window.files.look_at_disk()
    assert page.bars.bars() == []


def test_closing_a_net_whose_file_is_gone_asks(window, net, qtbot, monkeypatch):
    net.unlink()
    window.files.look_at_disk()
    asked: list[str] = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: asked.append(box.text()) or QMessageBox.StandardButton.Save)
    press(qtbot, window, "no longer there", "Close")
    assert asked == [f"Save changes to {net.name}?"]
    assert net.exists() and window.document.path is None


@posix_only
def test_a_renamed_file_is_followed(window, net, qtbot):
    new = net.with_name("renamed.prototxt")
    text = net.read_bytes()
    net.rename(new)
    window.files.look_at_disk()
    press(qtbot, window, "'renamed.prototxt' by now", "Work on 'renamed.prototxt'")
    assert window.document.path == new and tab_text(window) == new.name and not window.document.unsaved
    rename(window)
    assert window.files.save()
    assert b'"first"' in new.read_bytes() and not net.exists()
    window.document.undo_stack.undo()
    assert bytes(window.document.graph) == text


def test_a_folder_that_is_gone_leaves_saving_elsewhere(window, net, qtbot, tmp_path, monkeypatch):
    shutil.rmtree(net.parent)
    window.files.look_at_disk()
    bar = bar_with(window, "neither is its folder")
    assert bar is not None and labels(bar) == ["Save as\u2026", "Close"]
    net.parent.mkdir()
    elsewhere = net.parent / "elsewhere.prototxt"
    monkeypatch.setattr("app.window.files.saving.QFileDialog.getSaveFileName", lambda *_args: (str(elsewhere), ""))
    press(qtbot, window, "neither is its folder", "Save as\u2026")
    assert elsewhere.exists() and window.document.path == elsewhere and not window.document.unsaved


def test_a_folder_that_took_the_name(window, net, qtbot):
    rename(window)
    net.unlink()
    net.mkdir()
    window.files.look_at_disk()
    assert bar_with(window, "name of a folder by now") is not None
    assert not window.files.save()
    bar = bar_with(window, "was not saved: there is a folder of that name")
    assert bar is not None and labels(bar) == ["Try again", "Save as\u2026"]
    assert window.document.modified
    net.rmdir()
    qtbot.waitUntil(lambda: bar_with(window, "folder") is None, timeout=5_000)
    press(qtbot, window, "no longer there", "Save it again")
    assert net.is_file() and not window.document.unsaved


def test_a_disk_that_does_not_answer_does_not_hold_the_window(window, net, qtbot, monkeypatch):
    """The window is left and come back to, and the disk is asked in a thread."""
    asked_by: list[threading.Thread] = []
    answer, exists = threading.Event(), os.path.exists

    def slow(path):
        if threading.current_thread() is not threading.main_thread() and Path(path) == net:
            asked_by.append(threading.current_thread())
            assert answer.wait(10.0)
        return exists(path)

    qtbot.waitUntil(lambda: not window.document.jobs.busy)
    monkeypatch.setattr(os.path, "exists", slow)
    net.write_bytes(net.read_bytes() + b"# theirs\n")
    window.files.ask_disk()
    qtbot.waitUntil(lambda: bool(asked_by), timeout=5_000)
    assert bar_with(window, "changed by another program") is None, "and the window goes on"
    answer.set()
    qtbot.waitUntil(lambda: bar_with(window, "changed by another program") is not None, timeout=5_000)


def test_where_nothing_is_new_the_window_itself_never_asks_the_disk(window, net, qtbot, monkeypatch):
    looked: list[object] = []
    monkeypatch.setattr(window.files.missing, "look", looked.append)
    qtbot.waitUntil(lambda: not window.document.jobs.busy, timeout=20_000)
    window.files.ask_disk()
    qtbot.waitUntil(lambda: not window.document.jobs.busy, timeout=20_000)
    assert looked == []
    net.unlink()
    window.files.ask_disk()
    qtbot.waitUntil(lambda: looked == [window.document], timeout=5_000)


@posix_only
def test_a_solver_whose_file_is_gone_is_kept_and_trains(window, net, qtbot):
    panel = window.panels["solver"]
    solver = window.document.solver.open()
    text = solver.text
    solver.path.unlink()
    window.files.look_at_disk()
    assert "no longer there" in panel.head.problem.text()
    assert window.document.unsaved and window.document.solver_text == text
    qtbot.mouseClick(panel.head.overwrite, Qt.MouseButton.LeftButton)
    assert solver.path.read_text() == text
    assert not panel.head.problem.text() and not window.document.unsaved


# What is in the way of saving


@posix_only
def test_a_file_marked_read_only_is_not_overwritten_unasked(window, net, qtbot):
    before = net.read_bytes()
    net.chmod(0o444)
    rename(window)
    assert not window.files.save()
    assert net.read_bytes() == before and window.document.modified
    press(qtbot, window, "read-only", "Overwrite")
    assert b'"first"' in net.read_bytes() and net.stat().st_mode & 0o777 == 0o444


def dangling(folder: Path) -> Path:
    path = folder / "link.prototxt"
    path.symlink_to(folder / "nowhere" / "net.prototxt")
    return path


def circle(folder: Path) -> Path:
    path = folder / "circle.prototxt"
    path.symlink_to(path)
    return path


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


@posix_only
@pytest.mark.parametrize(
    ("place", "said"),
    [
        (dangling, "leads nowhere"),
        (circle, "leads nowhere"),
        (pipe, "device or a pipe"),
        (lambda _folder: Path("/dev/full"), "device or a pipe"),
        (lambda folder: folder / ("x" * 300), "too long"),
        (lambda folder: folder / "not" / "there.prototxt", "is not there"),
        (lambda folder: folder / "lenet_solver.prototxt", "is the solver of"),
    ],
)
def test_places_that_keep_no_net(window, net, monkeypatch, tmp_path, place: Callable[[Path], Path], said: str):
    target = place(tmp_path)
    monkeypatch.setattr("app.window.files.saving.QFileDialog.getSaveFileName", lambda *_args: (str(target), ""))
    rename(window)
    assert not window.files.save_as()
    bar = bar_with(window, said)
    assert bar is not None, [each.text for each in window.bars]
    assert "Errno" not in bar.text and "Save as\u2026" in labels(bar)
    assert window.document.path == net and window.document.modified


@pytest.mark.parametrize(
    ("code", "said"),
    [(errno.EACCES, "may not write"), (errno.EROFS, "is read-only"), (errno.ENOSPC, "is full"), (errno.EIO, "disk")],
)
def test_what_the_system_refuses_is_said_in_a_sentence(tmp_path, code: int, said: str):
    text = why_not_saved(tmp_path / "net.prototxt", OSError(code, os.strerror(code)))
    assert text.startswith("'net.prototxt' was not saved: ") and said in text
    assert "Errno" not in text and text.endswith(".")


def test_a_layout_that_cannot_be_written_does_not_unsave_the_net(window, net, qtbot):
    net.with_name(f"{net.name}.canvas.json").mkdir()
    rename(window)
    window.document.positions.touched = True
    assert window.files.save()
    assert b'"first"' in net.read_bytes() and not window.document.modified
    assert bar_with(window, "how it is arranged is not") is not None


def test_what_is_watched_is_asked_of_the_disk_in_a_thread(window, lenet, qtbot, monkeypatch):
    asked: list[tuple[str, bool]] = []
    exists = os.path.exists

    def seen(path: str) -> bool:
        if str(path).startswith(str(lenet.parent)):
            asked.append((str(path), threading.current_thread() is threading.main_thread()))
        return exists(path)

    monkeypatch.setattr("app.window.files.missing.os.path.exists", seen)
    assert window.files.open(lenet)
    watch = window.disk_watch
    qtbot.waitUntil(lambda: watch._watcher is not None and str(lenet) in watch._watcher.files(), timeout=5_000)
    assert asked and not any(in_window for _path, in_window in asked)


def test_code_that_another_program_wrote_is_read_in_a_thread(window, tmp_path, qtbot, monkeypatch):
    path = tmp_path / "twice.py"
    path.write_text("import caffe\n")
    window.plugins.show_code(path)
    pane = window.panels["code"]
    read_in: list[bool] = []
    read = SourceFile.read.__func__

    def seen(cls: type[SourceFile], where: Path) -> SourceFile:
        read_in.append(threading.current_thread() is threading.main_thread())
        return read(cls, where)

    monkeypatch.setattr(SourceFile, "read", classmethod(seen))
    path.write_text("import numpy\n")
    window.plugins.code.refresh()
    qtbot.waitUntil(lambda: pane.edit.toPlainText() == "import numpy\n", timeout=5_000)
    assert read_in and not any(read_in)
    pane.edit.insertPlainText("x")
    path.write_text("import os\n")
    window.plugins.code.refresh()
    qtbot.waitUntil(lambda: not window.plugins.code._jobs.busy, timeout=5_000)
    assert pane.edit.toPlainText() == "ximport numpy\n", "what was typed is not lost"
