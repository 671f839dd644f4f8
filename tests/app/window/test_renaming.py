"""F13: a layer and its blob are renamed apart; a namesake of the other phase is asked about."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QInputDialog, QMessageBox

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


def choose(window: MainWindow, monkeypatch: pytest.MonkeyPatch, layer_name: str, blob: str, name: str) -> None:
    """Rename a blob by the menu of a layer."""
    monkeypatch.setattr(QInputDialog, "getText", lambda *_args, **_kwargs: (name, True))
    window.document.selection.set([window.document.graph.named(layer_name)[0].id])
    menu = window.canvas.node_menu()
    (action,) = [each for each in menu.actions() if each.text() == f"Rename blob '{blob}'…"]
    action.trigger()
    menu.deleteLater()


def opened(window: MainWindow, tmp_path, text: str) -> MainWindow:
    path = tmp_path / "net.prototxt"
    path.write_text(text)
    assert window.files.open(path)
    return window


def test_renaming_a_blob_changes_every_reference_and_nothing_else(window, tmp_path, monkeypatch) -> None:
    opened(window, tmp_path, CHAIN)
    choose(window, monkeypatch, "relu", "c", "features")
    assert window.document.graph.text == CHAIN.replace('"c"', '"features"')
    window.document.undo_stack.undo()
    assert window.document.graph.text == CHAIN


@pytest.mark.parametrize(
    ("answer", "left"),
    [(QMessageBox.StandardButton.Yes, 0), (QMessageBox.StandardButton.No, 1), (QMessageBox.StandardButton.Cancel, 3)],
)
def test_a_namesake_of_the_other_phase_is_asked_about(window, tmp_path, monkeypatch, answer, left) -> None:
    opened(window, tmp_path, TWO)
    asked = []
    monkeypatch.setattr(QMessageBox, "question", lambda *args: asked.append(args[2]) or answer)
    choose(window, monkeypatch, "a", "x", "n")
    assert len(asked) == 1 and "'t'" in asked[0]
    assert window.document.graph.text.count('"x"') == left


def test_a_name_that_is_taken_is_refused_and_said(window, tmp_path, monkeypatch) -> None:
    opened(window, tmp_path, CHAIN)
    said: list[str] = []
    window.canvas.refused.connect(said.append)
    choose(window, monkeypatch, "relu", "c", "p")
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
