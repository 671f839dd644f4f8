"""Folding: what is shown, what is kept, and that the text of the net stays as it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QToolButton

from app.canvas.edits import edits, foldedits
from app.canvas.scene.blockitem import BlockItem
from app.document import Document
from app.document.blocks import Block
from tests.app.canvas.hands import CTRL, Hands
from tests.app.canvas.looks import cards, picture
from tests.benchmarks.nets import residual_net


@pytest.fixture
def net(tmp_path):
    """A residual net of 60 layers in a file: too short to be folded by itself."""
    path = tmp_path / "net.prototxt"
    path.write_text(residual_net(60))
    document = Document.open(path)
    yield document
    document.close()


@pytest.fixture
def view(net, make_canvas):
    return make_canvas(net)


def shown(view) -> list[str]:
    return [item.face.title for item in view.canvas.items_shown()]


def names(view, card: BlockItem) -> set[str]:
    return {view.document.graph.node(node).name for node in card.layers}


def test_repeats_fold_to_cards_with_counts_and_back_in_one_step_each(net, view, qtbot):
    text, flat = bytes(net.graph), picture(view)
    view.fold_repeats()
    folded = picture(view)
    assert [card.face.type for card in cards(view)] == ["5 \u00d7 residual block", "12 \u00d7 Pooling"]
    assert len(view.canvas.items_shown()) == len(net.graph) - sum(len(card.layers) - 1 for card in cards(view))
    view.fold_repeats()
    assert picture(view) == flat
    stack = net.undo_stack
    assert stack.count() == 2
    for expected in (folded, flat):
        stack.undo()
        assert picture(view) == expected
    for expected in (folded, flat):
        stack.redo()
        assert picture(view) == expected
    assert bytes(net.graph) == text, "folding is no part of the text"


def test_wires_at_the_edge_of_a_block_end_at_its_ports(net, view):
    view.fold_repeats()
    card = cards(view)[0]
    assert [port.blob for port in card.face.inputs] == ["input1"]
    assert len(card.face.outputs) == 1
    edges = view.canvas.folding.edges()
    assert any(edge.head is card for edge in edges)
    assert any(edge.tail is card for edge in edges)
    for edge in edges:
        if not edge.docked:
            assert edge.path.pointAtPercent(0.0) == edge.tail.output_point(edge.out_port)
            assert edge.path.pointAtPercent(1.0) == edge.head.input_point(edge.in_port)
    ends = [(edge.tail, edge.out_port, edge.head, edge.in_port) for edge in edges]
    assert len(ends) == len(set(ends)), "of wires that lie on each other one is shown"


def test_double_click_goes_in_and_u_goes_out(net, view, qtbot):
    view.fold_repeats()
    hands = Hands(view)
    outer = shown(view)
    card = cards(view)[0]
    hands.double_click(view.mapFromScene(card.scene_body().center()))
    assert len(cards(view)) == 5, "the parts, one by one"
    assert len({(item.x(), item.y()) for item in view.canvas.items_shown()}) == 5
    part = cards(view)[0]
    hands.double_click(view.mapFromScene(part.scene_body().center()))
    assert set(shown(view)) == names(view, part)
    crumbs = [button.text() for button in view.breadcrumb.findChildren(QToolButton) if not button.isHidden()]
    assert crumbs[0] == "Whole net"
    assert len(crumbs) == 3
    qtbot.keyClick(view, Qt.Key.Key_U)
    assert len(cards(view)) == 5
    qtbot.keyClick(view, Qt.Key.Key_U)
    assert shown(view) == outer
    qtbot.keyClick(view, Qt.Key.Key_U)
    assert shown(view) == outer
    assert net.undo_stack.count() == 1, "looking into a block is no step of the history"


def test_the_breadcrumb_leads_out(net, view, qtbot):
    view.fold_repeats()
    view.canvas.folding.look_into(cards(view)[0].node_id)
    view.canvas.folding.look_into(cards(view)[2].node_id)
    button = view.breadcrumb.findChild(QToolButton, "canvas.level.all")
    assert not view.breadcrumb.isHidden()
    button.click()
    assert view.canvas.folding.level is None


def test_what_is_folded_is_told_in_full_after_coming_out(net, view):
    view.fold_repeats()
    view.breadcrumb.resize(40, view.breadcrumb.height())  # as in a block with a short name
    view.breadcrumb.refill()
    assert view.breadcrumb.width() >= view.breadcrumb.sizeHint().width()


def test_a_card_is_selected_moved_and_deleted_with_all_its_layers(net, view):
    view.fold_repeats()
    hands = Hands(view)
    card = cards(view)[0]
    at = view.mapFromScene(card.scene_body().center())
    before = card.pos()
    hands.drag(at, at + QPoint(50, 30))
    assert card.pos() != before
    assert set(net.selection.node_ids) == set(card.layers)
    net.undo_stack.undo()
    assert card.pos() == before
    text = bytes(net.graph)
    hands.click(view.mapFromScene(card.scene_body().center()))
    edits.delete_selected(view.canvas)
    assert [card.face.type for card in cards(view)] == ["12 \u00d7 Pooling"]
    net.undo_stack.undo()
    assert sorted(len(each.layers) for each in cards(view)) == sorted([len(card.layers), 12])
    assert bytes(net.graph) == text


def test_a_box_and_ctrl_click_take_whole_cards(net, view):
    view.fold_repeats()
    hands = Hands(view)
    card = cards(view)[0]
    body = card.scene_body()
    corners = [view.mapFromScene(point) for point in (body.topLeft(), body.bottomRight())]
    hands.drag(corners[0] - QPoint(20, 30), corners[1] + QPoint(20, 20))
    assert set(card.layers) <= set(net.selection.node_ids)
    net.selection.clear()
    hands.click(view.mapFromScene(body.center()), modifiers=CTRL)
    assert set(net.selection.node_ids) == set(card.layers)
    net.selection.flush()
    assert card.marked


def test_a_wire_drawn_from_the_port_of_a_card_is_that_of_the_layer_inside(net, view):
    view.fold_repeats()
    hands = Hands(view)
    card = cards(view)[0]
    node, top = card.end("output", 0)
    blob = net.graph.node(node).tops[top]
    target = next(item for item in view.canvas.items_shown() if "Pooling" in item.face.type)
    reader, bottom = target.end("input", 0)
    hands.drag(view.mapFromScene(card.output_point(0)), view.mapFromScene(target.input_point(0)))
    assert net.graph.node(reader).bottoms[bottom] == blob


def test_collapse_and_expand_a_selection(net, view, qtbot):
    graph = net.graph
    host = next(node for node in graph.nodes() if node.type == "Convolution")
    after = next(edge.target for edge in graph.edges_out(host.id))
    flat = picture(view)
    second = graph.node(next(edge.target for edge in graph.edges_out(after) if edge.target != after))
    net.selection.set([host.id, second.id])
    net.selection.flush()
    view.fold_selection()
    assert len(cards(view)) == 1
    assert {host.name, second.name, graph.node(after).name} <= names(view, cards(view)[0]), "in-place layers go along"
    folded = picture(view)
    net.undo_stack.undo()
    assert picture(view) == flat
    net.undo_stack.redo()
    assert picture(view) == folded
    net.selection.set(cards(view)[0].layers)
    view.fold_selection()
    assert picture(view) == flat


def test_one_layer_makes_no_block(net, view):
    pool = next(node for node in net.graph.nodes() if node.type == "Pooling")
    net.selection.set([pool.id])
    said: list[str] = []
    view.refused.connect(said.append)
    view.fold_selection()
    assert said
    assert net.undo_stack.count() == 0


def test_blocks_of_blocks_and_dissolving_the_outer_one(net, view):
    view.fold_repeats()
    inner = cards(view)[0]
    loose = [node.id for node in net.graph.nodes() if net.positions.blocks.home(node.id) is None][1:]
    assert loose
    net.selection.set([*inner.layers, *loose])
    view.fold_selection()
    outer = next(card for card in cards(view) if set(loose) <= set(card.layers))
    view.canvas.folding.look_into(outer.node_id)
    assert "5 \u00d7 residual block" in [card.face.type for card in cards(view)]
    view.canvas.folding.look_into(None)
    foldedits.unfold_block(view, outer.node_id)
    assert "5 \u00d7 residual block" in [card.face.type for card in cards(view)]
    assert all(view.canvas.nodes[node].isVisible() for node in loose)


def test_what_is_added_inside_of_a_block_stays_there(net, view):
    view.fold_repeats()
    card = cards(view)[0]
    count = len(card.layers)
    view.canvas.folding.look_into(card.node_id)
    view.canvas.folding.look_into(cards(view)[0].node_id)
    view.add_layer("Pooling")
    assert "Pooling" in [item.face.type for item in view.canvas.items_shown()]
    view.canvas.folding.look_into(None)
    assert len(cards(view)[0].layers) == count + 1


@pytest.mark.parametrize("step", ["undo", "redo"])
def test_what_undo_brings_back_inside_of_a_block_stays_outside(net, view, step):
    stack, (first, *_, last) = net.undo_stack, net.graph.node_ids()
    if step == "undo":
        net.apply("Delete", lambda graph: graph.remove_nodes([last]))
        node = last
    else:
        node = net.apply("Add", lambda graph: graph.add_node("ReLU", bottoms=["?"]))
        stack.undo()
    blocks = net.positions.blocks
    blocks.replace((), [Block(blocks.fresh_id(), "block", (first,))])
    view.canvas.folding.look_into(next(iter(blocks)).id)
    getattr(stack, step)()
    assert node in net.graph
    assert blocks.home(node) is None
    assert not view.canvas.nodes[node].isVisible()
    view.canvas.folding.look_into(None)
    assert view.canvas.nodes[node].isVisible()


def test_finding_a_folded_layer_goes_to_it(net, view):
    view.fold_repeats()
    node = cards(view)[0].layers[7]
    view.reveal(node)
    assert view.canvas.nodes[node].isVisible()
    assert view.canvas.folding.level is not None


def test_problems_and_costs_are_told_on_the_card(net, view, qtbot):
    net.live.start()
    qtbot.waitUntil(lambda: bool(net.shapes) and not net.live.busy, timeout=20_000)
    view.fold_repeats()
    card = cards(view)[0]
    assert dict(card.face.params)["multiply-adds"]
    assert dict(card.face.params)["parameters"][0].isdigit()
    assert card.face.outputs[0].shape
    assert not card.face.severity
    inside = next(node for node in card.layers if net.graph.node(node).type == "Convolution")
    net.apply("Break", lambda graph: graph.set_field(inside, ("convolution_param", "kernel_size"), "99"))
    qtbot.waitUntil(lambda: card.face.severity == "error", timeout=20_000)
    assert net.graph.node(inside).name in card.face.problems[0]


def test_blocks_are_remembered_beside_the_net(net, view, make_canvas):
    view.fold_repeats()
    view.canvas.folding.look_into(cards(view)[0].node_id)
    view.canvas.folding.look_into(None)
    before = picture(view)
    net.save()
    again = Document.open(net.path)
    try:
        seen = picture(make_canvas(again))
        assert [entry[1:] for entry in seen[0]] == [entry[1:] for entry in before[0]]
        assert len(seen[1]) == len(before[1])
    finally:
        again.close()


@pytest.mark.parametrize(
    "entry", [{"title": "x"}, {"title": "x", "nodes": ["a"]}, {"title": "x", "nodes": [], "inside": 9}, 7]
)
def test_damaged_blocks_are_left_out(net, view, entry, caplog):
    import json

    net.move_nodes({net.graph.node_ids()[0]: net.positions[net.graph.node_ids()[1]]})
    net.save()
    path = net.path.with_name(net.path.name + ".canvas.json")
    data = json.loads(path.read_text())
    data["blocks"] = [entry]
    path.write_text(json.dumps(data))
    again = Document.open(net.path)
    assert len(again.positions.blocks) == 0
    assert len(list(again.positions)) == len(net.graph)
    assert "damaged" in caplog.text
    again.close()


def test_keys_walk_from_card_to_card(net, view, qtbot):
    view.fold_repeats()
    first, second = cards(view)
    net.selection.set(first.layers)
    net.selection.flush()
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    after = view.canvas.folding.shown(net.selection.last)
    assert after not in (None, first)
    assert view.canvas.folding.level is None
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert set(net.selection.node_ids) == set(first.layers)
    before = first.pos()
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert first.x() == before.x() + 10
    assert second.scene() is view.canvas


def test_a_layer_added_after_a_card_stands_beside_it(net, view):
    view.fold_repeats()
    card = cards(view)[-1]
    net.selection.set(card.layers)
    view.add_layer("InnerProduct")
    new = view.canvas.nodes[net.selection.last]
    assert new.isVisible()
    assert net.graph.node(new.node_id).bottoms[0] == card.face.outputs[0].blob
    assert (new.pos() - card.pos()).manhattanLength() < 1000
    others = [item.scene_body() for item in view.canvas.items_shown() if item is not new]
    assert not any(new.scene_body().intersects(body) for body in others)


def test_f2_renames_a_block_and_not_a_layer_in_it(net, view, qtbot):
    view.fold_repeats()
    card = cards(view)[0]
    text = bytes(net.graph)
    net.selection.set(card.layers)
    net.selection.flush()
    qtbot.keyClick(view, Qt.Key.Key_F2)
    view.title_edit.setText("Trunk")
    qtbot.keyClick(view.title_edit, Qt.Key.Key_Return)
    assert "Trunk" in shown(view)
    assert bytes(net.graph) == text
    net.undo_stack.undo()
    assert "Trunk" not in shown(view)


def test_all_is_what_is_on_this_level(net, view):
    view.fold_repeats()
    view.canvas.folding.look_into(cards(view)[0].node_id)
    part = cards(view)[1]
    view.canvas.folding.look_into(part.node_id)
    view.select_all()
    assert set(net.selection.node_ids) == set(part.layers)


def test_taking_back_an_unfolding_puts_the_other_cards_back(net, view):
    view.fold_repeats()
    layers = [item.node_id for item in view.canvas.items_shown() if not isinstance(item, BlockItem)]
    net.selection.set(layers[-2:])
    view.fold_selection()
    before = picture(view)
    repeats = next(card for card in cards(view) if view.document.positions.blocks[card.node_id].kind)
    foldedits.unfold_block(view, repeats.node_id)
    after = picture(view)
    assert after != before
    for _round in range(2):
        net.undo_stack.undo()
        assert picture(view) == before
        net.undo_stack.redo()
        assert picture(view) == after
