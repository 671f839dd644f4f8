"""A user's first session with the real window and the real data: look, change, undo, train, save."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt

from engine.examples import prepare_example
from tests.app.canvas.hands import Hands

PATIENCE = 120_000


@pytest.fixture
def example(tmp_path):
    paths = prepare_example("lenet", folder=tmp_path / "lenet")
    solver = re.sub(r"max_iter: \d+", "max_iter: 50", paths.solver.read_text())
    paths.solver.write_text(re.sub(r"test_iter: \d+", "test_iter: 1", solver))
    return paths


@pytest.mark.slow
def test_open_change_undo_train_and_save(window, example, qtbot):
    before = example.net.read_bytes()
    assert window.files.open(example.net)
    document, graph = window.document, window.document.graph
    assert document.solver_path == example.solver
    conv = graph.named("conv1")[0].id
    qtbot.waitUntil(lambda: conv in document.shapes and document.shapes[conv].state == "known", timeout=PATIENCE)
    assert document.shapes[conv].tops == ((64, 20, 24, 24),)
    assert window.bars == []

    hands = Hands(window.canvas)
    hands.click(hands.title("conv1"))
    document.selection.flush()
    panel = window.panels["properties"]
    qtbot.waitUntil(lambda: panel.findChild(object, "properties.convolution_param.num_output") is not None)
    editor = panel.findChild(object, "properties.convolution_param.num_output")
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, "32")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert graph.value(conv, ("convolution_param", "num_output")) == "32"
    qtbot.waitUntil(lambda: document.shapes[conv].tops == ((64, 32, 24, 24),), timeout=PATIENCE)
    qtbot.waitUntil(lambda: hands.node("conv1").face.outputs[0].shape == "64\u00d732\u00d724\u00d724")
    assert window.isWindowModified()

    window.actions_by_name["undo"].trigger()
    assert bytes(graph) == before
    qtbot.waitUntil(lambda: document.shapes[conv].tops == ((64, 20, 24, 24),), timeout=PATIENCE)

    training = window.panels["training"]
    training.train_action.trigger()
    qtbot.waitUntil(lambda: training.state in ("finished", "failed", "lost"), timeout=PATIENCE)
    assert training.state == "finished"
    assert training.model.iteration == 50

    assert window.files.save()
    assert example.net.read_bytes() == before
