"""A node dropped on a wire goes into it: lit first, refused with a reason, one step, exact undo and redo."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel

from app.canvas.edits.insert import insert, insert_on_wire
from app.canvas.gestures import splicing
from app.document import Document
from app.palette.model import LAYER_MIME
from engine.graph import OpGraph
from tests.app.canvas.hands import Hands
from tests.benchmarks.nets import residual_net


def bottoms(hands: Hands, name: str) -> tuple[str, ...]:
    return hands.view.document.graph.named(name)[0].bottoms


def loose(hands: Hands, kind: str) -> str:
    """Add a layer of a type that is wired to nothing, below the net, and return its name."""
    view = hands.view
    content = view.canvas.content_rect()
    new = insert(view.canvas, kind, QPointF(content.left() + 300, content.bottom() + 200), wire=False)
    view.document.undo_stack.clear()
    view.centerOn(content.center())
    return view.document.graph.node(new).name


def carry_onto(hands: Hands, name: str, at: QPoint) -> QPoint:
    """Drag a node until its middle lies at a place, and return where the pointer is."""
    item = hands.node(name)
    middle = hands.view.mapFromScene(item.scene_body().center())
    start = hands.title(name)
    end = start + at - middle
    hands.carry(start, end)
    return end


def reason(hands: Hands) -> QLabel:
    return hands.view.findChild(QLabel, "canvas.reason")


def test_a_node_dropped_on_a_wire_is_inserted_and_its_neighbours_make_room(hands):
    name = loose(hands, "LRN")
    before, target = hands.state(), hands.node("pool1").pos()
    routes = dict(hands.view.document.positions.routes)
    wire = hands.wire("conv1", "pool1")
    end = carry_onto(hands, name, hands.on_wire("conv1", "pool1"))
    assert wire.lit, "the wire shows that it will take the node"
    assert bottoms(hands, "pool1") == ("conv1",), "nothing is changed before the button is let go"
    hands.release(end)
    (top,) = hands.view.document.graph.named(name)[0].tops
    assert bottoms(hands, name) == ("conv1",)
    assert bottoms(hands, "pool1") == (top,)
    assert not wire.lit
    assert hands.view.document.selection.node_ids == (hands.node(name).node_id,)
    boxes = [hands.node(each).scene_body() for each in ("conv1", name, "pool1", "conv2")]
    assert not any(a.intersects(b) for place, a in enumerate(boxes) for b in boxes[:place])
    assert [box.left() for box in boxes[:3]] == sorted(box.left() for box in boxes[:3])
    assert hands.node("pool1").pos() != target
    led = dict(hands.view.document.positions.routes)
    assert led != routes, "wires that go around the row make room too"
    hands.check_one_step(before)
    hands.view.document.undo_stack.undo()
    assert hands.view.document.positions.routes == routes
    hands.view.document.undo_stack.redo()
    assert hands.view.document.positions.routes == led


def test_escape_takes_a_node_off_a_wire_again(hands, qtbot):
    name = loose(hands, "LRN")
    before = hands.state()
    wire = hands.wire("conv1", "pool1")
    carry_onto(hands, name, hands.on_wire("conv1", "pool1"))
    qtbot.keyClick(hands.view, Qt.Key.Key_Escape)
    assert not wire.lit
    assert hands.state() == before
    hands.check_shown()
    hands.release(QPoint(0, 0))
    assert hands.view.document.undo_stack.count() == 0


def test_a_node_that_would_close_a_cycle_is_refused_with_the_reason_at_the_pointer(hands):
    name = loose(hands, "Eltwise")
    document = hands.view.document
    ip2, new = document.graph.named("ip2")[0].id, document.graph.named(name)[0].id
    document.apply("Feed it from the end", lambda graph: graph.connect(ip2, 0, new, 1))
    document.undo_stack.clear()
    text = bytes(document.graph)
    end = carry_onto(hands, name, hands.on_wire("conv1", "pool1"))
    assert hands.wire("conv1", "pool1").doomed
    assert "cycle" in reason(hands).text()
    assert reason(hands).isVisible()
    hands.release(end)
    assert bytes(document.graph) == text
    assert not hands.wire("conv1", "pool1").doomed
    assert document.undo_stack.undoText() == "Move node"


@pytest.mark.parametrize("name", ["conv2", "relu1"])
def test_a_node_that_is_wired_is_only_moved(hands, name):
    document = hands.view.document
    text = bytes(document.graph)
    hands.release(carry_onto(hands, name, hands.on_wire("conv1", "pool1")))
    assert bytes(document.graph) == text


def drop_from_palette(hands: Hands, kind: str, at: QPoint, *, let_go: bool = True) -> None:
    data = QMimeData()
    data.setData(LAYER_MIME, kind.encode())
    viewport, left = hands.view.viewport(), Qt.MouseButton.LeftButton
    copy, plain = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(viewport, QDragEnterEvent(at, copy, data, left, plain))
    QApplication.sendEvent(viewport, QDragMoveEvent(at, copy, data, left, plain))
    if let_go:
        QApplication.sendEvent(viewport, QDropEvent(QPointF(at), copy, data, left, plain))


def test_a_type_from_the_palette_dropped_on_a_wire_is_inserted(hands):
    before = hands.state()
    at = hands.on_wire("conv1", "pool1")
    drop_from_palette(hands, "LRN", at, let_go=False)
    assert hands.wire("conv1", "pool1").lit
    drop_from_palette(hands, "LRN", at)
    new = hands.view.document.graph.node(hands.view.document.selection.last)
    assert (new.type, new.bottoms) == ("LRN", ("conv1",))
    assert bottoms(hands, "pool1") == new.tops
    positions = hands.view.document.positions
    known = positions.of(hands.view.document.graph.node_ids())
    assert len(set(known.values())) == len(known)
    hands.view.document.undo_stack.undo()
    assert hands.state() == before


def test_an_activation_dropped_on_a_wire_hangs_under_what_it_reads(hands):
    drop_from_palette(hands, "ReLU", hands.on_wire("conv1", "pool1"))
    new = hands.view.document.graph.node(hands.view.document.selection.last)
    assert (new.bottoms, new.tops) == (("conv1",), ("conv1",))
    assert hands.view.canvas.nodes[new.id].docked
    assert {edge.source for edge in hands.view.document.graph.edges_in(hands.node("pool1").node_id)} == {new.id}


def test_a_source_does_not_go_on_a_wire(hands):
    at = hands.on_wire("conv1", "pool1")
    drop_from_palette(hands, "Input", at, let_go=False)
    assert hands.wire("conv1", "pool1").doomed
    assert "no input" in reason(hands).text()
    drop_from_palette(hands, "Input", at)
    assert bottoms(hands, "pool1") == ("conv1",)
    assert hands.view.document.graph.named("input1") or any(
        node.type == "Input" for node in hands.view.document.graph.nodes()
    )


def test_a_wire_between_folded_blocks_takes_a_layer_too(make_canvas):
    document = Document(OpGraph.parse(residual_net(60)))
    view = make_canvas(document)
    view.fold_repeats()
    document.undo_stack.clear()
    text, edges = bytes(document.graph), view.canvas.folding.edges()
    wire = next(edge for edge in edges if {edge.tail, edge.head} & set(view.canvas.folding.cards.values()))
    insert_on_wire(view.canvas, "LRN", wire.edge, wire.line.center())
    new = document.selection.last
    assert {edge.target for edge in document.graph.edges_out(new)} == {wire.edge.target}
    here = view.canvas.nodes[new].scene_body()
    over = [item.face.title for item in view.canvas.folding.items() if item.scene_body().intersects(here)]
    assert over == [document.graph.node(new).name], (wire.tail.face.title, wire.head.face.title)
    document.undo_stack.undo()
    assert bytes(document.graph) == text
    document.close()


OVERWRITTEN = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 9 dim: 9 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 4 kernel_size: 1 } }
layer { name: "side" type: "Pooling" bottom: "conv" top: "side" }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "after" type: "Pooling" bottom: "conv" top: "after" }
layer { name: "new" type: "LRN" bottom: "?" top: "new" }
"""


@pytest.mark.parametrize(("target", "read"), [("side", "conv"), ("relu", "conv"), ("after", "relu")])
@pytest.mark.parametrize("fresh", [True, False])
def test_what_is_inserted_reads_what_the_wire_carried_though_others_overwrite_it(make_canvas, target, read, fresh):
    document = Document(OpGraph.parse(OVERWRITTEN))
    view, graph = make_canvas(document), document.graph
    ((edge, item),) = (
        (edge, item) for edge, item in view.canvas.edges.items() if graph.node(edge.target).name == target
    )
    before = {graph.node(each.target).name: each.source for each in graph.edges() if each.target != edge.target}
    if fresh:
        new = insert_on_wire(view.canvas, "LRN", edge, item.path.pointAtPercent(0.5))
    else:
        new = graph.named("new")[0].id
        node = view.canvas.nodes[new]
        assert splicing.refuses(view.canvas, node, edge) == ""
        here = document.positions.of([new])
        splicing.splice(view.canvas, node, edge, here, here)
    assert [graph.node(each.source).name for each in graph.edges_in(new)] == [read]
    assert [each.target for each in graph.edges_out(new)] == [edge.target]
    after = {
        graph.node(each.target).name: each.source for each in graph.edges() if each.target not in (edge.target, new)
    }
    assert after == {name: source for name, source in before.items() if name in after}, "nobody else reads another"
    document.undo_stack.undo()
    assert graph.text == OVERWRITTEN
    document.close()


ON_INPUT = """input: "data"
input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
layer { name: "relu" type: "ReLU" bottom: "data" top: "data" }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" }
"""


@pytest.mark.parametrize("kind", ["ReLU", "Pooling"])
def test_a_layer_goes_on_the_wire_from_an_input_of_the_net(make_canvas, kind):
    document = Document(OpGraph.parse(ON_INPUT.encode()))
    view = make_canvas(document)
    graph, before = document.graph, bytes(document.graph)
    relu = graph.named("relu")[0].id
    (edge,) = graph.edges_in(relu)
    new = insert_on_wire(view.canvas, kind, edge, QPointF(100, 100))
    assert [each.source for each in graph.edges_in(relu)] == [new]
    assert [each.source for each in graph.edges_in(new)] == [edge.source]
    document.undo_stack.undo()
    assert bytes(graph) == before
    document.close()


def test_a_place_that_was_chosen_for_a_layer_is_kept_with_the_net(hands, tmp_path):
    document = hands.view.document
    hands.view.add_layer("LRN")
    assert not document.positions.touched
    drop_from_palette(hands, "LRN", hands.view.viewport().rect().bottomRight() - QPoint(300, 60))
    name = document.graph.node(document.selection.last).name
    where = document.positions[document.selection.last]
    document.save(tmp_path / "mine.prototxt")
    again = Document.open(tmp_path / "mine.prototxt")
    try:
        assert again.positions[again.graph.named(name)[0].id] == where
    finally:
        again.close()
