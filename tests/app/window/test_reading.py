"""B23: a net with its weights in it as text is read in the background, with progress and a way out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QProgressDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.window.mainwindow import MainWindow
from app.window.reading import BIG_FILE

NUMBERS = "    data: -0.0123456\n" * 65_600


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """Several layers with some millions of characters of numbers."""
    path = tmp_path / "big.prototxt"
    blobs = f"  blobs {{\n{NUMBERS}  }}\n"
    layers = (f'layer {{\n  name: "l{i}"\n  type: "Power"\n  bottom: "x"\n  top: "y{i}"\n{blobs}}}\n' for i in range(6))
    path.write_text('input: "x"\ninput_shape { dim: 1 }\n' + "".join(layers))
    assert path.stat().st_size > 2 * BIG_FILE
    return path


def dialogs(window: MainWindow) -> list[QProgressDialog]:
    return [each for each in window.findChildren(QProgressDialog) if each.isVisible()]


def _open(window: MainWindow, path: Path) -> tuple[int, list[int]]:
    """Open a file; return how often the window came to itself meanwhile, and the progress that was to be seen."""
    beats, shown = [time.perf_counter()], []
    timer = QTimer()
    timer.timeout.connect(lambda: (beats.append(time.perf_counter()), shown.extend(d.value() for d in dialogs(window))))
    timer.start(10)
    opened = window.files.open(path)
    timer.stop()
    assert opened
    return len(beats), shown


def test_a_big_net_opens_while_the_window_lives(window: MainWindow, big: Path, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.panels["training"].pictures.curves is not None)  # the window is ready
    before = big.read_bytes()
    counts = []
    for look in range(4):  # on a busy machine the thread that reads may have the interpreter to itself for a while
        copy = big.with_name(f"copy{look}.prototxt")
        copy.write_bytes(before)
        beats, shown = _open(window, copy)
        assert len(window.document.graph) == 7 and bytes(window.document.graph) == before
        assert shown == sorted(shown)
        counts.append(beats)
        if beats > 3:
            break
    else:
        pytest.fail(f"the window came to itself only {counts} times while files were read")
    pane = window.panels["text"]
    assert not pane.edit.toPlainText() and "too much to be shown" in pane.edit.placeholderText()
    window.files.new()
    assert not window.panels["text"].edit.placeholderText()


def test_reading_can_be_cancelled(window: MainWindow, big: Path) -> None:
    document = window.document

    def cancel() -> None:
        for dialog in window.findChildren(QProgressDialog):
            dialog.findChild(QPushButton).click()

    QTimer.singleShot(20, cancel)
    assert not window.files.open(big)
    assert window.document is document
    assert not window.findChildren(QProgressDialog) or not dialogs(window)


def test_what_is_no_net_is_told_as_ever(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "big.prototxt"
    path.write_bytes(b"a\0" * BIG_FILE)
    assert not window.files.open(path)
    assert window.document.path is None
