"""B23: a net with its weights in it as text is read in the background, with progress and a way out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.canvas.scene.scene import CanvasScene
from app.window.files.reading import BIG_FILE, SLOW_FILE, _Reading
from app.window.mainwindow import MainWindow
from tests.benchmarks.nets import residual_net

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


def said(window: MainWindow) -> list[int]:
    """Return the progress that is to be seen, in percent."""
    labels = [bar.findChild(QLabel, "window.bar.text").text() for bar in window.bars]
    return [int(text.split(": ")[1].rstrip("%")) for text in labels if text.startswith("Reading") and ": " in text]


class _Held:
    """Reads a file, and waits now and then until the window has come to itself and said how far it is."""

    def __init__(self, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[int] = []
        self.turns = 0
        self._window = window
        self._beat = threading.Event()
        self._timer = QTimer()
        self._timer.timeout.connect(self._look)
        self._timer.start(10)
        self._progress = _Reading._progress
        monkeypatch.setattr(_Reading, "_progress", lambda reading, *how_far: self._wait(reading, *how_far))

    def _look(self) -> None:
        self.shown.extend(said(self._window))
        self._beat.set()

    def _wait(self, reading: _Reading, position: int, length: int) -> None:
        self._progress(reading, position, length)
        if self.turns < 5:
            self._beat.clear()
            assert self._beat.wait(20), "the window is deaf while a file is read"
            self.turns += 1

    def end(self) -> None:
        self._timer.stop()


def test_a_big_net_opens_while_the_window_lives(
    window: MainWindow, big: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: window.panels["training"].pictures.curves is not None)  # the window is ready
    before = big.read_bytes()
    held = _Held(window, monkeypatch)
    opened = window.files.open(big)
    held.end()
    assert opened and held.turns == 5
    assert held.shown == sorted(held.shown) and len(set(held.shown)) > 1
    assert len(window.document.graph) == 7 and bytes(window.document.graph) == before
    pane = window.panels["text"]
    assert not pane.edit.toPlainText() and "too much to be shown" in pane.edit.placeholderText()
    window.files.new()
    assert not window.panels["text"].edit.placeholderText()


def test_reading_can_be_cancelled(window: MainWindow, big: Path) -> None:
    document = window.document

    def cancel() -> None:
        (bar,) = [each for each in window.bars if each.objectName() == "window.bar.reading"]
        bar.findChild(QPushButton, "window.bar.action.Cancel").click()

    QTimer.singleShot(20, cancel)
    assert not window.files.open(big)
    assert window.document is document
    assert window.bars == []


def test_another_net_is_worked_on_and_its_tab_closed_while_one_is_read(window: MainWindow, big: Path) -> None:
    """Nothing is modal: the tab in which the bar is may be closed, too."""
    small = big.with_name("small.prototxt")
    small.write_text('layer { name: "a" type: "Input" top: "a" }\n')
    assert window.files.open(small)
    edited: list[str] = []

    def work() -> None:
        assert QApplication.activeModalWidget() is None and window.bars
        window.document.apply("Rename", lambda graph: graph.rename_node(graph.nodes()[0].id, "b"))
        edited.append(window.document.graph.text)
        window.document.undo_stack.undo()
        window.close_page(window.tabs.current)

    QTimer.singleShot(20, work)
    assert window.files.open(big)
    assert edited and '"b"' in edited[0]
    assert [page.document.path for page in window.tabs.pages()] == [big]


def test_what_is_no_net_is_told_as_ever(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "big.prototxt"
    path.write_bytes(b"a\0" * BIG_FILE)
    assert not window.files.open(path)
    assert window.document.path is None


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A net whose reading would be felt, but that needs no bar."""
    path = tmp_path / "slow.prototxt"
    path.write_text(residual_net(800))
    assert SLOW_FILE < path.stat().st_size < BIG_FILE
    return path


def test_a_net_is_opened_once_though_the_window_answers(window: MainWindow, slow: Path, qtbot: QtBot) -> None:
    QTimer.singleShot(0, lambda: window.files.open(slow))
    assert window.files.open(slow)
    assert len(window.tabs.pages()) == 1 and len(window.document.graph) == 800
    assert not window.canvas.is_placed
    node = window.document.graph.node_ids()[400]
    window.document.apply("Delete", lambda graph: graph.remove_nodes([node]))  # while the picture is made
    assert set(window.canvas.canvas.nodes) == set(window.document.graph.node_ids())
    assert set(window.canvas.canvas.edges) == set(window.document.graph.edges())
    qtbot.waitUntil(lambda: window.canvas.is_placed, timeout=20_000)
    fresh = CanvasScene(window.document)
    assert {node: item.pos() for node, item in fresh.nodes.items()} == {
        node: item.pos() for node, item in window.canvas.canvas.nodes.items()
    }
    assert fresh.folding.cards.keys() == window.canvas.canvas.folding.cards.keys() != set()
    fresh.close()


def test_a_window_that_is_closed_meanwhile_opens_nothing(window: MainWindow, slow: Path) -> None:
    QTimer.singleShot(0, window.close)
    assert not window.files.open(slow)
    assert window.document.path is None
