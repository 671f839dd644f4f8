"""Files of all kinds dropped on the window: each opens, or is said in a sentence what it is and what to do with it."""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QPushButton

from app.training.panel import TrainingPanel
from app.window.bars import InfoBar
from app.window.mainwindow import MainWindow
from engine.files import write_blob
from engine.schema import read_net
from engine.worker import kill, list_runs, read_history
from tests.app.training.conftest import wait_for_state
from tests.engine.worker.nets import TinyNet, solver_text

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s", 0, b"IEND") + struct.pack(">I", zlib.crc32(b"IEND"))


def drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    window.dropEvent(QDropEvent(QPointF(300, 300), copy, data, left, Qt.KeyboardModifier.NoModifier))


def bar_with(window: MainWindow, words: str) -> InfoBar:
    found = next((bar for bar in window.bars if words in bar.text), None)
    assert found is not None, (words, [bar.text for bar in window.bars])
    return found


def press(qtbot, bar: InfoBar, label: str) -> None:
    labels = {button.text(): button for button in bar.findChildren(QPushButton)}
    qtbot.mouseClick(labels[label], Qt.MouseButton.LeftButton)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    net = TinyNet.write(tmp_path)
    (tmp_path / "tiny.prototxt").write_text(net.text)
    (tmp_path / "net.prototxt").unlink()
    (tmp_path / "solver.prototxt").write_text(solver_text(net='"tiny.prototxt"'))
    yield tmp_path
    for run in list_runs([tmp_path / "runs"]):
        kill(run)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.png", PNG, "is an image"),
        ("a.zip", b"PK\x03\x04rest", "compressed archive"),
        ("a.prototxt", b"<!DOCTYPE html><html>", "HTML page"),
        ("a.caffemodel", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("a.pkl", b"\x80\x04rest", "pickle"),
        ("a.npy", b"\x93NUMPY\1\0", "NumPy"),
        ("a.bin", bytes(range(256)) * 4, "does not know"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "HDF5Data"),
        ("net.prototxt.canvas.json", b"{}", "how 'net.prototxt' is arranged"),
        ("solver.prototxt.extras.json", b"{}", "the solver 'solver.prototxt'"),
    ],
)
def test_what_is_no_net_is_named_with_what_to_do(window, lenet, tmp_path, name, data, words):
    assert window.files.open(lenet)
    path = tmp_path / name
    path.write_bytes(data)
    drop(window, path)
    bar = bar_with(window, words)
    assert name in bar.text and bar.text.endswith(".")
    assert window.document.path == lenet and len(window.tabs.pages()) == 1


def test_a_net_with_strange_characters_is_still_a_net(window, tmp_path):
    path = tmp_path / "odd.prototxt"
    path.write_bytes(b'name: "\x01\x1b"\nlayer { name: "a" type: "Input" top: "a" }\n')
    drop(window, path)
    assert window.document.path == path and window.document.graph.named("a")


def test_a_big_file_is_not_read_to_know_what_it_is(window, tmp_path):
    path = tmp_path / "big.bin"
    with path.open("wb") as file:
        file.write(os.urandom(4096))
        file.truncate(200 * 2**20)
    start = time.thread_time()
    drop(window, path)
    assert time.thread_time() - start < 0.15
    assert "does not know" in bar_with(window, "big.bin").text


def test_mixed_kinds_at_once(window, lenet, tmp_path, qtbot):
    """A net, its solver, an image, and a folder of plugins: none is in the way of another."""
    plugins = tmp_path / "mine"
    plugins.mkdir()
    (plugins / "twice.py").write_text("import caffe\n\n\nclass Twice(caffe.Layer):\n    pass\n")
    (tmp_path / "a.png").write_bytes(PNG)
    database = tmp_path / "train_lmdb"
    database.mkdir()
    (database / "data.mdb").write_bytes(b"")
    drop(window, plugins, tmp_path / "a.png", lenet.with_name("lenet_solver.prototxt"), lenet)
    assert [page.document.path for page in window.tabs.pages()] == [lenet]
    assert window.document.solver_path == lenet.with_name("lenet_solver.prototxt")
    bar_with(window, "is an image")
    qtbot.waitUntil(lambda: any("Plugin folder 'mine' has 1 layer" in bar.text for bar in window.bars), timeout=10_000)
    drop(window, database)
    bar_with(window, "name it there as source")


def test_code_is_shown_where_code_is_edited(window, lenet, tmp_path):
    assert window.files.open(lenet)
    path = tmp_path / "twice.py"
    path.write_text("import caffe\n")
    drop(window, path)
    assert window.panels["code"].edit.toPlainText() == "import caffe\n"
    assert window.document.path == lenet


def test_a_mean_goes_to_the_data_layers_as_one_step(window, lenet, tmp_path, qtbot):
    assert window.files.open(lenet)
    path = tmp_path / "mean.binaryproto"
    write_blob(path, np.zeros((1, 1, 28, 28), np.float32))
    drop(window, path)
    before = bytes(window.document.graph)
    press(qtbot, bar_with(window, "mean of images"), "Take it as the mean of 'mnist'")
    assert window.document.graph.text.count(f'mean_file: "{path}"') == 2
    window.document.undo_stack.undo()
    assert bytes(window.document.graph) == before


def test_weights_without_a_net_say_so(window, tmp_path):
    path = tmp_path / "w.caffemodel"
    path.write_bytes(b"\x0a\x01x\xa2\x06\x03\x0a\x01y")
    drop(window, path)
    assert "Open their net first" in bar_with(window, "holds trained weights").text


def test_weights_open_the_net_that_they_hold(window, lenet, tmp_path, qtbot):
    path = tmp_path / "toy.caffemodel"
    net = read_net('name: "toy" layer { name: "c" type: "InnerProduct" bottom: "x" top: "y" phase: TRAIN }')
    net.layer[0].blobs.add(data=[1.0, 2.0]).shape.dim.extend([1, 2])
    path.write_bytes(net.SerializeToString())
    assert window.files.open(lenet)
    assert window.files.open(path), "the net in view has no such layer"
    made = window.document
    assert (made.path, made.label, made.weights, made.unsaved) == (None, "toy", path, True)
    assert made.graph.named("c") and "blobs" not in made.graph.text and "phase" not in made.graph.text
    bar = bar_with(window, "This is the net that 'toy.caffemodel' holds")
    assert {"Save as\u2026", "Train from these weights"} <= {each.text() for each in bar.findChildren(QPushButton)}
    drop(window, path)
    press(qtbot, bar_with(window, "holds trained weights"), "Open the net in it")
    assert window.document is made and len(window.tabs.pages()) == 2, "it is open already"


def test_weights_and_a_state_are_trained_from(window, project, qtbot, monkeypatch):
    """The files of a short training, dropped on its net: one begins anew from the weights, the other goes on."""
    assert window.files.open(project / "tiny.prototxt")
    panel: TrainingPanel = window.panels["training"]
    panel.train_action.trigger()
    wait_for_state(qtbot, panel, "finished")
    state = panel.run.last_snapshot()
    reached = panel.model.iteration
    weights = state.with_suffix(".caffemodel")
    drop(window, weights)
    press(qtbot, bar_with(window, "holds trained weights"), "Name them in the solver")
    assert f'weights: "{weights}"' in window.document.solver_text and window.document.unsaved
    window.document.solver.opened.undo_stack.undo()
    drop(window, weights)
    press(qtbot, bar_with(window, "holds trained weights"), "Train 'tiny.prototxt' from them")
    wait_for_state(qtbot, panel, "finished")
    assert str(weights) in str(panel.run.environment()) or "caffemodel" in panel.log.toPlainText()
    longer = solver_text(net='"tiny.prototxt"', max_iter=str(2 * reached))
    (project / "solver.prototxt").write_text(longer)
    window.files.look_at_disk()
    drop(window, state)
    press(qtbot, bar_with(window, "state of a solver"), "Go on training 'tiny.prototxt'")
    wait_for_state(qtbot, panel, "finished")
    assert panel.model.iteration == 2 * reached
    assert read_history(panel.run.metrics_file).points[:, 0].min() >= reached


def test_many_files_are_asked_about_and_opened_one_after_the_other(window, tmp_path, qtbot):
    paths = [tmp_path / f"net {number}.prototxt" for number in range(21)]
    for path in paths:
        path.write_text('layer { name: "a" type: "Input" top: "a" }')
    before = window.tabs.pages()
    drop(window, *paths)
    bar = bar_with(window, "21 files were dropped")
    assert window.tabs.pages() == before
    bar.dismiss()
    drop(window, *paths[:6])
    assert len(window.tabs.pages()) == 1, "the window answers before all are open"
    qtbot.waitUntil(lambda: [page.document.path for page in window.tabs.pages()] == paths[:6], timeout=20_000)


def test_names_that_no_file_can_have_do_no_harm(window, tmp_path):
    before = window.tabs.pages()
    window.files.open_dropped(["", "nul\0.prototxt", f"{'x' * 5000}.prototxt", str(tmp_path / "100%\n.prototxt")])
    assert window.tabs.pages() == before
    assert any("cannot be read" in bar.text for bar in window.bars)
