"""Nets that a solver only tests with, edited in another tab; and shapes that are only assumed, which no run takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.document import Document
from app.training import TrainingPanel
from app.training.launch import Launch
from engine.files import read_stored_layers
from engine.worker import list_runs
from tests.app.training.conftest import PATIENCE, shown_run, wait_for_state
from tests.app.training.hands import click, text_of
from tests.engine.worker.nets import TinyNet, solver_text


@pytest.fixture
def test_net(project: Path, qtbot: QtBot):
    """The net that the solver tests with, open beside the one that it trains."""
    (project / "test.prototxt").write_text(TinyNet(project).text.replace('name: "tiny"', 'name: "tested"'))
    solver = solver_text(net='"tiny.prototxt"', test_iter="2").replace("net:", "train_net:", 1)
    (project / "solver.prototxt").write_text(solver + 'test_net: "test.prototxt"\n')
    document = Document.open(project / "test.prototxt")
    document.set_solver(project / "solver.prototxt")
    yield document
    document.close()


def edit(document: Document) -> None:
    name = document.graph.named("loss")[0].id
    document.apply("Rename", lambda graph: graph.rename_blob(name, 0, "edited_loss"))


def test_a_run_tests_with_the_net_as_it_is_edited(
    panel: TrainingPanel, document: Document, test_net: Document, qtbot: QtBot, project: Path
) -> None:
    document.set_solver(project / "solver.prototxt")
    panel.neighbours = lambda: [document, test_net]
    assert Launch.of(document, panel.neighbours()).test_nets == {}
    edit(test_net)
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    assert set(panel.model.tests) == {"accuracy", "edited_loss"}
    run = shown_run(panel)
    frozen = [path.read_bytes() for path in run.path.glob("test_net_*.prototxt")]
    assert frozen == [bytes(test_net.graph)]
    assert run.solver_file.read_bytes() == (project / "solver.prototxt").read_bytes()
    assert b"edited_loss" not in (project / "test.prototxt").read_bytes()


def test_the_net_that_only_tests_is_not_trained(
    panel: TrainingPanel, test_net: Document, qtbot: QtBot, project: Path
) -> None:
    panel.set_document(test_net)
    click(qtbot, panel, "train_button")
    assert "Open 'tiny.prototxt', which it trains" in text_of(panel, "message_text")
    assert list_runs([project / "runs"]) == []


def assume(document: Document, qtbot: QtBot, **shapes: tuple[int, ...]) -> None:
    document.assumptions.assume(shapes)
    qtbot.waitUntil(lambda: not document.live.busy and bool(document.shapes), timeout=PATIENCE)


def test_a_run_reads_the_data_and_not_what_is_assumed(
    panel: TrainingPanel, document: Document, qtbot: QtBot, project: Path
) -> None:
    document.live.start()
    assume(document, qtbot, data=(0, 9))
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    weights = panel.run.last_snapshot().with_suffix(".caffemodel")
    (hidden,) = [layer for layer in read_stored_layers(weights) if layer.name == "hidden"]
    assert hidden.blobs[0].shape == (8, 4), "as the data have it"


def test_a_run_without_its_data_says_that_what_is_assumed_is_no_data(
    panel: TrainingPanel, document: Document, qtbot: QtBot, project: Path
) -> None:
    (project / "files.txt").unlink()
    document.live.start()
    assume(document, qtbot, data=(0, 4), label=(0,))
    qtbot.waitUntil(lambda: any(each.assumed for each in document.shapes.values()), timeout=PATIENCE)
    click(qtbot, panel, "train_button")
    assert "What is assumed of 'data' is only looked at here" in text_of(panel, "message_text")
    wait_for_state(qtbot, panel, "failed")
    said = text_of(panel, "message_text")
    assert "files.txt" in said and "a run reads the data themselves" in said
