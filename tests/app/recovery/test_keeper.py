"""F2, F14: what is not saved survives a crash, is offered once, and never overwrites what is newer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.document import ChangedOnDiskError, Document
from app.recovery import RecoveryKeeper, RecoveryStore
from app.recovery.keeper import _capture
from engine.graph import OpGraph
from tests.app.recovery.support import press
from tests.support import ROOT

INPUT = 'layer { name: "%s" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }\n'


@pytest.fixture
def store(tmp_path: Path) -> RecoveryStore:
    return RecoveryStore(tmp_path / "recovery")


@pytest.fixture
def keeper(window, store: RecoveryStore) -> RecoveryKeeper:
    return RecoveryKeeper(window, store)


def type_in(document: Document, name: str) -> None:
    document.apply(f"Add {name}", lambda graph: graph.replace_text(graph.text + INPUT % name))


def kept_files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "recovery").glob("*/*.json"))


def left_by_a_crash(tmp_path: Path, *kept) -> None:
    gone = RecoveryStore(tmp_path / "recovery")
    for each in kept:
        gone.write(each)
    gone._lock.release()


def test_every_command_is_kept_apart_from_the_file_until_it_is_saved(window, keeper, lenet, tmp_path, qtbot):
    assert window.files.open(lenet)
    before = lenet.read_bytes()
    with qtbot.waitSignal(keeper.written, timeout=5000):
        type_in(window.document, "new")
    assert len(kept_files(tmp_path)) == 1
    assert lenet.read_bytes() == before
    assert not list(lenet.parent.glob("*.json"))
    with qtbot.waitSignal(keeper.written, timeout=5000):
        window.document.undo_stack.undo()
    assert kept_files(tmp_path) == [], "what equals the file need not be kept"
    with qtbot.waitSignal(keeper.written, timeout=5000):
        window.document.undo_stack.redo()
    with qtbot.waitSignal(keeper.written, timeout=5000):
        assert window.files.save()
    assert kept_files(tmp_path) == []


def test_changes_without_a_pause_are_kept_all_the_same(window, keeper, tmp_path, qtbot):
    end = time.monotonic() + 30
    number = 0
    while not kept_files(tmp_path) and time.monotonic() < end:
        type_in(window.document, f"n{number}")
        number += 1
        qtbot.wait(60)
    assert kept_files(tmp_path)


def test_closing_a_tab_or_the_window_leaves_nothing(window, keeper, tmp_path, qtbot):
    with qtbot.waitSignal(keeper.written, timeout=5000):
        type_in(window.document, "new")
    window.document.undo_stack.setClean()
    window.close()
    assert list((tmp_path / "recovery").iterdir()) == []


def test_two_untitled_nets_both_come_back(window, keeper, store, tmp_path, qtbot):
    """F2."""
    type_in(window.document, "one")
    window.files.new()
    type_in(window.document, "two")
    assert [page.document.title for page in window.tabs.pages()] == ["Untitled", "Untitled 2"]
    qtbot.waitUntil(lambda: len(kept_files(tmp_path)) == 2, timeout=5000)
    texts = {bytes(page.document.graph) for page in window.tabs.pages()}
    folder = kept_files(tmp_path)[0].parent
    shutil.copytree(folder, folder.with_name("crashed"))  # what a crash would leave
    for page in window.tabs.pages():
        page.document.undo_stack.setClean()
    for page in window.tabs.pages():
        window.close_page(page)
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    assert {bytes(page.document.graph) for page in window.tabs.pages()} == texts
    assert all(page.document.modified for page in window.tabs.pages())
    assert len({page.document.title for page in window.tabs.pages()}) == 2


@pytest.mark.parametrize("answer", ["Restore", "Discard", "close", "none"])
def test_it_is_offered_once(window, keeper, tmp_path, qtbot, answer):
    """F14."""
    from app.recovery.store import Kept

    left_by_a_crash(tmp_path, Kept("a", "Untitled", None, (INPUT % "kept").encode()))
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    if answer == "close":
        window.bars[0].dismiss()
    elif answer != "none":
        press(window, answer)
    assert (b"kept" in bytes(window.document.graph)) == (answer == "Restore")
    for page in window.tabs.pages():
        page.document.undo_stack.setClean()
    window.close()
    again = RecoveryStore(tmp_path / "recovery")
    assert again.leftovers() == []
    aside = again.leftovers(offered=True)
    assert len(aside) == (1 if answer in ("close", "none") else 0)
    for left in aside:
        left.release()


def test_a_file_that_changed_meanwhile_is_not_overwritten(window, keeper, lenet, tmp_path, qtbot):
    """F2: a stale recovery file must not win over what is on disk now."""
    from app.document.netfile import digest
    from app.recovery.store import Kept

    old = lenet.read_bytes()
    left_by_a_crash(tmp_path, Kept("a", lenet.name, lenet, old + b"# mine\n", "", digest(old)))
    theirs = b"# theirs\n" + old
    lenet.write_bytes(theirs)
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    assert bytes(window.document.graph) == old + b"# mine\n"
    with pytest.raises(ChangedOnDiskError):
        window.document.save()
    window.actions_by_name["undo"].trigger()
    assert bytes(window.document.graph) == theirs
    assert lenet.read_bytes() == theirs


def test_what_is_open_is_restored_in_its_own_tab(window, keeper, lenet, tmp_path, qtbot):
    from app.recovery.store import Kept

    window.files.open(lenet)
    left_by_a_crash(tmp_path, Kept("a", lenet.name, lenet, lenet.read_bytes() + b"# mine\n"))
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    assert len(window.tabs.pages()) == 1
    assert bytes(window.document.graph).endswith(b"# mine\n")


def test_a_file_that_is_gone_and_plugins_that_are_missing_are_no_obstacle(window, keeper, tmp_path, qtbot):
    from app.recovery.store import Kept

    text = b'layer { name: "p" type: "NobodyHasThis" top: "t" nobody_param { a: 1 } }\n'
    text += b'layer { name: "q" type: "Python" top: "u" python_param { module: "gone" layer: "L" } }\n'
    left_by_a_crash(tmp_path, Kept("a", "gone.prototxt", tmp_path / "nowhere" / "gone.prototxt", text))
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    assert bytes(window.document.graph) == text
    assert window.document.modified
    assert window.document.title == "gone.prototxt"


def test_a_full_disk_stops_nobody(window, tmp_path, qtbot):
    blocked = tmp_path / "recovery"
    blocked.write_text("no folder")
    RecoveryKeeper(window, RecoveryStore(blocked))
    type_in(window.document, "new")
    qtbot.waitUntil(lambda: "cannot be kept" in window.status.currentMessage(), timeout=5000)


def test_keeping_a_big_net_costs_the_window_little():
    """The window copies; the thread writes. The budget is 50 ms of the window's thread at 5,000 layers."""
    layers = (f'layer {{ name: "l{i}" type: "Power" bottom: "b{i}" top: "b{i + 1}" }}\n' for i in range(5000))
    document = Document(OpGraph.parse("".join(layers).encode()))
    try:
        for number, node in enumerate(document.graph.node_ids()):
            document.positions.place(node, number, 0.0)
        document.positions.touched = True
        looks = []
        for _look in range(5):
            start = time.thread_time()
            write = _capture(document)
            looks.append(time.thread_time() - start)
        print(f"best of {len(looks)}: {min(looks) * 1000:.1f} ms")
        assert min(looks) < 0.05
        assert len(json.loads(write().layout)["nodes"]) == 5000
    finally:
        document.close()


EDITOR = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.start import make_application, run_editor
from app.window.mainwindow import MainWindow

def edit():
    window = next(each for each in QApplication.topLevelWidgets() if isinstance(each, MainWindow))
    for name in ("conv1", "conv2"):
        node = window.document.graph.named(name)[0].id
        window.document.apply("Rename", lambda graph: graph.rename_node(node, f"my_{name}"))
    print("edited", flush=True)

make_application()
QTimer.singleShot(500, edit)
run_editor(Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_editor_offers_the_edit_at_the_next_start(window, lenet, tmp_path, qtbot):
    """F14, with a real process and kill -9."""
    before = lenet.read_bytes()
    homes = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("STATE", "DATA", "CONFIG", "CACHE")}
    environment = {**os.environ, **homes, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(lenet)], env=environment, stdout=subprocess.PIPE, text=True
    )
    root = tmp_path / "state" / "netcanvas" / "recovery"
    try:
        assert editor.stdout.readline() == "edited\n"
        qtbot.waitUntil(lambda: bool(list(root.glob("*/*.json"))), timeout=20_000)
        assert RecoveryStore(root).leftovers() == [], "the editor still runs"
    finally:
        editor.send_signal(signal.SIGKILL)
        editor.wait()
        editor.stdout.close()
    assert lenet.read_bytes() == before
    keeper = RecoveryKeeper(window, RecoveryStore(root))
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    assert [bool(window.document.graph.named(name)) for name in ("my_conv1", "my_conv2", "conv1")] == [
        True,
        True,
        False,
    ]
    assert window.document.path == lenet


def edit_solver(document: Document, rate: str) -> None:
    solver = document.solver.open()
    solver.apply("Change base_lr", lambda graph: graph.set_field(None, ("base_lr",), rate))


def test_an_edited_solver_is_kept_until_it_is_saved_and_comes_back(window, keeper, lenet, tmp_path, qtbot):
    """F14, for what is edited with the net."""
    assert window.files.open(lenet)
    document = window.document
    path = document.solver_path
    before = path.read_bytes()
    with qtbot.waitSignal(keeper.written, timeout=5000):
        edit_solver(document, "0.5")
    assert path.read_bytes() == before and not document.modified and document.unsaved
    (kept,) = kept_files(tmp_path)
    shutil.copytree(kept.parent, kept.parent.with_name("crashed"))
    with qtbot.waitSignal(keeper.written, timeout=5000):
        document.solver.opened.undo_stack.undo()
    assert kept_files(tmp_path) == [kept.parent.with_name("crashed") / kept.name], "ours equals the file again"
    window.close_page(window.tabs.current)
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    restored = window.document
    assert restored.path == lenet and restored.solver_path == path
    assert b"base_lr: 0.5" in bytes(restored.solver.opened.graph)
    assert not restored.modified and restored.solver.modified, "the net itself was not changed"
    restored.solver.opened.undo_stack.undo()
    assert bytes(restored.solver.opened.graph) == before and not restored.unsaved
    restored.solver.opened.undo_stack.redo()
    with qtbot.waitSignal(keeper.written, timeout=5000):
        restored.solver.opened.save()
    assert b"base_lr: 0.5" in path.read_bytes()


@pytest.mark.parametrize("gone", [False, True])
def test_a_solver_that_changed_meanwhile_or_is_gone_is_not_overwritten_unasked(
    window, keeper, lenet, tmp_path, qtbot, gone
):
    from app.document.netfile import digest
    from app.recovery.store import Kept, KeptSolver

    path = lenet.with_name("lenet_solver.prototxt")
    mine = KeptSolver(path, path.read_bytes() + b"# mine\n", digest(path.read_bytes()))
    left_by_a_crash(tmp_path, Kept("a", lenet.name, lenet, lenet.read_bytes(), "", None, False, (mine,)))
    if gone:
        path.unlink()
    else:
        path.write_bytes(b"# theirs\n" + path.read_bytes())
    with qtbot.waitSignal(keeper.looked, timeout=5000):
        keeper.look()
    press(window, "Restore")
    solver = window.document.solver.opened
    assert bytes(solver.graph) == mine.text and solver.modified
    if gone:
        solver.save()
        assert path.read_bytes() == mine.text
    else:
        with pytest.raises(ChangedOnDiskError):
            solver.save()
        solver.save(force=True)


def test_a_recovery_file_of_an_older_version_is_read(tmp_path: Path):
    from app.recovery.store import Kept

    stored = json.loads(Kept("a", "net", None, b"name: 'x'").to_json())
    del stored["solvers"], stored["modified"]
    old = Kept.from_json(json.dumps(stored).encode())
    assert old.modified and old.solvers == () and old.text == b"name: 'x'"


def test_it_is_written_at_once_when_the_session_ends(window, keeper, lenet, tmp_path):
    """The desktop may end the program right after it has told it; what is typed then is kept too."""
    assert window.files.open(lenet)
    window.document.apply("x", lambda graph: graph.rename_node(graph.named("conv1")[0].id, "mine"))
    keeper.keep_now()
    (file,) = kept_files(tmp_path)
    assert b"mine" in file.read_bytes()
