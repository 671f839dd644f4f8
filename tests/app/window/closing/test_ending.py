"""The program is ended from outside, whatever it is at: it ends soon, asks nobody, leaves no process, loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.recovery import RecoveryKeeper, RecoveryStore
from tests.app.training.conftest import our_threads
from tests.engine.worker.nets import FOREVER, TinyNet, solver_text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

ROOT = Path(__file__).parents[3]
EDITOR = """
import sys, threading
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.start import make_application, run_editor
from app.window.mainwindow import MainWindow

app, what, net = make_application(), sys.argv[2], Path(sys.argv[1])

def window():
    return next(each for each in app.topLevelWidgets() if isinstance(each, MainWindow))

def ready():
    w = window()
    return {
        "training": lambda: w.panels["training"].state == "running",
        "measuring": lambda: bool(w.bars),
        "comparing": lambda: w.tabs.current.comparison is not None,
        "reading": lambda: any(each.name == "reading" for each in threading.enumerate()),
    }.get(what, lambda: True)()

def edit():
    w = window()
    w.load_panels()
    document = w.document
    document.apply("x", lambda graph: graph.rename_node(graph.nodes()[0].id, "mine"))
    if what == "training":
        w.panels["training"].train_action.trigger()
    elif what == "comparing":
        w.comparing.with_file_of(document)
    elif what == "reading":
        QTimer.singleShot(0, lambda: w.files.open(net.with_name("big.prototxt")))
    elif what == "asking":
        QTimer.singleShot(0, w.close)
    elif what == "coding":
        w.plugins.code.show(net.with_name("layer.py"))
        w.panels["code"].edit.insertPlainText("# mine ")
    elif what == "exporting":
        w.actions_by_name["export_picture"].trigger()
    tell()

def tell():
    asked = QApplication.activeModalWidget() is not None
    if not ready() or (what == "asking" and not asked):
        QTimer.singleShot(20, tell)
    else:
        print("ready", flush=True)

QTimer.singleShot(300, edit)
sys.exit(run_editor(net))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    net = TinyNet.write(tmp_path)
    (tmp_path / "tiny.prototxt").write_text(net.text)
    (tmp_path / "solver.prototxt").write_text(solver_text(net='"tiny.prototxt"', **FOREVER))
    layer = 'layer { name: "%d" type: "Power" bottom: "x" top: "y%d" power_param { power: 1 scale: 1 shift: 0 } }\n'
    (tmp_path / "big.prototxt").write_text("".join(layer % (each, each) for each in range(60_000)))
    (tmp_path / "layer.py").write_text("x = 1\n")
    return tmp_path / "tiny.prototxt"


def wait_for(condition, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(condition())


@pytest.mark.parametrize(
    ("what", "number"),
    [
        ("coding", signal.SIGTERM),
        ("editing", signal.SIGTERM),
        pytest.param("editing", signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param("training", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("comparing", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("reading", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("exporting", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("asking", signal.SIGTERM, marks=pytest.mark.slow),
        ("asking", signal.SIGINT),
    ],
)
def test_a_signal_ends_it_soon_and_what_is_not_saved_is_kept(window, project, tmp_path, qtbot, what, number):
    from engine.worker import kill, list_runs

    before = project.read_bytes()
    homes = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("STATE", "DATA", "CONFIG", "CACHE")}
    environment = {**os.environ, **homes, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(project), what],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert editor.stdout.readline() == "ready\n", editor.stderr.read()
        editor.send_signal(number)
        _out, errors = editor.communicate(timeout=30)
    finally:
        editor.kill()
        for run in list_runs([tmp_path / "runs"]):
            kill(run)
    assert editor.returncode == 128 + number, errors
    assert "Traceback" not in errors and "QThread" not in errors, errors
    assert wait_for(lambda: not _group(editor.pid), 10), "a process of it is left"
    assert project.read_bytes() == before
    root = tmp_path / "state" / "netcanvas" / "recovery"
    keeper = RecoveryKeeper(window, RecoveryStore(root))
    with qtbot.waitSignal(keeper.looked, timeout=5000) as looked:
        keeper.look()
    assert looked.args == [2 if what == "coding" else 1]
    keeper.restore()
    if what == "coding":
        assert window.panels["code"].edit.text == "# mine x = 1\n"
    assert window.document.graph.named("mine") and window.document.path == project


def _group(leader: int) -> bool:
    """Whether a process is left of the group of the editor; a training has one of its own."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def start_training(window):
    window.panels["training"].train_action.trigger()


def start_comparing(window):
    window.comparing.with_file_of(window.document)


def start_exporting(window):
    window.actions_by_name["export_picture"].trigger()


def start_asking(window):
    window.canvas.blob_name_asked.emit(window.document.graph.nodes()[0].id, 0)
    assert window.bars


def start_measuring(window):
    window.canvas.measure_times()


def start_keeping(window):
    window.document.apply("x", lambda graph: graph.rename_node(graph.nodes()[0].id, "mine"))


def start_missing(window):
    window.document.path.unlink()
    window.files.look_at_disk()


STARTS = (
    start_training,
    start_comparing,
    start_exporting,
    start_asking,
    start_measuring,
    start_keeping,
    start_missing,
)


@pytest.mark.parametrize("close", ["tab", pytest.param("window", marks=pytest.mark.slow)])
@pytest.mark.parametrize("start", STARTS, ids=lambda each: each.__name__)
def test_a_tab_and_the_window_close_at_once_whatever_is_under_way(
    window, project, tmp_path, qtbot, monkeypatch, start, close
):
    """Nothing outlives them, which the fixtures see to, and nothing waits."""
    from engine.worker import kill, list_runs

    keeper = RecoveryKeeper(window, RecoveryStore(tmp_path / "recovery"))
    monkeypatch.setattr("app.window.files.files.ask_to_leave", lambda *_args: True)
    assert window.files.open(project)
    qtbot.waitUntil(lambda: window.document.live.is_started and not window.document.live.busy, timeout=20_000)
    start(window)
    qtbot.wait(20)
    before = time.monotonic()
    if close == "tab":
        window.close_page(window.tabs.current)
        assert window.document.is_untouched
        qtbot.wait(100)
    window.close()
    assert time.monotonic() - before < 8
    keeper.deleteLater()
    if start is start_training:  # it goes on without the window

        def ended() -> bool:
            for run in list_runs([tmp_path / "runs"]):
                kill(run)
            return "netcanvas-training-wait" not in our_threads()

        qtbot.waitUntil(ended, timeout=20_000)
    assert not list((tmp_path / "recovery").glob("*/*.json"))
