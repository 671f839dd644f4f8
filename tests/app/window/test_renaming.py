"""F13: a layer and its blob are renamed apart; a namesake of the other phase is asked about."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.window.mainwindow import MainWindow
from engine.errors import CheckError
from tests.engine.graph.nets import layer

TRAIN, TEST = "include { phase: TRAIN }", "include { phase: TEST }"
CHAIN = (
    layer("conv", "data", "c", "Convolution")
    + layer("relu", "c", "c", "ReLU")
    + layer("pool", "c", "p", "Pooling", "# c\n  power_param { }")
)
TWO = layer("a", "", "x", more=TRAIN) + layer("b", "x", "y", more=TRAIN) + layer("t", "", "x", more=TEST)


def choose(window: MainWindow, qtbot: QtBot, layer_name: str, blob: str, name: str) -> None:
    """Rename a blob by the menu of a layer; the bar that asks has the keyboard."""
    window.document.selection.set([window.document.graph.named(layer_name)[0].id])
    menu = window.canvas.node_menu()
    (action,) = [each for each in menu.actions() if each.text() == f"Rename blob '{blob}'…"]
    action.trigger()
    menu.deleteLater()
    field = window.tabs.current.bars.findChild(QLineEdit, "window.bar.field")
    assert field.text() == blob and field.hasFocus()
    qtbot.keyClicks(field, name)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.canvas.hasFocus()


def opened(window: MainWindow, tmp_path, text: str) -> MainWindow:
    path = tmp_path / "net.prototxt"
    path.write_text(text)
    assert window.files.open(path)
    return window


def test_renaming_a_blob_changes_every_reference_and_nothing_else(window, tmp_path, qtbot) -> None:
    opened(window, tmp_path, CHAIN)
    choose(window, qtbot, "relu", "c", "features")
    assert window.document.graph.text == CHAIN.replace('"c"', '"features"')
    window.document.undo_stack.undo()
    assert window.document.graph.text == CHAIN


@pytest.mark.parametrize(
    ("answer", "left"),
    [("Rename both", 0), ("Only this one", 1), (None, 3)],
)
def test_a_namesake_of_the_other_phase_is_asked_about(window, tmp_path, qtbot, answer, left) -> None:
    opened(window, tmp_path, TWO)
    choose(window, qtbot, "a", "x", "n")
    (bar,) = [each for each in window.bars if "called 'x' too" in each.text]
    assert "'t'" in bar.text and window.document.graph.text.count('"x"') == 3
    if answer is None:
        bar.dismiss()
    else:
        qtbot.mouseClick(bar.findChild(QPushButton, f"window.bar.action.{answer}"), Qt.MouseButton.LeftButton)
    assert window.document.graph.text.count('"x"') == left


def test_a_name_that_is_taken_is_refused_and_said(window, tmp_path, qtbot) -> None:
    opened(window, tmp_path, CHAIN)
    said: list[str] = []
    window.canvas.refused.connect(said.append)
    choose(window, qtbot, "relu", "c", "p")
    assert said and "'pool'" in said[0] and window.document.graph.text == CHAIN
    with pytest.raises(CheckError):
        window.document.graph.check_rename_blob(window.document.graph.named("conv")[0].id, 0, "p")


def test_renaming_a_layer_warns_that_weights_go_by_name(window, tmp_path) -> None:
    opened(window, tmp_path, CHAIN)
    said: list[str] = []
    window.canvas.refused.connect(said.append)
    for old, new in (("conv", "first"), ("relu", "second")):
        window.canvas.title_edit.open(window.document.graph.named(old)[0].id)
        window.canvas.title_edit.setText(new)
        window.canvas.title_edit.returnPressed.emit()
    assert len(said) == 1 and "'conv'" in said[0] and "'first'" in said[0]
    assert window.document.graph.text == CHAIN.replace('"conv"', '"first"').replace('"relu"', '"second"')


def test_escape_takes_the_question_away_and_changes_nothing(window, tmp_path, qtbot) -> None:
    opened(window, tmp_path, CHAIN)
    window.document.selection.set([window.document.graph.named("relu")[0].id])
    menu = window.canvas.node_menu()
    next(each for each in menu.actions() if each.text().startswith("Rename blob")).trigger()
    menu.deleteLater()
    field = window.tabs.current.bars.findChild(QLineEdit, "window.bar.field")
    qtbot.keyClicks(field, "other")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert window.bars == [] and window.canvas.hasFocus()
    assert window.document.graph.text == CHAIN
