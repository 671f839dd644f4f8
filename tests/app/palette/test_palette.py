"""Finding a layer type and putting it on the canvas."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel

from app.palette import rows
from app.palette.dock import PalettePanel
from app.palette.fuzzy import match_text, rank
from app.palette.model import LAYER_MIME
from tests.app.canvas.hands import Hands


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("conv", "Convolution"),
        ("CONV", "Convolution"),
        ("ip", "InnerProduct"),
        ("fc", "InnerProduct"),
        ("swl", "SoftmaxWithLoss"),
        ("relu", "ReLU"),
        ("lmdb", "Data"),
        ("add", "Eltwise"),
        ("soft", "Softmax"),
        ("pool", "Pooling"),
        ("loss", "SoftmaxWithLoss"),
        ("", "Convolution"),
    ],
)
def test_search_finds_what_people_call_it(document, pattern, first):
    assert rank(document.registry.infos(), pattern)[0].info.type == first


def test_letters_out_of_order_do_not_match():
    assert match_text("noc", "Convolution") is None


def test_matched_letters_are_told():
    assert match_text("ip", "InnerProduct")[1] == (0, 5)


@pytest.fixture
def panel(document, qtbot) -> PalettePanel:
    shown = PalettePanel()
    qtbot.addWidget(shown)
    shown.set_infos(document.registry.infos())
    shown.show()
    return shown


def test_the_dock_shows_all_types_by_category(panel, document):
    types = [panel.model.item(row).text() for row in range(panel.model.rowCount()) if panel.model.item(row).text()]
    assert sorted(types) == sorted(document.registry.types())


def test_enter_in_the_search_takes_the_best(panel, qtbot):
    qtbot.keyClicks(panel.search, "pooli")
    with qtbot.waitSignal(panel.chosen) as chosen:
        qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert chosen.args == ["Pooling"]


def test_no_match_says_so(panel, qtbot):
    qtbot.keyClicks(panel.search, "zzzz")
    assert panel.model.rowCount() == 0
    assert not panel.view.isVisible()


def test_typing_at_the_pointer_adds_a_layer_wired_to_the_selection(canvas, document, qtbot):
    hands = Hands(canvas)
    text = bytes(document.graph)
    hands.click(hands.title("pool2"))
    qtbot.keyClick(canvas, Qt.Key.Key_Tab)
    assert canvas.popup.isVisible()
    qtbot.keyClicks(canvas.popup.search, "conv")
    qtbot.keyClick(canvas.popup.search, Qt.Key.Key_Return)
    new = document.graph.node(document.selection.node_ids[0])
    assert (new.type, new.bottoms) == ("Convolution", ("pool2",))
    item = canvas.canvas.nodes[new.id]
    others = [each.scene_body() for each in canvas.canvas.nodes.values() if each is not item]
    assert not any(item.scene_body().intersects(body) for body in others)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert bytes(document.graph) == text


def test_the_search_at_the_pointer_is_no_larger_than_what_it_finds(canvas, qtbot):
    qtbot.keyClick(canvas, Qt.Key.Key_Tab)
    popup = canvas.popup
    whole, top = popup.height(), popup.y()
    qtbot.keyClicks(popup.search, "hdf5data")
    one = popup.height()
    row = popup.view.sizeHintForRow(0)
    assert one < whole - 3 * row
    assert popup.view.height() == row
    assert popup.y() == top
    qtbot.keyClicks(popup.search, "zzz")
    assert popup.height() < one
    assert any("No layer" in label.text() and label.isVisible() for label in popup.findChildren(QLabel))
    popup.search.clear()
    assert popup.height() == whole
    popup.close()


def test_where_a_net_gets_its_numbers_is_data(panel):
    headers = [
        panel.model.item(row).data(rows.HEADER) or panel.model.item(row).text() for row in range(panel.model.rowCount())
    ]
    assert headers.index("Data") < headers.index("Input") < headers.index("Vision")


def test_a_new_layer_near_the_edge_is_scrolled_in_no_further_than_needed(canvas, document):
    item = canvas.canvas.nodes[document.graph.named("conv1")[0].id]
    canvas.centerOn(item.scene_body().center())
    before = canvas.mapFromScene(item.pos())
    canvas.reveal(item.node_id)
    assert canvas.mapFromScene(item.pos()) == before
    right = canvas.viewport().width() - 20
    canvas.scroll_by(before.x() - right, 0)
    canvas.reveal(item.node_id)
    body = canvas.mapFromScene(item.scene_body()).boundingRect()
    assert 40 <= canvas.viewport().width() - body.right() <= 60
    assert abs(body.top() - before.y()) < 8


def test_a_relu_is_put_in_place_and_docked(canvas, document):
    document.selection.set([document.graph.named("conv1")[0].id])
    canvas.add_layer("ReLU")
    new = document.graph.node(document.selection.node_ids[0])
    assert new.bottoms == new.tops == ("conv1",)
    assert canvas.canvas.nodes[new.id].docked
    assert any(edge.source == new.id for edge in document.graph.edges_in(document.graph.named("pool1")[0].id))


def test_a_loss_finds_its_labels(canvas, document):
    document.selection.set([document.graph.named("ip2")[0].id])
    canvas.add_layer("SoftmaxWithLoss")
    assert document.graph.node(document.selection.node_ids[0]).bottoms == ("ip2", "label")


def test_a_type_dropped_on_the_canvas_lands_under_the_pointer(canvas, document):
    data = QMimeData()
    data.setData(LAYER_MIME, b"InnerProduct")
    spot = Hands(canvas).empty()
    event = QDropEvent(
        QPointF(spot), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    canvas.dropEvent(event)
    item = canvas.canvas.nodes[document.selection.node_ids[0]]
    assert item.scene_body().contains(canvas.mapToScene(spot))
    assert document.graph.node(item.node_id).bottoms == ("?",)


def test_lenet_is_drawn_from_an_empty_canvas_in_few_actions(make_canvas):
    from app.document import Document

    document = Document.new()
    canvas = make_canvas(document)
    actions = ("Data", "Convolution", "Pooling", "Convolution", "Pooling", "InnerProduct", "ReLU", "InnerProduct")
    try:
        for kind in (*actions, "SoftmaxWithLoss"):
            canvas.add_layer(kind)
        graph = document.graph
        assert not any("?" in node.bottoms for node in graph.nodes())
        assert document.undo_stack.count() == 9
        for item in canvas.canvas.edges.values():
            others = [each for each in canvas.canvas.nodes.values() if each not in (item.source, item.target)]
            course = [item.path.pointAtPercent(step / 500) for step in range(501)]
            crossed = [each.face.title for each in others if any(each.scene_body().contains(at) for at in course)]
            assert not crossed, f"the wire of {item.edge.blob} crosses {crossed}"
    finally:
        document.close()
