"""A training keeps the plugin code that it started with; the panel says so, and can start it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.document import Document
from app.training.panel import TrainingPanel
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.worker import kill, list_runs
from tests.app.training.conftest import MakePanel, wait_for_state
from tests.app.training.hands import button
from tests.engine.plugins.helpers import write

LAYER = """
import caffe

class Same(caffe.Layer):
    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top):
        print("factor", FACTOR)
        top[0].data[...] = bottom[0].data * FACTOR
    def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = top[0].diff * FACTOR
"""
NET = """layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "same" layer: "Same" } }
layer { name: "ip" type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 1 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "t" top: "loss" }
"""
SOLVER = 'net: "net.prototxt"\nbase_lr: 0.001\nlr_policy: "fixed"\nmax_iter: 100000000\nsnapshot_prefix: "s"\n'


@pytest.fixture
def document(tmp_path: Path, qtbot: QtBot) -> Iterator[Document]:
    write(tmp_path, same=LAYER.replace("FACTOR", "1"))
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    opened = Document.open(tmp_path / "net.prototxt")
    opened.live.trusted = True
    yield opened
    opened.close()


def test_an_edited_plugin_is_told_and_used_after_a_restart(
    document: Document, make_panel: MakePanel, qtbot: QtBot, tmp_path: Path
) -> None:
    panel: TrainingPanel = make_panel()
    panel.plugins_edited()  # nothing trains
    panel.train()
    wait_for_state(qtbot, panel, "running")
    run = panel.run
    assert run is not None
    qtbot.waitUntil(lambda: bool(run.environment().get("plugin_sources")), timeout=20_000)
    panel.plugins_edited()
    qtbot.wait(200)
    assert panel.strip.notice is None  # saved as it was
    write(tmp_path, same=LAYER.replace("FACTOR", "7"))
    panel.plugins_edited()
    qtbot.waitUntil(lambda: panel.strip.notice is not None, timeout=10_000)
    notice = panel.strip.notice
    assert notice is not None and "'same.py' was edited" in notice.text and "started with" in notice.text
    assert notice.text in panel.log.toPlainText()
    write(tmp_path, same=LAYER.replace("FACTOR", "1"))
    panel.plugins_edited()
    qtbot.waitUntil(lambda: panel.strip.notice is None, timeout=10_000)
    write(tmp_path, same=LAYER.replace("FACTOR", "7"))
    panel.plugins_edited()
    qtbot.waitUntil(lambda: panel.strip.notice is not None, timeout=10_000)
    button(panel, "message_action_0").click()
    qtbot.waitUntil(lambda: "factor 7" in run.log_file.read_text(), timeout=30_000)
    assert panel.run == run and panel.model.live
    assert panel.model.iteration > 0 and run.last_snapshot() is not None
    panel.stop()
    wait_for_state(qtbot, panel, "stopped")


def test_a_training_in_a_tab_that_is_not_in_view_is_told_of_too(
    window: MainWindow, settings: WindowSettings, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is saved while another net is looked at: its bar says so, and the panel when it is come back to."""
    write(tmp_path, same=LAYER.replace("FACTOR", "1"))
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    settings.trust(tmp_path)
    assert window.files.open(tmp_path / "net.prototxt")
    panel: TrainingPanel = window.panels["training"]
    logged: list[str] = []  # what the layer prints may soon push it out of the log
    monkeypatch.setattr(panel.log, "add", logged.append)
    panel.train_action.trigger()
    try:
        wait_for_state(qtbot, panel, "running")
        run = panel.run
        assert run is not None
        qtbot.waitUntil(lambda: bool(run.environment().get("plugin_sources")), timeout=20_000)
        window.beginnings.new_from_template("lenet")
        assert panel.run is None
        qtbot.waitUntil(lambda: window.document.live.is_started and not window.document.live.busy, timeout=20_000)
        write(tmp_path, same=LAYER.replace("FACTOR", "7"))
        told = "'same.py' was edited: the training of 'net.prototxt' goes on with the code it started with."
        qtbot.waitUntil(lambda: any(bar.text.startswith(told) for bar in window.bars), timeout=20_000)
        for _time in range(2):  # it is there again whenever the tab is
            window.show_document(window.tabs.pages()[0].document)
            assert panel.run == run
            qtbot.waitUntil(lambda: panel.strip.notice is not None, timeout=10_000)
            assert "this training goes on" in panel.strip.notice.text
            assert button(panel, "message_action_0").text() == "Restart from a snapshot"
            window.show_document(window.tabs.pages()[1].document)
        window.show_document(window.tabs.pages()[0].document)
        assert sum(text.count("this training goes on") for text in logged) == 1
    finally:
        for each in list_runs([tmp_path / "runs"]):
            kill(each)
    wait_for_state(qtbot, panel, "lost")
