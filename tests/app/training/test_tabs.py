"""Several documents: the training of one goes on while another is shown, and is there again with its tab."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from app.document import Document
from app.training import TrainingPanel
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.worker import Event, Viewer
from tests.app.training.conftest import PATIENCE, MakePanel, wait_for_state
from tests.app.training.hands import click, train


@pytest.fixture
def other() -> Iterator[Document]:
    document = Document.new()
    yield document
    document.close()


def test_a_training_goes_on_unseen_and_is_shown_again(
    endless: Path, make_panel: MakePanel, document: Document, other: Document, qtbot: QtBot
) -> None:
    panel = make_panel()
    train(qtbot, panel)
    run, log = panel.run, panel.log.toPlainText()
    model, before = panel.model, panel.model.iteration
    panel.set_document(other)
    assert panel.state == "idle"
    assert panel.log.toPlainText() == ""
    qtbot.waitUntil(lambda: model.iteration > before + 5, timeout=PATIENCE)
    assert panel.model is not model
    panel.set_document(document)
    assert panel.model is model and panel.run == run
    assert panel.state == "running"
    assert panel.log.toPlainText().startswith(log)
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "stopped")


def test_two_trainings_side_by_side_do_not_mix(
    endless: Path, make_panel: MakePanel, document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    second = Document.open(endless / "tiny.prototxt")
    panel = make_panel()
    try:
        train(qtbot, panel)
        first_run = panel.run
        panel.set_document(second)
        assert panel.state == "idle"
        train(qtbot, panel)
        assert panel.run != first_run
        panel.set_document(document)
        assert panel.run == first_run
        click(qtbot, panel, "stop_button")
        wait_for_state(qtbot, panel, "stopped")
        panel.set_document(second)
        assert panel.state == "running"
        click(qtbot, panel, "stop_button")
        wait_for_state(qtbot, panel, "stopped")
    finally:
        panel.set_document(None)
        second.close()


def test_changing_tabs_does_not_wait_for_the_thread_of_a_run(
    endless: Path,
    make_panel: MakePanel,
    document: Document,
    other: Document,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The thread is held up in the midst of a look: who waited for it would not come back before that ends."""
    panel = make_panel()
    train(qtbot, panel)
    usual = Viewer.events
    inside, go_on, gave_up = threading.Event(), threading.Event(), threading.Event()

    def held(viewer: Viewer, timeout: float = 0.0) -> list[Event]:
        inside.set()
        if not go_on.wait(10):
            gave_up.set()
        return usual(viewer, timeout)

    monkeypatch.setattr(Viewer, "events", held)
    qtbot.waitUntil(inside.is_set)
    for each in (other, document, other):
        panel.set_document(each)
    panel.forget(document)
    assert not gave_up.is_set()
    go_on.set()


def test_the_end_of_a_training_out_of_view_is_told(project: Path, qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(WindowSettings(QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)))
    try:
        window.resize(1200, 800)
        window.show()
        window.load_panels()
        assert window.files.open(project / "tiny.prototxt")
        panel: TrainingPanel = window.panels["training"]
        panel.train_action.trigger()
        window.beginnings.new_from_template("lenet")
        told = "Training of 'tiny.prototxt': finished."
        qtbot.waitUntil(lambda: any(bar.text == told for bar in window.bars), timeout=PATIENCE)
        assert panel.state == "idle"
        window.show_document(window.tabs.pages()[0].document)
        assert panel.state == "finished"
    finally:
        window.close()
        window.deleteLater()
