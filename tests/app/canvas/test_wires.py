"""Cutting wires and bending them, with real events."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QLineF, QPoint, QPointF, Qt
from PySide6.QtWidgets import QMenu

from app.canvas.edits.insert import insert_on_wire
from app.canvas.layout.routes import crosses, distance_to
from app.document import Document
from app.document.placement import Placement, Point
from tests.app.canvas.hands import ALT, CTRL, RIGHT, Hands


def bottoms(hands: Hands, name: str) -> tuple[str, ...]:
    return hands.view.document.graph.named(name)[0].bottoms


def stroke_across(hands: Hands, source: str, target: str) -> tuple[QPoint, QPoint]:
    middle = hands.on_wire(source, target)
    return middle - QPoint(2, 90), middle + QPoint(3, 90)


def test_no_wire_crosses_out_the_label_of_another(canvas):
    wires = list(canvas.canvas.edges.values())
    wires[0].wanted, wires[0].line = "4", QLineF(0.0, 0.0, 900.0, 0.0)
    wires[0]._place_label()
    assert wires[0].label
    assert all(wires[0].zValue() > wire.zValue() for wire in wires if not wire.label)
    wires[0].mark(lit=True)
    assert wires[0].zValue() > 0.0, "over the cards"
    wires[0].mark()
    assert any(wire.zValue() < wires[0].zValue() < 0.0 for wire in wires)


def test_a_stroke_cuts_what_it_crosses_in_one_step(hands):
    before = hands.state()
    start, end = stroke_across(hands, "conv1", "pool1")
    hands.carry(start, end, RIGHT, CTRL)
    assert hands.wire("conv1", "pool1").doomed, "the wire shows that it will go"
    assert bottoms(hands, "pool1") == ("conv1",)
    hands.release(end, RIGHT, CTRL)
    assert bottoms(hands, "pool1") == ("?",)
    assert bottoms(hands, "conv2") == ("pool1",), "what was not crossed stays"
    hands.check_one_step(before)


def test_escape_breaks_a_stroke_off(hands, qtbot):
    before = hands.state()
    start, end = stroke_across(hands, "conv1", "pool1")
    hands.carry(start, end, RIGHT, CTRL)
    qtbot.keyClick(hands.view, Qt.Key.Key_Escape, CTRL)  # as it comes while the key is held
    assert not hands.wire("conv1", "pool1").doomed
    hands.release(end, RIGHT, CTRL)
    assert hands.state() == before
    assert hands.view.document.undo_stack.count() == 0


def test_a_stroke_across_nothing_changes_nothing(hands):
    nowhere = hands.empty()
    hands.drag(nowhere, nowhere + QPoint(60, 20), RIGHT, CTRL)
    assert hands.view.document.undo_stack.count() == 0
    assert not hands.view.popup.isVisible()


def test_a_click_with_alt_on_a_wire_cuts_it(hands):
    before = hands.state()
    at = hands.on_wire("pool1", "conv2")
    hands.move(at, Qt.MouseButton.NoButton, ALT)
    assert hands.wire("pool1", "conv2").doomed
    hands.click(at, modifiers=ALT)
    assert bottoms(hands, "conv2") == ("?",)
    hands.check_one_step(before)


def test_a_click_with_alt_on_an_output_cuts_all_its_wires(hands):
    before = hands.state()
    graph = hands.view.document.graph
    readers = {graph.node(edge.target).name for edge in graph.edges_out(hands.node("ip2").node_id)}
    assert len(readers) > 1
    hands.click(hands.output("ip2"), modifiers=ALT)
    assert not graph.edges_out(hands.node("ip2").node_id)
    hands.check_one_step(before)


def test_alt_moved_away_leaves_no_mark(hands):
    hands.move(hands.on_wire("pool1", "conv2"), Qt.MouseButton.NoButton, ALT)
    hands.move(hands.empty(), Qt.MouseButton.NoButton)
    assert not hands.wire("pool1", "conv2").doomed


def test_a_double_click_bends_a_wire_and_another_takes_the_bend_out(hands):
    before = hands.state()
    hands.double_click(hands.on_wire("conv1", "pool1"))
    assert len(hands.wire("conv1", "pool1").bends) == 1
    hands.check_one_step(before)
    bend = hands.wire("conv1", "pool1").bends[0]
    hands.double_click(hands.view.mapFromScene(QPointF(*bend)))
    assert hands.wire("conv1", "pool1").bends == ()
    assert bytes(hands.view.document.graph) == before[0], "bends are no part of the text"


def bent(hands: Hands) -> QPoint:
    """Bend a wire, forget how, and return where its bend is."""
    hands.double_click(hands.on_wire("conv1", "pool1"))
    hands.view.document.undo_stack.clear()
    return hands.view.mapFromScene(QPointF(*hands.wire("conv1", "pool1").bends[0]))


def test_a_bend_is_dragged_on_the_grid_in_one_step(hands):
    at = bent(hands)
    before = hands.state()
    hands.drag(at, at + QPoint(33, 88))
    (bend,) = hands.wire("conv1", "pool1").bends
    assert (bend.x % 10, bend.y % 10) == (0, 0)
    assert hands.wire("conv1", "pool1").distance(QPointF(*bend)) < 1
    hands.check_one_step(before)


def test_escape_puts_a_bend_back(hands, qtbot):
    at = bent(hands)
    before = hands.state()
    hands.carry(at, at + QPoint(33, 88))
    qtbot.keyClick(hands.view, Qt.Key.Key_Escape)
    assert hands.state() == before
    hands.check_shown()


def test_delete_takes_the_selected_bend_and_leaves_the_wire(hands, qtbot):
    at = bent(hands)
    before = hands.state()
    hands.click(at)
    qtbot.keyClick(hands.view, Qt.Key.Key_Delete)
    assert hands.wire("conv1", "pool1").bends == ()
    assert bottoms(hands, "pool1") == ("conv1",)
    hands.check_one_step(before)


def test_bends_between_dragged_nodes_go_along(hands):
    bent(hands)
    before, old = hands.state(), hands.wire("conv1", "pool1").bends[0]
    document = hands.view.document
    document.selection.set([hands.node("conv1").node_id, hands.node("pool1").node_id])
    hands.drag(hands.title("conv1"), hands.title("conv1") + QPoint(0, 120))
    (new,) = hands.wire("conv1", "pool1").bends
    assert new.y - old.y == 120
    hands.check_one_step(before)


def test_layout_straightens_bends_and_undo_brings_them_back(hands):
    bent(hands)
    before = hands.state()
    hands.view.arrange_all()
    assert hands.wire("conv1", "pool1").bends == ()
    hands.view.document.undo_stack.undo()
    assert hands.state() == before


def test_bends_are_saved_beside_the_net_and_found_after_edits_by_other_tools(hands, lenet, tmp_path):
    bent(hands)
    document = hands.view.document
    (points,) = document.positions.bends.values()
    document.save()
    text = lenet.read_text()
    lenet.write_text("# a remark\n" + text.replace("num_output: 20", "num_output: 21"))
    again = Document.open(lenet)
    (key,) = again.positions.bends
    assert again.positions.bends[key] == points
    assert [again.graph.node(each).name for each in (key[0], key[2])] == ["conv1", "pool1"]
    again.close()


@pytest.mark.parametrize("bends", ["x", [{"from": [0, 0]}], [{"from": [0, 0], "to": [99, 0], "points": [[1, 2]]}]])
def test_damaged_bends_are_left_out(document, bends):
    saved = Placement()
    nodes = document.graph.nodes()
    for node in nodes:
        saved.place(node.id, 10.0 * node.ordinal, 0.0)
    data = json.loads(saved.to_json(nodes, b""))
    data["bends"] = bends
    found = Placement()
    assert found.load_json(nodes, json.dumps(data)) == len(nodes)
    assert found.bends == {}


def test_the_distance_from_a_wire_is_measured_along_it_and_not_in_its_belly():
    arch = [QPointF(0, 0), QPointF(0, 100), QPointF(100, 100), QPointF(100, 0)]
    assert distance_to(QPointF(50, 40), arch) == 50
    assert distance_to(QPointF(50, 104), arch) == 4


def test_a_stroke_crosses_only_where_it_meets_the_wire():
    from PySide6.QtCore import QLineF

    course = [QPointF(0, 0), QPointF(100, 0)]
    assert crosses(QLineF(50, -5, 50, 5), course)
    assert not crosses(QLineF(150, -5, 150, 5), course)
    assert not crosses(QLineF(50, -9, 50, -1), course)


@pytest.mark.parametrize("place", [(0, 400), (0, -400), (-300, 0), (-500, 60)], ids=["below", "above", "beside", "far"])
def test_a_wire_that_leads_back_goes_around_its_two_nodes(hands, place):
    item, target = hands.node("conv1"), hands.node("pool1")
    at = item.pos() + QPointF(*place)
    hands.view.document.move_nodes({target.node_id: Point(at.x(), at.y())})
    wire = hands.wire("conv1", "pool1")
    inner = [each.scene_body().adjusted(2, 2, -2, -2) for each in (item, target)]
    assert not any(box.contains(point) for box in inner for point in wire.course())


def test_wires_around_a_row_stay_clear_of_it_when_it_makes_room(hands):
    view = hands.view
    conv2 = hands.node("conv2")
    insert_on_wire(view.canvas, "LRN", hands.wire("conv1", "pool1").edge, hands.wire("conv1", "pool1").line.center())
    body = conv2.scene_body().adjusted(1, 1, -1, -1)
    crossing = {
        item.edge.blob for item in view.canvas.edges.values() if any(body.contains(point) for point in item.course())
    }
    assert not crossing


def test_a_right_click_on_a_wire_opens_its_menu(hands):
    view = hands.view
    hands.click(hands.title("ip1"))
    hands.click(hands.on_wire("conv1", "pool1"), RIGHT)
    view.document.selection.flush()
    assert view.canvas.selected_edge == hands.wire("conv1", "pool1").edge
    assert not view.document.selection.node_ids
    assert not view.popup.isVisible()
    menu = view.findChild(QMenu, "canvas.wire_menu")
    assert menu is not None and menu.isVisible()
    next(action for action in menu.actions() if action.text().startswith("Cut it")).trigger()
    menu.close()
    assert view.document.graph.named("pool1")[0].bottoms == ("?",)
