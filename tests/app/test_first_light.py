"""The product in one sitting, with mouse and keyboard: open LeNet, change it, undo, train, save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.window.mainwindow import MainWindow
from engine.examples import prepare_example

NUM_OUTPUT = "properties.convolution_param.num_output"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The bundled LeNet with its data, and a solver cut to 50 iterations."""
    paths = prepare_example("lenet", folder=tmp_path)
    solver = paths.solver.read_text()
    for line, short in (("max_iter: 1000", "max_iter: 50"), ("test_interval: 100", "test_interval: 25")):
        assert line in solver
        solver = solver.replace(line, short)
    paths.solver.write_text(solver)
    return paths.net


def node_id(window: MainWindow, name: str) -> Any:
    return next(node.id for node in window.document.graph.nodes() if node.name == name)


def click_node(window: MainWindow, name: str) -> None:
    canvas = window.canvas
    assert canvas is not None
    item = canvas.canvas.nodes[node_id(window, name)]
    center = canvas.mapFromScene(item.sceneBoundingRect().center())
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, center)


def output_shape(window: MainWindow, name: str) -> tuple[int, ...] | None:
    shapes = window.document.shapes.get(node_id(window, name))
    return shapes.tops[0] if shapes is not None and shapes.state == "known" else None


def drawn_shape(window: MainWindow, name: str) -> str:
    assert window.canvas is not None
    return window.canvas.canvas.nodes[node_id(window, name)].face.outputs[0].shape


def shape_becomes(window: MainWindow, name: str, shape: tuple[int, ...]) -> Callable[[], None]:
    def check() -> None:
        assert output_shape(window, name) == shape

    return check


def child(window: MainWindow, name: str) -> QWidget:
    found = window.findChild(QWidget, name)
    assert isinstance(found, QWidget), f"nothing is called '{name}'"
    return found


def test_open_change_undo_train_save(window: MainWindow, example: Path, qtbot: QtBot) -> None:
    original = example.read_bytes()
    assert window.files.open(example)
    qtbot.waitUntil(shape_becomes(window, "conv1", (64, 20, 24, 24)), timeout=20_000)

    click_node(window, "conv1")
    qtbot.waitUntil(lambda: window.findChild(QWidget, NUM_OUTPUT) is not None)
    field = child(window, NUM_OUTPUT)
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, "32")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(shape_becomes(window, "conv1", (64, 32, 24, 24)), timeout=10_000)
    assert output_shape(window, "pool1") == (64, 32, 12, 12)
    assert drawn_shape(window, "conv1") == "64\u00d732\u00d724\u00d724"
    assert window.isWindowModified()

    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    changed = [
        (old, new)
        for old, new in zip(original.splitlines(), example.read_bytes().splitlines(), strict=True)
        if old != new
    ]
    assert [(old.strip(), new.strip()) for old, new in changed] == [(b"num_output: 20", b"num_output: 32")]

    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(shape_becomes(window, "conv1", (64, 20, 24, 24)), timeout=10_000)

    panel = window.panels["training"]
    qtbot.mouseClick(child(window, "training.train_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.state == "finished", timeout=120_000)
    assert len(panel.model.train) == 50
    assert panel.model.tests["accuracy"].column(1)[-1] > 0.5

    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert example.read_bytes() == original
    assert not window.isWindowModified()
