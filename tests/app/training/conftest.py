from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.document import Document
from app.qt import fault_logger
from app.training import TrainingPanel
from engine.worker import RunFolder, kill, list_runs
from tests.engine.worker.nets import FOREVER, TinyNet, solver_text

PATIENCE = 20_000

MakePanel = Callable[[], TrainingPanel]


def our_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("netcanvas")]


@pytest.fixture(autouse=True)
def no_faults(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """An exception in an event or paint override is logged, not raised: here it fails the test."""
    yield
    for phase in ("setup", "call"):
        assert [record.getMessage() for record in caplog.get_records(phase) if record.name == fault_logger.name] == []


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A folder with the tiny net, its data and its solver; its trainings are killed and its threads gone at the end."""
    net = TinyNet.write(tmp_path)
    (tmp_path / "tiny.prototxt").write_text(net.text)
    (tmp_path / "net.prototxt").unlink()
    write_solver(tmp_path)
    yield tmp_path
    for run in list_runs([tmp_path / "runs"]):
        kill(run)
    deadline = time.monotonic() + 10.0
    while our_threads() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert our_threads() == []
    assert [run for run in list_runs([tmp_path / "runs"]) if run.status().active] == []


def write_solver(folder: Path, **changes: str) -> None:
    (folder / "solver.prototxt").write_text(solver_text(net='"tiny.prototxt"', **changes))


@pytest.fixture
def endless(project: Path) -> Path:
    write_solver(project, **FOREVER)
    return project


@pytest.fixture
def document(project: Path, qtbot: QtBot) -> Iterator[Document]:
    document = Document.open(project / "tiny.prototxt")
    yield document
    document.close()


@pytest.fixture
def make_panel(document: Document, qtbot: QtBot) -> Iterator[MakePanel]:
    panels: list[TrainingPanel] = []

    def make() -> TrainingPanel:
        panel = TrainingPanel(document)
        panel.resize(1000, 320)
        panels.append(panel)
        with qtbot.waitExposed(panel):
            panel.show()
        qtbot.waitUntil(lambda: panel.pictures.curves is not None, timeout=PATIENCE)
        return panel

    yield make
    for panel in panels:
        panel.close()
        panel.deleteLater()


@pytest.fixture
def panel(make_panel: MakePanel) -> TrainingPanel:
    return make_panel()


def wait_for_state(qtbot: QtBot, panel: TrainingPanel, *states: str) -> None:
    qtbot.waitUntil(lambda: panel.state in {*states, "failed", "lost"}, timeout=PATIENCE)
    assert panel.state in states, f"expected {states}, is '{panel.state}': {panel.model.notice}"


def shown_run(panel: TrainingPanel) -> RunFolder:
    run = panel.run
    assert run is not None
    return run
