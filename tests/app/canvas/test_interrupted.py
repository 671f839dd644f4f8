"""The document is edited in the middle of a gesture, as by undo: the gesture ends, and all is as the document says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.canvas.edits.steps import bend_wire
from app.canvas.gestures import annotating
from app.document.placement import Point
from app.window.canvas_area import CanvasArea
from tests.app.canvas.hands import CTRL, LEFT, MIDDLE, NONE, RIGHT, Hands

FAR = QPoint(40, 60)


def grab_node(hands: Hands) -> None:
    hands.carry(hands.title("pool2"), hands.title("pool2") + FAR)


def grab_wire(hands: Hands) -> None:
    hands.carry(hands.input("pool2"), hands.input("pool2") + FAR)


def grab_bend(hands: Hands) -> None:
    bend = hands.wire("conv1", "pool1").bends[0]
    at = hands.view.mapFromScene(QPointF(*bend))
    hands.carry(at, at + FAR)


def grab_frame(hands: Hands) -> None:
    item = next(iter(hands.view.canvas.annotated.items.values()))
    at = hands.view.mapFromScene(item.area.topLeft() + QPointF(30, 8))
    hands.carry(at, at + FAR)


def cut_stroke(hands: Hands) -> None:
    at = hands.on_wire("conv2", "pool2")
    hands.carry(at - QPoint(0, 30), at + QPoint(0, 30), RIGHT, CTRL)


def band(hands: Hands) -> None:
    at = hands.empty()
    hands.view.document.selection.set([hands.node("pool2").node_id])
    hands.carry(at, at + FAR)


def letters(hands: Hands) -> None:
    hands.view.document.selection.set([hands.node("pool2").node_id])
    hands.view.do("connect")


GESTURES = (grab_node, grab_wire, grab_bend, grab_frame, cut_stroke, band, letters)


@pytest.mark.parametrize("grab", GESTURES)
@pytest.mark.parametrize("edit", ["undo", "redo", "delete"])
def test_an_edit_ends_a_gesture(canvas: CanvasArea, grab: Callable[[Hands], None], edit: str) -> None:
    hands, document = Hands(canvas), canvas.document
    pool = document.graph.named("pool2")[0].id
    if grab is grab_bend:
        place = hands.wire("conv1", "pool1").path.pointAtPercent(0.5)
        bend_wire(document, hands.wire("conv1", "pool1"), (Point(place.x(), place.y()),), "Bend wire")
    if grab is grab_frame:
        document.selection.set([pool])
        annotating.add_frame(canvas)
    if edit != "delete":
        document.move_nodes({pool: Point(document.positions[pool].x + 30, document.positions[pool].y + 20)})
    if edit == "redo":
        document.undo_stack.undo()
    grab(hands)
    assert canvas.gesture is not None
    if edit == "delete":
        document.apply("Delete pool2", lambda graph: graph.remove_nodes([pool]))
    else:
        getattr(document.undo_stack, edit)()
    before, count = hands.state(), document.undo_stack.count()
    assert canvas.gesture is None
    hands.check_shown()
    for number, item in canvas.canvas.annotated.items.items():
        assert item.value == document.positions.annotations.get(number)
    assert all(wire.isVisible() for wire in canvas.canvas.edges.values())
    assert all(node in document.graph for node in document.selection.node_ids)
    hands.move(QPoint(300, 300))
    hands.release(QPoint(300, 300), RIGHT if grab is cut_stroke else LEFT)
    assert (hands.state(), document.undo_stack.count()) == (before, count)


def test_a_pan_goes_on(canvas: CanvasArea) -> None:
    hands = Hands(canvas)
    hands.carry(QPoint(200, 200), QPoint(240, 260), MIDDLE)
    canvas.document.apply("Delete", lambda graph: graph.remove_nodes([graph.named("pool2")[0].id]))
    assert canvas.gesture is not None
    hands.release(QPoint(240, 260), MIDDLE, NONE)


def test_a_name_is_typed_for_a_layer_that_goes(canvas: CanvasArea) -> None:
    document = canvas.document
    pool = document.graph.named("pool2")[0].id
    document.selection.set([pool])
    canvas.do("rename")
    canvas.title_edit.setText("other")
    document.apply("Delete pool2", lambda graph: graph.remove_nodes([pool]))
    QTest.keyClick(canvas.title_edit, Qt.Key.Key_Return)
    assert document.undo_stack.count() == 1
    assert not canvas.title_edit.isVisible()


def test_a_layer_is_chosen_for_a_port_that_went(canvas: CanvasArea) -> None:
    document = canvas.document
    pool = document.graph.named("pool2")[0].id
    canvas.search_asked.emit(QPoint(60, 60), pool, "output", 0)
    document.apply("Delete pool2", lambda graph: graph.remove_nodes([pool]))
    layers = len(document.graph)
    canvas.popup.chosen.emit("ReLU")
    canvas.popup.close()
    assert len(document.graph) == layers + 1, "it is added, with no wire"


@pytest.mark.parametrize("grab", [grab_node, grab_wire, cut_stroke])
def test_a_button_let_go_over_a_dialog_ends_the_gesture(canvas: CanvasArea, grab: Callable[[Hands], None]) -> None:
    hands = Hands(canvas)
    before = hands.state()
    grab(hands)
    hands.move(QPoint(300, 300), Qt.MouseButton.NoButton)
    assert canvas.gesture is None
    assert hands.state() == before
    hands.check_shown()


def test_a_wire_drawn_by_keyboard_needs_no_button(canvas: CanvasArea) -> None:
    hands = Hands(canvas)
    letters(hands)
    hands.move(QPoint(300, 300), Qt.MouseButton.NoButton)
    assert canvas.hints.is_open
    canvas.cancel_gesture()
