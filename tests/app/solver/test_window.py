"""A solver in the main window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def nothing_to_ask(window: Any) -> Iterator[None]:
    """The window closes without a question after a test."""
    yield
    for page in window.tabs.pages():
        for solver in page.document.solver.unsaved():
            solver.undo_stack.setClean()


def edit(qtbot: Any, window: Any, name: str, text: str) -> QWidget:
    window._docks.catch_up()
    panel = window.panels["solver"]
    panel.fields.complete()
    editor = panel.findChild(QWidget, f"properties.{name}")
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    return editor  # type: ignore[no-any-return]


def test_a_solver_opens_with_its_net_and_in_front(window: Any, lenet: Path, qtbot: Any) -> None:
    solver = lenet.with_name("lenet_solver.prototxt")
    before, net_before = solver.read_bytes(), lenet.read_bytes()
    assert window.files.open(solver)
    assert window.document.path == lenet
    panel = window.panels["solver"]
    qtbot.waitUntil(panel.isVisible)
    edit(qtbot, window, "base_lr", "0.02")
    assert window.document.unsaved
    assert window.isWindowModified()
    assert window.actions_by_name["save"].isEnabled()
    assert window.tabs.bar.tabText(0).startswith("\u25cf")
    window.actions_by_name["save"].trigger()
    assert solver.read_bytes() == before.replace(b"base_lr: 0.01", b"base_lr: 0.02")
    assert lenet.read_bytes() == net_before
    assert not window.isWindowModified()


def test_undo_in_the_panel_is_the_solvers_and_elsewhere_the_nets(window: Any, lenet: Path, qtbot: Any) -> None:
    window.files.open(lenet.with_name("lenet_solver.prototxt"))
    document = window.document
    node = document.graph.nodes()[2].id
    document.apply("Rename", lambda graph: graph.rename_node(node, "first"))
    editor = edit(qtbot, window, "max_iter", "*2")
    solver = document.solver.opened
    assert "max_iter: 2000" in solver.text
    qtbot.keyClick(editor, Qt.Key.Key_Z, CONTROL)
    assert "max_iter: 1000" in solver.text
    assert document.undo_stack.canUndo()
    window.canvas.setFocus()
    window.actions_by_name["undo"].trigger()
    assert not document.undo_stack.canUndo()
    assert solver.undo_stack.canRedo()


@pytest.mark.parametrize("answer", ["Save", "Discard", "Cancel"])
def test_closing_asks_for_an_edited_solver(
    window: Any, lenet: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    solver = lenet.with_name("lenet_solver.prototxt")
    window.files.open(solver)
    edit(qtbot, window, "max_iter", "77")
    button = getattr(QMessageBox.StandardButton, answer)
    monkeypatch.setattr(QMessageBox, "exec", lambda box: button)
    assert window.files.may_leave(window.document) == (answer != "Cancel")
    assert ("max_iter: 77" in solver.read_text()) == (answer == "Save")


@pytest.mark.parametrize(
    "text", ['net: "gone.prototxt"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 9\n', "base_lr: 0.1\nmax_iter: 9\n"]
)
def test_a_solver_without_its_net_is_edited_alone(window: Any, tmp_path: Path, qtbot: Any, text: str) -> None:
    solver = tmp_path / "my_solver.prototxt"
    solver.write_text(text)
    assert window.files.open(solver)
    assert window.files.open(solver)
    assert len(window.tabs.pages()) == 1
    qtbot.waitUntil(window.panels["solver"].isVisible)
    edit(qtbot, window, "base_lr", "0.5")
    window.actions_by_name["save"].trigger()
    assert solver.read_text() == text.replace("0.1", "0.5")
    assert window.document.path is None


def test_what_is_trained_is_what_the_panel_says(window: Any, lenet: Path, qtbot: Any) -> None:
    from app.training.launch import Launch

    window.files.open(lenet.with_name("lenet_solver.prototxt"))
    edit(qtbot, window, "max_iter", "123")
    assert "max_iter: 123" in Launch.of(window.document).solver_text


@pytest.mark.parametrize("edited", [False, True])
def test_a_new_solver_is_said_with_its_file_and_can_be_deleted_again(
    window: Any, tmp_path: Path, qtbot: Any, edited: bool
) -> None:
    net, solver = tmp_path / "net.prototxt", tmp_path / "net_solver.prototxt"
    net.write_text('layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }\n')
    assert window.files.open(net)
    window.show_panel("solver")
    panel = window.panels["solver"]
    qtbot.mouseClick(panel.create_button, Qt.MouseButton.LeftButton)
    bar = next(bar for bar in window.bars if f"'{solver.name}'" in bar.text)
    if edited:
        edit(qtbot, window, "max_iter", "7")
    bar.findChild(QPushButton, "window.bar.action.Delete it again").click()
    assert solver.exists() == edited
    assert window.document.solver_path == (solver if edited else None)
    assert any("stays" in bar.text for bar in window.bars) == edited
    assert panel.create_button.isVisible() != edited
