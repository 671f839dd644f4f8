"""Every public net and solver at hand opens in one window, one after another; so do broken and empty files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.document.solverfile import is_solver
from app.window.mainwindow import MainWindow
from tests.support import shared

pytestmark = pytest.mark.slow

PICTURE = 220
BROKEN = {
    "brace.prototxt": b'layer { name: "a" type: "ReLU" bottom: "x" top: "x"\n',
    "words.prototxt": b"this is no net\n",
    "quote.prototxt": b'name: "never closed\nlayer { name: "a" }\n',
    "half.prototxt": b'layer { name: "in" type: "Input" top: "x" }\nlayer { name: "b" type: }\n',
}


def files() -> Iterator[tuple[Path, str]]:
    """All files of the collection with what they are: net, solver, empty, unparsed or other."""
    folder = shared("corpus/prototxt")
    with (folder / "index.csv").open(encoding="utf-8", newline="") as index:
        for row in csv.DictReader(index):
            yield folder / row["file"], row["kind"]


def open_in(window: MainWindow, path: Path, qtbot) -> None:
    """Open a file and wait until it is arranged and painted."""
    assert window.files.open(path), path
    QApplication.processEvents()
    document = window.document
    qtbot.waitUntil(lambda: window.canvas.is_placed and not document.jobs.busy, timeout=20_000)


def leave(window: MainWindow) -> None:
    """Close all tabs, so that one net is open at a time."""
    for page in window.tabs.pages():
        page.document.undo_stack.setClean()
        window.close_page(page)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def colours_of_cards(window: MainWindow) -> int:
    """How many of the layers that are on the canvas are seen on its picture: their cards differ from the ground."""
    view = window.canvas
    picture = view.viewport().grab().toImage()
    ground = view.canvas.style_set.theme.color("canvas").rgb()
    seen = 0
    for item in view.canvas.items_shown():
        at = view.mapFromScene(item.scene_body().center())
        seen += picture.valid(at) and picture.pixel(at) != ground
    return seen


def test_every_net_is_seen_and_every_solver_is_a_solver(window, qtbot):
    opened = {"net": 0, "solver": 0}
    for path, kind in files():
        if kind not in opened:
            continue
        assert is_solver(path) is (kind == "solver"), path
        open_in(window, path, qtbot)
        document = window.document
        if kind == "solver":
            assert document.solver_path == path.absolute()
            assert window.panels["solver"].isVisible(), path
        else:
            assert document.path == path.absolute()
            assert set(window.canvas.canvas.nodes) == set(document.graph.node_ids())
            window.canvas.frame()
            assert window.canvas.canvas.items_shown(), path
            assert colours_of_cards(window) == len(window.canvas.canvas.items_shown()), path
        assert not document.modified, path
        opened[kind] += 1
        leave(window)
    assert opened == {"net": 119, "solver": 39}


def test_broken_and_empty_files_open_with_what_is_wrong(window, qtbot, tmp_path):
    broken = [path for path, kind in files() if kind in ("unparsed", "empty", "other")]
    for name, data in BROKEN.items():
        (tmp_path / name).write_bytes(data)
        broken.append(tmp_path / name)
    for path in broken:
        open_in(window, path, qtbot)
        document, data = window.document, path.read_bytes()
        if document.path is None:
            solver = document.solver.open()
            assert solver is not None and bytes(solver.graph) == data, path
            assert solver.graph.problems and window.bars, path
        else:
            assert bytes(document.graph) == data, path
            if not data:
                assert "is empty" in window.bars[0].text
            elif document.graph.problems:
                qtbot.waitUntil(lambda document=document: bool(document.diagnostics), timeout=20_000)
        leave(window)
