"""Wires that no layout leads: around the cards in their way, and together where they begin at one port."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF

from app.canvas.layout.avoiding import CLEAR, Box, detour, free_level
from app.canvas.scene.scene import CanvasScene
from app.document import Document
from app.document.placement import Point
from engine.graph import OpGraph

CARD = Box(300.0, -40.0, 480.0, 60.0)
NET = """
layer { name: "a" type: "Input" top: "a" }
layer { name: "b" type: "Pooling" bottom: "a" top: "b" }
layer { name: "c" type: "Pooling" bottom: "a" top: "c" }
layer { name: "d" type: "Concat" bottom: "b" bottom: "c" top: "d" }
"""


def test_a_free_way_stays_as_it_is():
    assert detour((0.0, 0.0), (800.0, 0.0), 160.0, [Box(300.0, 100.0, 480.0, 200.0)]) == ()


@pytest.mark.parametrize(("end", "level"), [(-10.0, CARD.top - CLEAR), (30.0, CARD.bottom + CLEAR)])
def test_a_card_is_passed_on_the_nearer_side(end, level):
    points = detour((0.0, end), (800.0, end), 160.0, [CARD])
    assert points == ((CARD.left - CLEAR, level), (CARD.right + CLEAR, level))


def test_between_two_cards_there_is_a_level_if_there_is_room():
    boxes = [Box(0.0, 0.0, 100.0, 100.0), Box(0.0, 140.0, 100.0, 240.0)]
    assert 100.0 < free_level(-10.0, 110.0, (110.0,), boxes) < 140.0
    boxes[1] = Box(0.0, 108.0, 100.0, 240.0)
    assert free_level(-10.0, 110.0, (110.0,), boxes) in (-CLEAR, 240.0 + CLEAR)


def test_without_room_to_swing_it_is_left():
    assert detour((290.0, 0.0), (330.0, 0.0), 32.0, [CARD]) == ()


@pytest.fixture
def scene(qtbot):
    document = Document(OpGraph.parse(NET))
    nodes = {node.name: node.id for node in document.graph.nodes()}
    for name, place in {"a": (0, 0), "b": (300, 0), "c": (300, 300), "d": (900, 0)}.items():
        document.positions.place(nodes[name], *place)
    shown = CanvasScene(document)
    yield shown, nodes
    shown.close()
    document.close()


def wire(shown, a, b):
    return next(item for edge, item in shown.edges.items() if (edge.source, edge.target) == (a, b))


def crossed(item, card) -> bool:
    body = card.scene_body()
    return any(body.contains(item.path.pointAtPercent(step / 100)) for step in range(101))


def test_wires_go_around_cards_that_are_put_in_their_way_and_straight_again(scene):
    shown, nodes = scene
    document, line, card = shown.document, wire(shown, nodes["b"], nodes["d"]), shown.nodes[nodes["c"]]
    assert not crossed(line, card) and not line.via
    document.move_nodes({nodes["c"]: Point(600.0, 0.0)})
    assert not crossed(line, card)
    assert len(line.via) == 2
    fresh = CanvasScene(document)
    assert wire(fresh, nodes["b"], nodes["d"]).via == line.via, "it depends on nothing but where things are"
    fresh.close()
    document.undo_stack.undo()
    assert not line.via


def test_wires_of_one_port_share_a_trunk(scene):
    shown, nodes = scene
    first, second = (wire(shown, nodes["a"], nodes[name]) for name in "bc")
    start = shown.nodes[nodes["a"]].output_point(0)
    for line in (first, second):
        ahead = [point for point in line.course() if point.x() <= start.x() + 20.0]
        assert all(point.y() == start.y() for point in ahead)
        assert line.path.elementAt(1).x - start.x() >= 20.0
    shown.document.apply("Delete", lambda graph: graph.remove_nodes([nodes["c"]]))
    assert QPointF(first.path.elementAt(1).x, first.path.elementAt(1).y) != start + QPointF(22.0, 0.0)
