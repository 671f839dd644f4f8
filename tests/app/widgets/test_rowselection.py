"""Rows of a list and the selection on the canvas, in step."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QTreeView

from app.document import Document
from app.widgets.rowselection import RowSelection
from engine.graph import OpGraph

NAMES = "abcdef"
TEXT = "".join(f'layer {{ name: "{name}" type: "ReLU" bottom: "x" top: "{name}" }}\n' for name in NAMES).encode()
FLAGS = QItemSelectionModel.SelectionFlag


class Rows(QStandardItemModel):
    """The layers of a net, but for those that are left out."""

    changing = False

    def __init__(self, document, left_out=""):
        super().__init__()
        self.ids = [node.id for node in document.graph.nodes() if node.name not in left_out]
        for node_id in self.ids:
            self.appendRow(QStandardItem(document.graph.node(node_id).name))

    def node_of(self, index):
        return self.ids[index.row()] if index.isValid() else None

    def row_of(self, node_id):
        return self.ids.index(node_id) if node_id in self.ids else None


@pytest.fixture
def document(qtbot):
    document = Document(OpGraph.parse(TEXT))
    yield document
    document.close()


@pytest.fixture
def shown(document, qtbot):
    """A list without layer ``c``, that tells what it revealed."""
    view = QTreeView()
    qtbot.addWidget(view)
    view.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
    rows = Rows(document, left_out="c")
    view.setModel(rows)
    view.revealed = []
    selection = RowSelection(view, rows)
    selection.revealed.connect(view.revealed.append)
    selection.set_document(document)
    return view


def ids(document, names):
    return [document.graph.named(name)[0].id for name in names]


def selected(view):
    return "".join(sorted(str(index.data()) for index in view.selectionModel().selectedRows()))


@pytest.mark.parametrize(("names", "rows"), [("a", "a"), ("fab", "abf"), ("bcd", "bd"), ("c", ""), ("", "")])
def test_rows_follow_the_canvas_as_far_as_they_are_shown(document, shown, names, rows):
    document.selection.set(ids(document, "e"))
    document.selection.flush()
    document.selection.set(ids(document, names))
    document.selection.flush()
    assert selected(shown) == rows
    assert shown.revealed == []


def test_the_canvas_follows_the_rows_and_the_current_one_counts_as_selected_last(document, shown):
    model, chosen = shown.model(), shown.selectionModel()
    chosen.setCurrentIndex(model.index(0, 0), FLAGS.NoUpdate)
    for row in (0, 3, 1):
        chosen.select(model.index(row, 0), FLAGS.Select | FLAGS.Rows)
    names = [document.graph.node(node).name for node in document.selection.node_ids]
    assert sorted(names) == ["a", "b", "e"] and document.selection.last == ids(document, "a")[0]
    assert set(shown.revealed) == set(ids(document, "a"))


def test_rows_that_come_and_go_select_nothing(document, shown):
    document.selection.set(ids(document, "a"))
    document.selection.flush()
    shown.model().changing = True
    shown.selectionModel().clearSelection()
    assert list(document.selection.node_ids) == ids(document, "a")
