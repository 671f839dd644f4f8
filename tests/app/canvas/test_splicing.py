"""A node dropped on a wire goes into it: lit first, refused with a reason, one step, exact undo and redo."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel

from app.canvas.insert import insert
from app.palette.model import LAYER_MIME
from tests.app.canvas.hands import Hands


@pytest.fixture
def hands(canvas) -> Hands:
    return Hands(canvas)


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
