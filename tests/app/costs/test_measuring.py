"""Measured times in the table of costs."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.costs.model import FIRST_TIME
from tests.app.costs.support import settle


def measure(qtbot, panel):
    timings = panel.document.live.timings
    qtbot.mouseClick(panel.measuring.button, Qt.MouseButton.LeftButton)
    assert timings.is_running and not panel.measuring.bar.isHidden() and panel.measuring.button.text() == "Stop"
    qtbot.waitUntil(lambda: not timings.is_running, timeout=60_000)


@pytest.fixture
def small(document, panel, qtbot):
    """The net of the panel without its layer of an unknown type, so that it can be run."""
    document.apply("Mend", lambda graph: graph.remove_nodes([graph.named("lost")[0].id]))
    settle(qtbot, panel)
    return panel


def test_times_are_measured_have_columns_and_can_be_copied(small, qtbot):
    assert small.view.isColumnHidden(FIRST_TIME)
    measure(qtbot, small)
    assert not small.view.isColumnHidden(FIRST_TIME) and not small.view.isColumnHidden(FIRST_TIME + 1)
    model, times = small.model, small.document.live.timings.times
    assert set(times) == {row.node for row in model.rows}
    forward = [model.index(row, FIRST_TIME).data() for row in range(model.rowCount())]
    assert all(text.endswith((" ms", " \u00b5s")) for text in forward)
    model.sort(FIRST_TIME, Qt.SortOrder.DescendingOrder)
    measured = [times[row.node].forward.median for row in model.rows]
    assert measured == sorted(measured, reverse=True)
    assert len(small.totals.time_texts()) == 2
    small.copy("csv")
    table = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))
    assert table[0][-2:] == ["Forward (ms)", "Backward (ms)"]
    assert float(table[1][-2]) == pytest.approx(measured[0])
    small.copy("markdown")
    assert QGuiApplication.clipboard().text().splitlines()[0].endswith("Forward | Backward |")


def test_times_are_grey_once_the_net_is_another_and_hold_again_after_undo(small, document, qtbot):
    measure(qtbot, small)
    timings, cell = document.live.timings, small.model.index(0, FIRST_TIME)
    assert cell.data(Qt.ItemDataRole.ForegroundRole) is None
    node = document.graph.named("ip")[0].id
    document.apply("Narrow", lambda graph: graph.set_field(node, ("inner_product_param", "num_output"), "5"))
    qtbot.waitUntil(lambda: timings.is_stale, timeout=10_000)
    assert cell.data(Qt.ItemDataRole.ForegroundRole) is not None
    assert "before the net was changed" in cell.data(Qt.ItemDataRole.ToolTipRole)
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: not timings.is_stale, timeout=10_000)
    assert cell.data(Qt.ItemDataRole.ForegroundRole) is None


def test_measuring_can_be_stopped_and_what_cannot_be_measured_is_told(panel, document, qtbot):
    told = []
    panel.told.connect(lambda text, kind: told.append((text, kind)))
    measure(qtbot, panel)
    assert told[0][1] == "error" and "NoSuchType" in told[0][0]
    document.apply("Mend", lambda graph: graph.remove_nodes([graph.named("lost")[0].id]))
    qtbot.mouseClick(panel.measuring.button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(panel.measuring.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not document.live.timings.is_running, timeout=20_000)
    assert not document.live.timings.times and len(told) == 1
    assert panel.measuring.button.text() == "Measure times" and panel.measuring.bar.isHidden()


def test_closing_a_document_ends_what_measures_it(panel, document, qtbot):
    document.apply("Mend", lambda graph: graph.remove_nodes([graph.named("lost")[0].id]))
    qtbot.mouseClick(panel.measuring.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: document.live.timings._process is not None, timeout=20_000)
    panel.shutdown()  # the fixture that looks for processes does the rest
