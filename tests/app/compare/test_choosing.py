"""What a net can be compared with, chosen as people choose it: menu, runs, the bar about a changed file."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.compare import revisions
from app.compare.revisions import RevisionError, list_revisions, read_revision
from engine.worker import run_parents
from tests.app.compare.nets import NEW, OLD

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder, *words):
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ann"), ("EMAIL", "a@b"))
    }
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **identity})


@pytest.fixture(scope="session")
def committed(tmp_path_factory):
    """A repository with an older version of a net under another name, and the one that the tests have in the window."""
    folder = tmp_path_factory.mktemp("committed")
    first, net = folder / "first name.prototxt", folder / "mine.prototxt"
    git(folder, "init", "-q")
    first.write_bytes(OLD)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "As it was & so on")
    first.rename(net)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Renamed")
    net.write_bytes(NEW)
    git(folder, "commit", "-qam", "Wider")
    return folder


@pytest.fixture
def history(committed, mine):
    """The net in the window, with a history."""
    shutil.copytree(committed / ".git", mine.parent / ".git")
    return mine


def open_submenu(window, menu, qtbot):
    window.comparing.menu.popup(window.pos())
    menu.popup(window.pos())
    qtbot.waitUntil(lambda: menu.actions() and menu.actions()[0].text() != "Looking\u2026", timeout=10_000)
    return [action.text() for action in menu.actions()]


def close_menus(window, menu):
    menu.hide()
    window.comparing.menu.hide()


@needs_git
def test_revisions_of_the_file_are_listed_through_renamings_and_compared(window, history, qtbot, settled):
    menu = window.comparing.revisions
    texts = open_submenu(window, menu, qtbot)
    assert [text[12:] for text in texts] == ["Wider", "Renamed", "As it was && so on"]
    for _step in range(3):
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    close_menus(window, menu)
    view = window.tabs.current.comparison
    settled(view)
    assert "mine.prototxt at " in view.summary.text()
    assert {each.name for each in view.comparison.changes} >= {"conv1", "norm", "drop"}


@needs_git
def test_a_revision_is_read_byte_for_byte(history):
    found = list_revisions(history)
    assert [each.subject for each in found] == ["Wider", "Renamed", "As it was & so on"]
    assert found[2].name == "first name.prototxt" and found[0].author == "Ann"
    assert [read_revision(history, each) for each in found] == [NEW, OLD, OLD]


@needs_git
def test_opening_the_list_runs_nothing_that_the_repository_names(history, tmp_path):
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\ncat\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "diff.bad.textconv"):
        git(history.parent, "config", name, str(trap))
    git(history.parent, "config", "log.showSignature", "true")
    (history.parent / ".gitattributes").write_text("*.prototxt diff=bad\n")
    for each in list_revisions(history):
        read_revision(history, each)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("without", ["git", "repository", "commit"])
def test_the_menu_says_why_there_are_no_revisions(window, mine, qtbot, monkeypatch, without):
    if without == "git":
        monkeypatch.setattr(revisions, "_GIT", ("no-such-git-program",))
    elif shutil.which("git") is None:
        pytest.skip("git is not installed")
    elif without == "repository":
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(mine.parent.parent))
    else:
        git(mine.parent, "init", "-q")
    menu = window.comparing.revisions
    texts = open_submenu(window, menu, qtbot)
    close_menus(window, menu)
    assert not menu.actions()[0].isEnabled()
    expected = {"git": "not installed", "repository": "no git repository", "commit": "No commit has"}
    assert expected[without] in texts[0]
    with pytest.raises(RevisionError):
        list_revisions(mine)


def test_a_net_without_a_file_says_what_to_do_first(window):
    window.comparing.refresh()
    saved = next(action for action in window.comparing.menu.actions() if action.objectName().endswith("saved"))
    assert not saved.isEnabled() and "save it first" in saved.toolTip()


def test_open_nets_are_listed_without_the_one_in_view(window, mine, other, qtbot, settled):
    assert window.files.open(other)
    menu = window.comparing.open_nets
    assert open_submenu(window, menu, qtbot) == ["mine.prototxt"]
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    close_menus(window, menu)
    view = window.tabs.current.comparison
    settled(view)
    assert {each.name for each in view.comparison.changes} >= {"conv1", "norm", "drop"}


def test_a_run_is_compared_from_the_list_of_runs(window, mine, qtbot, settled):
    folder = run_parents(mine)[0] / "first"
    folder.mkdir(parents=True)
    (folder / "net.prototxt").write_bytes(OLD)
    (folder / "status.json").write_text('{"state": "finished"}')
    runs = window.panels["training"].runs
    window.show_panel("training")
    runs.refresh()
    runs.table.setCurrentItem(runs.table.topLevelItem(0))
    button = runs.findChild(QPushButton, "training.run_compare_button")
    assert button.isEnabled(), button.toolTip()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    view = window.tabs.current.comparison
    settled(view)
    assert "Run first" in view.summary.text()
    assert view.comparison.changes


def test_the_bar_about_a_changed_file_offers_to_compare(window, mine, qtbot, settled):
    os.utime(mine, (1, 1))
    window.document.disk.took(mine, NEW)
    mine.write_bytes(OLD)
    window.files.look_at_disk()
    bar = next(bar for bar in window.bars if "changed by another program" in bar.text)
    QTest.mouseClick(bar.findChild(QPushButton, "window.bar.action.Compare"), Qt.MouseButton.LeftButton)
    view = window.tabs.current.comparison
    settled(view)
    assert "as saved" in view.summary.text()
    assert {each.name for each in view.comparison.changes} >= {"conv1", "norm", "drop"}
    window.files.look_at_disk()
    assert any("changed by another program" in bar.text for bar in window.bars), "the question must come again"
