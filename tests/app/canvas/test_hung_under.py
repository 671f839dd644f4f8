"""A layer that is hung under a card by insertion: what is below makes room, and wires go on from it on their way."""

from __future__ import annotations

import pytest

from app.canvas.edits.insert import insert_on_wire
from app.document.placement import Point
from tests.app.canvas.hands import Hands
from tests.app.canvas.looks import crosses


@pytest.fixture
def hands(canvas) -> Hands:
    """LeNet in two rows."""
    canvas.resize(960, 530)
    canvas.arrange_all()
    canvas.document.undo_stack.clear()
    return Hands(canvas)


def hang(hands: Hands, source: str, target: str) -> None:
    wire = hands.wire(source, target)
    insert_on_wire(hands.view.canvas, "ReLU", wire.edge, wire.line.center())


@pytest.mark.parametrize("times", [1, 3, 5])
@pytest.mark.parametrize(("source", "target"), [("conv1", "pool1"), ("conv2", "pool2"), ("ip2", "loss")])
def test_nothing_touches_what_was_hung(hands, source, target, times):
    document, scene = hands.view.document, hands.view.canvas
    before = hands.state()
    for _time in range(times):
        hang(hands, source, target)
        source = document.graph.node(document.selection.last).name
    hung = [item for item in scene.nodes.values() if item.docked]
    assert len(hung) == times + 1
    bodies = [item.scene_body() for item in scene.items_shown()]
    assert not [(a, b) for a in bodies for b in bodies if a is not b and a.intersects(b)]
    for wire in scene.folding.edges():
        for item in scene.items_shown():
            if not wire.docked and item not in (wire.tail, wire.head):
                assert not crosses(wire.course(), item.scene_body().adjusted(1, 1, -1, -1))
    for _time in range(times):
        document.undo_stack.undo()
    assert hands.state() == before


def test_the_wire_to_the_next_row_keeps_its_way(hands):
    scene, document = hands.view.canvas, hands.view.document
    wire = next(each for each in scene.folding.edges() if each.route is not None and each.head.x() < each.tail.x())
    source, target, old = wire.tail.face.title, wire.head.face.title, wire.route.points
    hang(hands, source, target)
    wire = hands.wire(document.graph.node(document.selection.last).name, target)
    assert [point.x for point in wire.route.points] == [point.x for point in old]
    assert len(wire.via) == len(old), "it follows the course"
    assert wire.via[0].y() == wire.line.y1() != old[0].y


def test_what_hangs_no_more_after_a_bypass_gets_room_for_its_card(hands):
    hang(hands, "conv1", "pool1")
    document, scene = hands.view.document, hands.view.canvas
    hung, host = scene.nodes[document.selection.last], hands.node("conv1")
    below = hung.scene_body().bottom() + 10
    document.move_nodes({hands.node("pool2").node_id: Point(host.x(), below)})
    document.selection.set([host.node_id])
    before = hands.state()
    hands.view.do("bypass")
    assert not hung.docked
    bodies = [item.scene_body() for item in scene.items_shown()]
    assert not [(a, b) for a in bodies for b in bodies if a is not b and a.intersects(b)]
    document.undo_stack.undo()
    assert hands.state() == before
