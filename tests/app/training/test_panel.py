"""The panel as a user meets it: real clicks, real trainings."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QComboBox, QMainWindow
from pytestqt.qtbot import QtBot

from app.document import Document
from app.training import TrainingPanel
from engine.worker import list_runs
from tests.app.training.conftest import PATIENCE, MakePanel, our_threads, shown_run, wait_for_state, write_solver
from tests.app.training.hands import button, click, text_of, train
from tests.engine.worker.nets import TinyNet


def test_before_training_it_says_what_to_do(panel: TrainingPanel) -> None:
    assert panel.state == "idle"
    assert text_of(panel, "hint") == "Press Train (Ctrl+Enter) to see loss and accuracy here."
    for name in ("pause_button", "stop_button", "snapshot_button"):
        assert not button(panel, name).isEnabled()
        assert button(panel, name).toolTip() == "Nothing is training."
    assert "Ctrl+Return" in button(panel, "train_button").toolTip()


def test_fifty_iterations_end_with_curves_figures_and_a_run_folder(
    panel: TrainingPanel, qtbot: QtBot, project: Path
) -> None:
    (project / "solver.prototxt.extras.json").write_text('{"warm_up": {"iterations": 5}}')
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    assert len(panel.model.train) == 50
    assert set(panel.model.tests) == {"accuracy", "loss"}
    assert text_of(panel, "iteration") == "50 / 50"
    assert text_of(panel, "accuracy").endswith("%")
    assert "Finished" in text_of(panel, "state")
    curves = panel.pictures.curves
    assert curves is not None
    assert len(curves.loss_plot.curve("loss").xData) == 50
    assert len(curves.loss_plot.curve("smoothed").xData) == 50
    assert len(curves.loss_plot.curve("test loss").xData) == 3
    assert len(curves.test_plot.curve("accuracy").xData) == 3
    assert "Iteration 10, lr = 0.1" in panel.log.toPlainText()
    (run,) = list_runs([project / "runs"])
    assert shown_run(panel) == run
    assert run.net_file.read_bytes() == (project / "tiny.prototxt").read_bytes()
    assert run.solver_file.read_bytes() == (project / "solver.prototxt").read_bytes()
    assert run.extras_file.read_text() == '{"warm_up": {"iterations": 5}}'
    assert panel.runs.table.topLevelItem(0).text(0) == run.name
    assert panel.runs.table.topLevelItem(0).text(1) == "finished"
    assert panel.train_action.isEnabled()


@pytest.mark.usefixtures("endless")
def test_pause_resume_snapshot_stop_and_resume(panel: TrainingPanel, qtbot: QtBot) -> None:
    train(qtbot, panel)
    assert not button(panel, "train_button").isEnabled()
    assert "Stop it first" in button(panel, "train_button").toolTip()
    click(qtbot, panel, "pause_button")
    wait_for_state(qtbot, panel, "paused")
    assert button(panel, "pause_button").text() == "Resume"
    paused_at = panel.model.iteration
    click(qtbot, panel, "snapshot_button")
    snapshots = shown_run(panel).snapshots
    qtbot.waitUntil(lambda: any(snapshots.glob("*.solverstate")), timeout=PATIENCE)
    click(qtbot, panel, "pause_button")
    wait_for_state(qtbot, panel, "running")
    qtbot.waitUntil(lambda: panel.model.iteration > paused_at, timeout=PATIENCE)
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "stopped")
    stopped_at = panel.model.iteration
    assert stopped_at > paused_at
    assert button(panel, "message_action_0").text().startswith("Resume from ")
    click(qtbot, panel, "message_action_0")
    qtbot.waitUntil(lambda: panel.state == "running" and panel.model.iteration > stopped_at, timeout=PATIENCE)
    points = panel.model.train.x
    assert (points[1:] - points[:-1] == 1).all()
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "stopped")


@pytest.mark.usefixtures("endless")
def test_a_killed_worker_is_said_to_be_lost_and_all_goes_on(panel: TrainingPanel, qtbot: QtBot, project: Path) -> None:
    train(qtbot, panel)
    click(qtbot, panel, "snapshot_button")
    qtbot.waitUntil(lambda: shown_run(panel).last_snapshot() is not None, timeout=PATIENCE)
    os.kill(shown_run(panel).read_status().pid, signal.SIGKILL)
    began = time.monotonic()
    wait_for_state(qtbot, panel, "lost")
    assert time.monotonic() - began < 3.0
    assert "Lost" in text_of(panel, "state")
    assert shown_run(panel).name in text_of(panel, "message_text")
    assert "Resume from the last snapshot" in text_of(panel, "message_text")
    click(qtbot, panel, "message_action_0")
    wait_for_state(qtbot, panel, "running")
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "stopped")
    write_solver(project)
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    assert panel.strip.isHidden()


@pytest.mark.usefixtures("endless")
def test_the_training_outlives_the_window_and_a_new_one_attaches(make_panel: MakePanel, qtbot: QtBot) -> None:
    first = make_panel()
    train(qtbot, first)
    run = shown_run(first)
    first.close()
    iteration = run.status().iteration
    assert run.status().state == "running"

    second = make_panel()
    qtbot.waitUntil(lambda: second.strip.notice is not None, timeout=PATIENCE)
    assert run.name in text_of(second, "message_text")
    click(qtbot, second, "message_action_0")
    wait_for_state(qtbot, second, "running")
    qtbot.waitUntil(lambda: second.model.iteration > iteration, timeout=PATIENCE)
    assert second.model.train.x[0] == 0  # what happened before is there as well
    qtbot.waitUntil(lambda: "Solving tiny" in second.log.toPlainText(), timeout=PATIENCE)
    click(qtbot, second, "stop_button")
    wait_for_state(qtbot, second, "stopped")


@pytest.mark.usefixtures("endless")
def test_a_second_stop_ends_it_at_once(panel: TrainingPanel, qtbot: QtBot) -> None:
    train(qtbot, panel)
    os.kill(shown_run(panel).read_status().pid, signal.SIGSTOP)  # as an iteration that takes for ever
    click(qtbot, panel, "stop_button")
    assert button(panel, "stop_button").text() == "Stop now"
    assert "Stopping" in text_of(panel, "state")
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "lost")


@pytest.mark.usefixtures("endless")
def test_a_training_that_is_still_starting_can_be_stopped(panel: TrainingPanel, qtbot: QtBot) -> None:
    click(qtbot, panel, "train_button")
    assert panel.state == "waiting"
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "stopped", "lost")


def test_a_failure_is_one_sentence_with_details_and_a_mark_on_the_node(
    panel: TrainingPanel, document: Document, qtbot: QtBot
) -> None:
    broken = TinyNet.with_layer('layer { name: "odd" type: "Convolutoin" bottom: "data" top: "x" }')
    document.apply("Break", lambda graph: graph.replace_text(broken.encode()))
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "failed")
    sentence = text_of(panel, "message_text")
    assert "'odd'" in sentence
    assert "Convolution" in sentence
    assert "\n" not in sentence
    assert panel.strip.details.isHidden()
    click(qtbot, panel, "message_details")
    assert panel.strip.details.isVisible()
    assert "Traceback" in panel.strip.details.toPlainText()
    click(qtbot, panel, "message_copy")
    assert QGuiApplication.clipboard().text().startswith(sentence)
    node = next(node.id for node in document.graph.nodes() if node.name == "odd")
    assert document.live.node_errors[node].message == sentence
    document.undo_stack.undo()
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    assert not document.live.node_errors


def test_code_of_the_folder_is_run_only_after_asking(
    panel: TrainingPanel, document: Document, qtbot: QtBot, project: Path
) -> None:
    marker = project / "ran"
    (project / "mine.py").write_text(
        "import caffe\n"
        "class Mine(caffe.Layer):\n"
        f"    def setup(self, bottom, top): open({str(marker)!r}, 'w').close()\n"
        "    def reshape(self, bottom, top): top[0].reshape(1)\n"
        "    def forward(self, bottom, top): raise ValueError('unwell')\n"
        "    def backward(self, top, propagate_down, bottom): pass\n"
    )
    layer = 'layer { name: "m" type: "Python" bottom: "data" top: "m" python_param { module: "mine" layer: "Mine" } }'
    document.apply("Add", lambda graph: graph.replace_text(TinyNet.with_layer(layer).encode()))
    click(qtbot, panel, "train_button")
    assert panel.state == "idle"
    assert project.name in text_of(panel, "message_text")
    assert not marker.exists()
    with qtbot.waitSignal(panel.folder_trusted) as told:
        click(qtbot, panel, "message_action_0")
    assert told.args == [project]
    wait_for_state(qtbot, panel, "failed")
    assert marker.exists()
    assert "unwell" in text_of(panel, "message_text")
    assert "mine.py" in panel.strip.details.toPlainText()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The net is empty."),
        ('layer { name: "r" type: "ReLU" bottom: "?" top: "r" }', "Layer 'r' has an open bottom."),
    ],
)
def test_what_is_in_the_way_of_training_is_said(
    panel: TrainingPanel, document: Document, text: str, reason: str
) -> None:
    document.apply("Edit", lambda graph: graph.replace_text(text.encode()))
    assert not panel.train_action.isEnabled()
    assert button(panel, "train_button").toolTip().startswith(reason)
    assert text_of(panel, "hint").startswith(reason)


def test_the_solver_can_be_chosen_and_made_up(
    panel: TrainingPanel, document: Document, qtbot: QtBot, project: Path
) -> None:
    box = panel.solver_box
    assert isinstance(box, QComboBox)
    assert box.currentText() == "solver.prototxt"
    (project / "quick_solver.prototxt").write_text((project / "solver.prototxt").read_text().replace("50", "30"))
    box.refresh()
    names = [box.itemText(index) for index in range(box.count())]
    assert names == ["quick_solver.prototxt", "solver.prototxt", "Default settings", "", "Choose a file…"]
    box.setCurrentIndex(0)
    box.activated.emit(0)
    assert document.solver_path == project / "quick_solver.prototxt"
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    assert panel.model.max_iter == 30
    box.activated.emit(2)
    assert document.solver_path is None
    assert box.currentText() == "Default settings"
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    assert panel.model.max_iter == 1000
    assert panel.model.accuracy is not None


def test_runs_can_be_opened_and_resumed_from_the_list(panel: TrainingPanel, qtbot: QtBot, project: Path) -> None:
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    first = shown_run(panel)
    write_solver(project, max_iter="20")
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "waiting")
    wait_for_state(qtbot, panel, "finished")
    panel.findChild(object, "training.tabs").setCurrentIndex(1)
    rows = {panel.runs.table.topLevelItem(row).text(0): row for row in range(2)}
    assert not button(panel, "run_open_button").isEnabled()
    panel.runs.table.setCurrentItem(panel.runs.table.topLevelItem(rows[first.name]))
    click(qtbot, panel, "run_open_button")
    qtbot.waitUntil(lambda: panel.run == first and panel.state == "finished", timeout=PATIENCE)
    assert len(panel.model.train) == 50
    assert "Optimization Done" in panel.log.toPlainText()
    assert not button(panel, "run_resume_button").isEnabled()
    assert button(panel, "run_resume_button").toolTip().startswith("All its 50 iterations are done. To go on, raise")


def test_runs_go_to_the_users_folder_where_the_net_may_not_be_written(
    project: Path, document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from engine.worker import places

    assert places.run_parents(document.path)[0] == project / "runs"
    monkeypatch.setattr(places, "user_data_path", lambda: tmp_path / "user")
    monkeypatch.setattr(places.os, "access", lambda path, mode: False)
    own, beside = places.run_parents(document.path)
    assert own.parent == tmp_path / "user" / "runs"
    assert own.name.startswith("tiny-")
    assert beside == project / "runs"
    assert places.run_parents(None)[0].is_relative_to(tmp_path / "user")


@pytest.mark.usefixtures("endless")
def test_keys_work_from_anywhere_in_the_window(document: Document, qtbot: QtBot) -> None:
    window = QMainWindow()
    panel = TrainingPanel(document, window)
    window.setCentralWidget(panel)
    window.resize(1000, 400)
    try:
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        assert [key.toString() for key in panel.stop_action.shortcuts()] == ["Shift+F5"]
        qtbot.keyClick(window, Qt.Key.Key_F5)
        qtbot.waitUntil(lambda: panel.model.iteration > 0, timeout=PATIENCE)
        qtbot.keyClick(window, Qt.Key.Key_F6)
        wait_for_state(qtbot, panel, "paused")
        qtbot.keyClick(window, Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
        wait_for_state(qtbot, panel, "stopped")
        assert QKeySequence("Ctrl+Return") in panel.train_action.shortcuts()
    finally:
        panel.shutdown()
        window.deleteLater()


def test_another_document_starts_afresh(panel: TrainingPanel, qtbot: QtBot, tmp_path: Path) -> None:
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    other = Document.new()
    panel.set_document(other)
    assert panel.state == "idle"
    assert panel.log.toPlainText() == ""
    assert panel.runs.table.topLevelItemCount() == 0 or tmp_path not in panel.runs.active_runs()
    panel.set_document(None)
    assert button(panel, "train_button").toolTip() == "Open a net first."
    other.close()


def test_closing_leaves_no_thread_and_no_timer(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel()
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "finished")
    panel.close()
    qtbot.waitUntil(lambda: our_threads() == [], timeout=5000)
    assert [timer for timer in panel.findChildren(QTimer) if timer.isActive()] == []
