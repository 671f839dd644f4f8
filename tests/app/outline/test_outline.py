"""The outline says what the canvas shows, and their selections are one."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.document import Document
from app.outline import OutlinePanel
from engine.graph import OpGraph
from tests.app.canvas.typist import random_edit


@pytest.fixture
def panel(document, qtbot):
    shown = OutlinePanel(document)
    tester = QAbstractItemModelTester(shown.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    qtbot.addWidget(shown)
    shown.resize(360, 600)
    shown.show()
    yield shown
    shown.shutdown()
    del tester


def texts(panel: OutlinePanel, parent: QModelIndex | None = None) -> list[str]:
    model, parent = panel.model, parent or QModelIndex()
    return [model.index(row, 0, parent).data() for row in range(model.rowCount(parent))]


def row(panel: OutlinePanel, name: str) -> QModelIndex:
    return panel.model.index(texts(panel).index(name), 0)


def test_layers_stand_in_document_order_with_what_they_read_and_write(panel, document):
    assert texts(panel) == [node.name for node in document.graph.nodes()]
    assert texts(panel, row(panel, "conv2")) == ["reads pool1 from pool1", "writes conv2, read by pool2"]
    assert texts(panel, row(panel, "conv1"))[0] == "reads data from mnist", "one name for both phases"


def test_a_row_says_all_to_a_screen_reader(panel):
    said = row(panel, "conv1").data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("conv1, Convolution; reads data; writes conv1")
    assert panel.view.accessibleName()
    assert panel.filter.accessibleName()


def test_selection_is_one_with_the_canvas(panel, document, qtbot):
    conv, pool = (document.graph.named(name)[0].id for name in ("conv1", "pool1"))
    document.selection.set([pool, conv])
    document.selection.flush()
    rows = panel.view.selectionModel().selectedRows()
    assert {panel.model.node_of(index) for index in rows} == {conv, pool}
    seen = []
    panel.revealed.connect(seen.append)
    at = panel.view.visualRect(row(panel, "ip2")).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert document.selection.node_ids == (document.graph.named("ip2")[0].id,)
    assert seen == list(document.selection.node_ids)


def test_long_names_keep_their_ends_in_a_narrow_outline(panel, document):
    panel.resize(208, 600)
    names = ["res4b22_branch2a", "res4b22_branch2b", "bn4b22_branch2b"]
    view, letters = panel.view, panel.view.fontMetrics()
    index = row(panel, "conv1")
    room = view.visualRect(index).width() - view.iconSize().width() - 16
    shown = [letters.elidedText(name, view.textElideMode(), room) for name in names]
    assert len(set(shown)) == 3 and [each[-2:] for each in shown] == [name[-2:] for name in names], shown
    assert view.columnWidth(0) > 1.5 * view.columnWidth(1) > 0


def test_enter_on_a_port_goes_to_the_other_end(panel, document, qtbot):
    conv2 = row(panel, "conv2")
    panel.view.expand(conv2)
    reads = panel.model.index(0, 0, conv2)
    panel.view.setCurrentIndex(reads)
    assert document.selection.node_ids == (document.graph.named("conv2")[0].id,)
    panel.view.activated.emit(reads)
    assert document.selection.node_ids == (document.graph.named("pool1")[0].id,)
    panel.view.activated.emit(panel.model.index(1, 0, conv2))
    assert document.selection.node_ids == (document.graph.named("pool2")[0].id,)


@pytest.mark.parametrize(
    ("typed", "names"),
    [("conv", ["conv1", "pool1", "conv2", "pool2"]), ("ip inner", ["ip1", "ip2"]), ("nothing at all", [])],
)
def test_the_filter_looks_at_names_types_and_blobs(panel, typed, names, qtbot):
    qtbot.keyClicks(panel.filter, typed)
    assert texts(panel) == names
    assert panel._note.text() != ""
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert len(texts(panel)) > 6


def test_rows_follow_edits_undo_and_redo_and_stay_expanded(panel, document):
    conv2 = row(panel, "conv2")
    panel.view.expand(conv2)
    document.apply("Remove", lambda graph: graph.remove_nodes([graph.named("conv1")[0].id]))
    assert "conv1" not in texts(panel)
    assert panel.view.isExpanded(row(panel, "conv2"))
    document.apply("Disconnect", lambda graph: graph.disconnect(graph.named("conv2")[0].id, 0))
    assert texts(panel, row(panel, "conv2"))[0] == "input 1 is not connected"
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert texts(panel) == [node.name for node in document.graph.nodes()]
    document.apply("Bypass", lambda graph: graph.bypass(graph.named("pool1")[0].id))
    assert row(panel, "pool1").siblingAtColumn(1).data() == "Pooling, bypassed"


@pytest.mark.parametrize("seed", range(2))
def test_any_history_leaves_the_rows_of_a_fresh_model(panel, document, qtbot, seed):
    rng = random.Random(seed)
    for node_id in document.graph.node_ids():
        panel.view.expand(panel.model.index_of(node_id))
    for _step in range(40):
        random_edit(document, rng)
    for _step in range(15):
        document.undo_stack.undo()
    fresh = OutlinePanel(document)
    qtbot.addWidget(fresh)
    assert texts(panel) == texts(fresh)
    for index, other in zip(panel.model.ids, fresh.model.ids, strict=True):
        assert texts(panel, panel.model.index_of(index)) == texts(fresh, fresh.model.index_of(other))
    fresh.shutdown()


def test_another_document_is_shown(panel, qtbot):
    other = Document(OpGraph.parse('layer { name: "only" type: "Input" top: "x" }'))
    panel.set_document(other)
    assert texts(panel) == ["only"]
    assert texts(panel, row(panel, "only")) == ["writes x, read by nothing"]
    panel.set_document(None)
    assert texts(panel) == []
    other.close()


def test_inputs_of_the_net_itself_are_rows_but_no_layers(qtbot):
    text = b'input: "data" input_shape { dim: 1 dim: 2 } layer { name: "r" type: "ReLU" bottom: "data" top: "r" }'
    document = Document(OpGraph.parse(text))
    shown = OutlinePanel(document)
    qtbot.addWidget(shown)
    shown.show()
    assert len(texts(shown)) == 2
    assert shown._note.text() == "1 layer"
    shown.shutdown()
    document.close()


def test_a_layer_that_moves_in_the_text_stays_selected(panel, document, qtbot):
    chosen = document.graph.named("accuracy")[0].id
    at = panel.view.visualRect(row(panel, "accuracy")).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    document.selection.flush()
    document.apply("Move", lambda graph: graph.move_node(chosen, after=None))
    document.selection.flush()
    assert texts(panel)[0] == "accuracy"
    assert document.selection.node_ids == (chosen,)
    assert [panel.model.node_of(index) for index in panel.view.selectionModel().selectedRows()] == [chosen]


def test_behind_another_panel_the_rows_wait_until_they_are_seen(panel, document):
    panel.model.is_watched = lambda: False
    before = texts(panel)
    pool, ip = (document.graph.named(name)[0].id for name in ("pool2", "ip1"))
    document.apply("Delete", lambda graph: graph.remove_nodes([pool]))
    document.apply("Rename", lambda graph: graph.rename_node(ip, "renamed"))
    assert panel.model.rowCount() == len(before), "nothing came or went"
    panel.seen()
    assert texts(panel) == [node.name for node in document.graph.nodes()]
    document.undo_stack.undo()
    document.undo_stack.undo()
    panel.model.set_document(document)
    assert texts(panel) == before
    panel.seen()
    assert texts(panel) == before
