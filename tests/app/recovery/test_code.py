"""Code that is edited in the window survives a crash like nets do: it is offered once, and overwrites nothing newer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.recovery import RecoveryKeeper, RecoveryStore
from app.recovery.store import KeptCode
from tests.app.recovery.support import press

CODE = b"# coding: latin-1\r\nx = '\xe9'\r\n"


@pytest.fixture
def keeper(window, tmp_path: Path) -> RecoveryKeeper:
    return RecoveryKeeper(window, RecoveryStore(tmp_path / "recovery"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_bytes(CODE)
    return path


def kept_code(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "recovery").glob("*/code"))


def look(keeper: RecoveryKeeper, qtbot) -> int:
    with qtbot.waitSignal(keeper.looked, timeout=5000) as looked:
        keeper.look()
    return looked.args[0]


def test_it_is_kept_until_it_is_saved_or_undone(window, keeper, source, tmp_path, qtbot):
    window.plugins.code.show(source)
    pane = window.panels["code"]
    with qtbot.waitSignal(keeper.code_written, timeout=5000):
        qtbot.keyClicks(pane.edit, "#")
    assert len(kept_code(tmp_path)) == 1 and source.read_bytes() == CODE
    with qtbot.waitSignal(keeper.code_written, timeout=5000):
        pane.edit.undo()
    assert kept_code(tmp_path) == [], "what equals the file need not be kept"
    with qtbot.waitSignal(keeper.code_written, timeout=5000):
        pane.edit.redo()
    assert kept_code(tmp_path)
    with qtbot.waitSignal(keeper.code_written, timeout=5000):
        pane.save()
    assert kept_code(tmp_path) == []


def test_it_comes_back_after_a_crash_as_a_step_of_undo(window, keeper, source, tmp_path, qtbot):
    window.plugins.code.show(source)
    pane = window.panels["code"]
    with qtbot.waitSignal(keeper.code_written, timeout=5000):
        qtbot.keyClicks(pane.edit, "# 1")
    typed = pane.edit.text
    folder = kept_code(tmp_path)[0].parent
    shutil.copytree(folder, folder.with_name("crashed"))  # what a crash would leave
    pane.edit.undo()
    pane._close_current()
    assert look(keeper, qtbot) == 1
    assert "mine.py" in window.bars[0].text
    press(window, "Restore")
    assert pane.unsaved == [source] and pane.edit.text == typed
    qtbot.waitUntil(lambda: not folder.with_name("crashed").exists(), timeout=5000)
    assert kept_code(tmp_path), "it is kept among our own files before the old ones go"
    pane.edit.undo()
    assert not pane.unsaved
    pane.edit.redo()
    assert pane.save() and source.read_bytes() == b"# 1" + CODE


def test_what_the_file_holds_by_now_is_not_overwritten_unasked(window, keeper, source, tmp_path, qtbot):
    crash(tmp_path, KeptCode(source, CODE, "x = 2\n"))
    source.write_bytes(b"theirs = 1\n")
    look(keeper, qtbot)
    press(window, "Restore")
    pane = window.panels["code"]
    assert not pane.save() and "changed by another program" in pane.message.text()
    assert source.read_bytes() == b"theirs = 1\n"
    assert pane.save() and source.read_bytes() == b"x = 2\r\n"


def test_a_file_that_is_gone_comes_back_too(window, keeper, tmp_path, qtbot):
    crash(tmp_path, KeptCode(tmp_path / "gone.py", CODE, "x = 'é'\n"))
    look(keeper, qtbot)
    press(window, "Restore")
    pane = window.panels["code"]
    assert pane.save() and (tmp_path / "gone.py").read_bytes() == b"x = '\xe9'\r\n"


@pytest.mark.parametrize("answer", ["Restore", "Discard", "close"])
def test_it_is_offered_once(window, keeper, source, tmp_path, qtbot, answer):
    crash(tmp_path, KeptCode(source, CODE, "x = 2\n"))
    look(keeper, qtbot)
    if answer == "close":
        window.bars[0].dismiss()
    else:
        press(window, answer)
    if answer == "Restore":
        window.panels["code"].edit.undo()
    window.close()
    again = RecoveryStore(tmp_path / "recovery")
    assert again.leftovers() == []
    aside = again.leftovers(offered=True)
    assert [left.names for left in aside] == ([["mine.py"]] if answer == "close" else [])
    for left in aside:
        left.release()


def test_it_is_kept_where_nobody_can_be_asked(window, keeper, source, tmp_path, qtbot):
    window.plugins.code.show(source)
    qtbot.keyClicks(window.panels["code"].edit, "#")
    window.keep_unsaved()
    window.close()
    (left,) = RecoveryStore(tmp_path / "recovery").leftovers()
    assert left.code == [KeptCode(source, CODE, "## coding: latin-1\nx = 'é'\n")]
    left.release()


def test_a_damaged_file_of_it_is_no_obstacle(window, keeper, source, tmp_path, qtbot, caplog):
    crash(tmp_path, KeptCode(source, CODE, "x = 2\n"))
    kept_code(tmp_path)[0].write_text('{"version": 1, "files": [{"path": 1}]}')
    assert look(keeper, qtbot) == 0
    assert "damaged" in caplog.text


def crash(tmp_path: Path, *code: KeptCode) -> None:
    gone = RecoveryStore(tmp_path / "recovery")
    gone.write_code(code)
    gone._lock.release()
