"""Starting: subcommands without Qt, no display, and the editor on the bundled example."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from app.start import ExampleOpener
from engine import examples
from tests.support import ROOT


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.pop("QT_QPA_PLATFORM", None)
    env.update(PYTHONPATH=str(ROOT), **environment)
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120, check=False
    )


def test_subcommands_never_import_qt():
    code = (
        "import sys, app.main\n"
        "try: app.main.main(['check', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not [name for name in sys.modules if name.startswith('PySide6')]"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_without_a_display_the_example_is_trained_in_the_terminal():
    code = (
        "import sys, app.main, engine.cli, engine.examples\n"
        "from types import SimpleNamespace\n"
        "engine.examples.prepare_example = lambda *a, **k: SimpleNamespace(solver='the solver')\n"
        "engine.cli.train_in_terminal = lambda solver: print('training', solver) or 0\n"
        "raise SystemExit(app.main.main([]))"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert "training the solver" in done.stdout
    assert done.stderr.count("\n") == 1
    assert "no display" in done.stderr


def test_without_a_display_a_file_is_not_silently_ignored(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text("")
    done = run(f"import app.main; raise SystemExit(app.main.main([{str(path)!r}]))")
    assert done.returncode == 1
    assert "netcanvas show" in done.stderr


def test_nothing_is_collected_while_the_editor_starts():
    code = (
        "import gc, sys, types, app.main\n"
        "seen = []\n"
        "sys.modules['app.start'] = types.SimpleNamespace(run_editor=lambda file: seen.append(gc.isenabled()) or 0)\n"
        "assert app.main.main([]) == 0 and seen == [False] and gc.isenabled()"
    )
    done = run(code, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr


def test_the_first_start_shows_the_example(window, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    opener = ExampleOpener(window)
    opener.open_when_ready()
    qtbot.waitUntil(lambda: len(window.document.graph) == 11, timeout=20_000)
    assert window.document.solver_path is not None
    opener.wait()
    qtbot.waitUntil(lambda: (window.document.path.parent / "mnist_train_lmdb").is_dir(), timeout=20_000)


def test_the_example_cannot_be_trained_before_its_data_are_there(window, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    go_on = threading.Event()
    real = examples.prepare_example

    def slow(name, *, progress):
        prepared = real(name, progress=progress)
        go_on.wait(10)
        return prepared

    monkeypatch.setattr(examples, "prepare_example", slow)
    opener = ExampleOpener(window)
    opener.open_when_ready()
    train = window.panels["training"].train_action
    try:
        qtbot.waitUntil(lambda: window.document.path is not None, timeout=10_000)
        assert not train.isEnabled()
        assert "digits" in train.toolTip()
    finally:
        go_on.set()
        opener.wait()
    qtbot.waitUntil(train.isEnabled, timeout=10_000)


@pytest.fixture(scope="module")
def imported_at_start() -> set[str]:
    """The modules that are there before the first frame."""
    done = run("import sys, app.start\nprint(*sys.modules)", QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


_OURS = ("app.training", "engine.diagnostics", "engine.net")
_OTHERS = ("pyqtgraph", "pygments", "qtawesome", "h5py", "lmdb", "packaging")


@pytest.mark.parametrize("heavy", [*_OURS, *_OTHERS])
def test_what_is_heavy_is_not_imported_before_the_first_frame(imported_at_start, heavy):
    assert "app.window.mainwindow" in imported_at_start
    assert not [name for name in imported_at_start if name == heavy or name.startswith(f"{heavy}.")]
