"""The cost table: its numbers, order, filter, copying, and its selection in step with the canvas."""

from __future__ import annotations

import csv
import io
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.costs import CostPanel
from app.costs.model import FIRST_NUMBER, FIRST_TIME
from app.document import Document
from app.live.layercosts import Inputs, count_costs
from engine.graph import OpGraph, View
from tests.app.costs.support import NET, cell, click_header, click_row, names, settle

CONV, IP = 4 * 27 + 4, 10 * 256 + 10


def test_rows_hold_what_the_layers_of_the_view_cost(panel):
    assert names(panel) == ["data", "conv", "twin", "sum", "ip", "lost"]
    conv = next(row for row in panel.model.rows if row.name == "conv")
    activations = 4 * 2 * 4 * 64
    weights = 4 * CONV
    assert conv.output == "2\u00d74\u00d78\u00d78"
    assert conv.numbers == (
        CONV,
        2 * 4 * 64 * 27,
        weights,
        activations,
        weights + activations,
        3 * weights + 2 * activations,
    )
    assert cell(panel, "sum", "Parameters") == "\u2013"
    assert cell(panel, "lost", "Parameters") == "?"
    assert panel.model.index(5, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_totals_count_shared_parameters_once_and_say_what_is_unknown(panel):
    count = panel.model.count
    assert count.totals[0] == CONV + IP
    assert (count.shared, count.unknown) == (CONV, 1)
    assert panel.totals.texts()[0].startswith("\u2265")
    assert "shared parameters" in panel.totals.toolTip()


def test_it_follows_the_view(panel, document, qtbot):
    document.set_view(View("TEST"))
    settle(qtbot, panel)
    assert cell(panel, "conv", "Output") == "1\u00d74\u00d78\u00d78"
    assert "TEST" in panel.note.text()
    document.set_view(View())
    settle(qtbot, panel)
    assert names(panel).count("data") == 2


def test_an_edit_refreshes_what_it_reaches_only(panel, document, qtbot):
    held = dict(document.live.costs._inputs.held)
    node = document.graph.named("ip")[0].id
    document.apply("Narrow", lambda graph: graph.set_field(node, ("inner_product_param", "num_output"), "5"))
    settle(qtbot, panel)
    qtbot.waitUntil(lambda: cell(panel, "ip", "Output") == "2\u00d75", timeout=10_000)
    conv = document.graph.named("conv")[0].id
    now = document.live.costs._inputs.held
    assert now[conv] is held[conv]
    assert now[node] is not held[node]
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: cell(panel, "ip", "Output") == "2\u00d710", timeout=10_000)


def test_a_click_on_a_header_sorts_and_what_is_unknown_stays_below(panel):
    click_header(panel, "Parameters")
    rising = names(panel)
    click_header(panel, "Parameters")
    falling = names(panel)
    assert rising[-1] == falling[-1] == "lost"
    assert "ip" in (rising[4], falling[4]) and "ip" in (rising[0], falling[0])
    click_header(panel, "Parameters")
    assert names(panel) == ["data", "conv", "twin", "sum", "ip", "lost"]


def test_rows_and_canvas_select_each_other(panel, document):
    shown = []
    panel.revealed.connect(shown.append)
    click_row(panel, "sum")
    click_row(panel, "ip", Qt.KeyboardModifier.ControlModifier)
    ids = {name: document.graph.named(name)[0].id for name in ("sum", "ip", "conv")}
    assert set(document.selection.node_ids) == {ids["sum"], ids["ip"]} and document.selection.last == ids["ip"]
    assert shown[-1] == ids["ip"]
    document.selection.set([ids["conv"]])
    document.selection.flush()
    rows = [index.row() for index in panel.view.selectionModel().selectedRows()]
    assert rows == [names(panel).index("conv")]
    click_header(panel, "Training")
    assert [names(panel)[index.row()] for index in panel.view.selectionModel().selectedRows()] == ["conv"]


def test_the_filter_takes_names_and_types(panel, qtbot):
    qtbot.keyClicks(panel.filter, "convol tw")
    assert names(panel) == ["twin"]
    assert panel.note.text().startswith("1 of 6 layers")


def test_rows_are_copied_exactly_as_csv_and_readably_as_markdown(panel):
    panel.view.setFocus()
    panel.copy("csv")
    table = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))
    assert table[0][0] == "Layer" and table[0][-1] == "Training (bytes)"
    assert next(row for row in table if row[0] == "ip")[3:5] == [str(IP), str(2 * 2560)]
    assert table[-1][0] == "Total" and table[-1][3] == str(CONV + IP)
    panel.copy("markdown")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[1].count("---") == 9 and "| ip | InnerProduct | 2\u00d710 |" in lines[6]


def test_a_hidden_table_counts_nothing_until_somebody_looks(document, qtbot):
    panel = CostPanel(document)
    qtbot.addWidget(panel)
    document.live.start()
    qtbot.waitUntil(lambda: not document.live.busy, timeout=20_000)
    assert panel.model.rows == []
    panel.show()
    qtbot.waitUntil(lambda: len(panel.model.rows) == 7, timeout=20_000)
    panel.shutdown()


def test_shares_are_those_of_the_largest_of_the_column(panel):
    from app.costs.model import SHARE

    shares = [panel.model.index(row, FIRST_NUMBER).data(SHARE) for row in range(6)]
    assert shares[4] == 1.0 and shares[1] == pytest.approx(CONV / IP) and shares[5] is None


VARIANTS = b"""
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 8 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 10 }
  include { phase: TRAIN } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 10 }
  include { phase: TEST } }
"""


def test_the_variants_of_a_layer_for_two_phases_have_the_same_weights(qtbot):
    document = Document(OpGraph.parse(VARIANTS))
    document.live.start()
    qtbot.waitUntil(lambda: not document.live.busy and bool(document.shapes), timeout=20_000)
    assert document.live.costs.count.totals[0] == 90
    assert document.live.costs.count.shared == 90
    document.close()


def test_five_thousand_rows_cost_the_window_little(qtbot):
    text = [b'layer { name: "d" type: "Input" top: "b0" input_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } } }']
    for number in range(5000):
        text.append(
            b'layer { name: "c%d" type: "Convolution" bottom: "b%d" top: "b%d" convolution_param '
            b"{ num_output: 4 kernel_size: 1 } }" % (number, number, number + 1)
        )
    document = Document(OpGraph.parse(b"\n".join(text)))
    panel = CostPanel(document)
    qtbot.addWidget(panel)
    panel.resize(1000, 320)
    nodes = document.graph.nodes()
    panel.model.show(count_costs(Inputs(nodes, {}, {})))
    looks = []
    for _look in range(5):
        start = time.thread_time()
        document.live.costs._ask()
        panel.model.show(count_costs(Inputs(nodes[:1], {}, {})))
        looks.append(time.thread_time() - start)
    sorting = []
    panel.model.show(count_costs(Inputs(nodes, {}, {})))
    for look in range(4):
        start = time.thread_time()
        panel.model.sort(look)
        sorting.append(time.thread_time() - start)
    panel.shutdown()
    document.close()
    assert min(looks) < 0.15 and min(sorting) < 0.15, (looks, sorting)


@pytest.mark.parametrize("width", [300, 600, 800, 1600])
def test_names_keep_room_to_be_read(panel, width):
    panel.resize(width, 320)
    header = panel.view.header()
    assert header.sectionSize(0) >= 80
    assert header.length() >= header.width()
    if width >= 800:
        assert header.length() == header.width()
        assert not panel.view.isColumnHidden(1)


def test_what_a_layer_gives_out_is_kept_where_there_is_little_room(panel):
    panel.resize(500, 320)
    shown = [
        panel.model.headerData(column, Qt.Orientation.Horizontal)
        for column in range(FIRST_TIME)
        if not panel.view.isColumnHidden(column)
    ]
    assert shown == ["Layer", "Output", "Parameters", "Multiply-adds", "Training"]
    assert panel.view.header().length() == panel.view.header().width()


def test_columns_grow_with_large_letters(panel):
    panel.resize(1600, 320)
    header = panel.view.header()
    before = header.sectionSize(3)
    font = header.font()
    font.setPixelSize(2 * header.fontMetrics().height())
    header.setFont(font)
    panel.resize(1500, 320)
    assert header.sectionSize(3) > 1.2 * before
    assert panel.view.isColumnHidden(5), "what is not read first makes room"


def test_columns_give_way_together_and_a_dragged_one_stays(panel):
    panel.resize(1600, 320)
    header = panel.view.header()
    header.resizeSection(3, 140)
    panel.resize(1500, 320)
    assert header.sectionSize(3) == 140
    panel.resize(420, 320)
    assert panel.view.isColumnHidden(1) and panel.view.isColumnHidden(2)
    panel.resize(1600, 320)
    assert not panel.view.isColumnHidden(1) and header.sectionSize(3) == 140


def test_a_count_after_an_edit_tells_where_layers_stand_now(qtbot):
    document = Document(OpGraph.parse(NET))
    costs = document.live.costs
    costs._ask()
    qtbot.waitUntil(lambda: costs.count is not None)
    conv = document.graph.named("conv")[0].id
    document.apply("Delete", lambda graph: graph.remove_nodes([document.graph.node_ids()[0]]))
    document.apply("Rename", lambda graph: graph.rename_node(conv, "renamed"))
    costs._ask()
    qtbot.waitUntil(lambda: len(costs.count.rows) == len(document.graph))
    rows = [(row.node, row.place, row.name) for row in costs.count.rows]
    assert rows == [(node.id, node.ordinal, node.name) for node in document.graph.nodes()]
    document.close()


def test_the_table_is_sorted_from_its_menu_too(panel):
    menu = next(action.menu() for action in panel.view.actions() if action.objectName() == "costs.sort")
    menu.aboutToShow.emit()
    words = [action.text() for action in menu.actions()]
    assert words[-1] == "Order of the file"
    before = [row.node for row in panel.model.rows]
    choose = next(action for action in menu.actions() if action.text() == "Parameters")
    choose.trigger()
    largest = [row.node for row in panel.model.rows]
    assert largest != before
    choose.trigger()
    header = panel.view.header()
    assert header.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
    menu.actions()[-1].trigger()
    assert [row.node for row in panel.model.rows] == before


def test_a_bypassed_layer_costs_nothing_and_leaves_no_doubt(panel, document, qtbot):
    (lost,) = document.graph.named("lost")
    document.apply("Bypass", lambda graph: graph.bypass(lost.id))
    settle(qtbot, panel)
    qtbot.waitUntil(lambda: "lost" not in names(panel), timeout=20_000)
    assert document.live.costs.count.unknown == 0
