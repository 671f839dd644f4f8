"""Gestures with real events: what they show, what they change, and that one undo takes each back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QLabel

from app.canvas.find import layers_of
from engine.graph import View
from tests.app.canvas.hands import CTRL, MIDDLE, RIGHT, SHIFT, Hands


def bottoms(hands: Hands, name: str) -> tuple[str, ...]:
    return hands.view.document.graph.named(name)[0].bottoms


def selected(hands: Hands) -> set[str]:
    document = hands.view.document
    return {document.graph.node(node_id).name for node_id in document.selection.node_ids}


def test_dragging_a_node_moves_it_on_the_grid_in_one_undo_step(hands):
    document = hands.view.document
    before = hands.node("conv2").pos()
    text = bytes(document.graph)
    hands.drag(hands.title("conv2"), hands.title("conv2") + QPoint(63, 238))  # far from what it could be aligned to
    after = hands.node("conv2").pos()
    assert (after.x() % 10, after.y() % 10) == (0, 0)
    assert abs(after.x() - before.x() - 63) <= 5
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert hands.node("conv2").pos() == before
    document.undo_stack.redo()
    assert hands.node("conv2").pos() == after
    assert bytes(document.graph) == text, "places are no part of the text"


def test_shift_drags_without_the_grid(hands):
    before = hands.node("conv2").pos()
    start = hands.title("conv2")
    hands.press(start)
    for step in (5, 33):
        hands.move(start + QPoint(step, 0), modifiers=SHIFT)
    hands.release(start + QPoint(33, 0), modifiers=SHIFT)
    assert hands.node("conv2").pos() == before + QPointF(33, 0)


def test_an_in_place_layer_follows_its_host_and_can_be_dragged_away(hands):
    relu, host = hands.node("relu1"), hands.node("ip1")
    assert relu.docked
    gap = relu.pos() - host.pos()
    hands.drag(hands.title("ip1"), hands.title("ip1") + QPoint(40, 80))
    assert relu.pos() - host.pos() == gap
    away = hands.view.mapFromScene(relu.scene_body().center())
    hands.drag(away, away + QPoint(200, 150))
    assert not relu.docked
    hands.view.document.undo_stack.undo()
    assert relu.docked


def test_escape_leaves_a_drag_as_it_was(hands, qtbot):
    before = hands.node("pool1").pos()
    hands.carry(hands.title("pool1"), hands.title("pool1") + QPoint(90, 90))
    assert hands.node("pool1").pos() != before
    qtbot.keyClick(hands.view, Qt.Key.Key_Escape)
    assert hands.node("pool1").pos() == before
    hands.release(QPoint(0, 0))
    assert hands.view.document.undo_stack.count() == 0


def test_dragging_from_port_to_port_connects_in_one_undo_step(hands):
    document = hands.view.document
    text = bytes(document.graph)
    hands.drag(hands.output("conv1"), hands.input("conv2"))
    assert bottoms(hands, "conv2") == ("conv1",)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert bytes(document.graph) == text
    document.undo_stack.redo()
    assert bottoms(hands, "conv2") == ("conv1",)


def test_a_wire_takes_hold_of_a_port_from_twenty_pixels(hands):
    hands.drag(hands.output("conv1"), hands.input("conv2") + QPoint(-13, 6))
    assert bottoms(hands, "conv2") == ("conv1",)


def test_a_bad_target_is_refused_and_the_reason_stands_at_the_pointer(hands):
    document = hands.view.document
    text = bytes(document.graph)
    hands.carry(hands.output("ip2"), hands.input("conv1"))
    reason = hands.view.findChild(QLabel, "canvas.reason")
    assert reason.isVisible()
    assert "cycle" in reason.text()
    hands.release(hands.input("conv1"))
    assert reason.isVisible()  # for it can be read only now, when the hand is at rest
    assert bytes(document.graph) == text
    assert document.undo_stack.count() == 0


def test_an_output_is_not_joined_to_an_output(hands):
    hands.carry(hands.output("conv1"), hands.output("conv2"))
    assert "input" in hands.view.findChild(QLabel, "canvas.reason").text()
    hands.release(hands.output("conv2"))
    assert hands.view.document.undo_stack.count() == 0


def test_dragging_an_end_off_an_input_disconnects_it(hands):
    document = hands.view.document
    text = bytes(document.graph)
    hands.drag(hands.input("pool1"), hands.input("pool1") + QPoint(-30, 150))
    assert bottoms(hands, "pool1") == ("?",)
    document.undo_stack.undo()
    assert bytes(document.graph) == text


def test_a_wire_dropped_where_it_was_changes_nothing(hands):
    hands.drag(hands.input("pool1"), hands.input("pool1") + QPoint(2, 8))
    hands.click(hands.input("pool1"))
    assert hands.view.document.undo_stack.count() == 0


def test_escape_puts_a_lifted_wire_back(hands, qtbot):
    hands.carry(hands.input("pool1"), hands.input("pool1") + QPoint(-30, 150))
    qtbot.keyClick(hands.view, Qt.Key.Key_Escape)
    assert all(edge.isVisible() for edge in hands.view.canvas.edges.values())
    assert bottoms(hands, "pool1") == ("conv1",)


def test_a_wire_dropped_on_empty_canvas_opens_the_search(hands):
    nowhere = hands.empty()
    hands.drag(hands.output("ip2"), nowhere)
    popup = hands.view.popup
    assert popup.isVisible()
    popup.chosen.emit("Softmax")
    popup.hide()
    new = hands.view.document.graph.nodes()[-1]
    assert new.type == "Softmax"
    assert new.bottoms == ("ip2",)


def test_delete_and_undo_bring_back_the_same_bytes_and_ids(hands, qtbot):
    document = hands.view.document
    text, ids = bytes(document.graph), set(document.graph.node_ids())
    hands.click(hands.title("conv2"))
    hands.click(hands.title("pool1"), modifiers=SHIFT)
    qtbot.keyClick(hands.view, Qt.Key.Key_Delete)
    assert not document.graph.named("conv2")
    assert len(hands.view.canvas.nodes) == len(ids) - 2
    after = bytes(document.graph)
    document.undo_stack.undo()
    assert (bytes(document.graph), set(document.graph.node_ids())) == (text, ids)
    assert set(hands.view.canvas.nodes) == ids
    document.undo_stack.redo()
    assert bytes(document.graph) == after


def test_a_selected_wire_is_deleted(hands, qtbot):
    a, b = hands.output("conv1"), hands.input("pool1")
    hands.click(QPoint((a.x() + b.x()) // 2, a.y()))
    assert hands.view.canvas.selected_edge is not None
    qtbot.keyClick(hands.view, Qt.Key.Key_Delete)
    assert bottoms(hands, "pool1") == ("?",)


@pytest.mark.parametrize(
    ("modifiers", "expected"), [(SHIFT, {"conv1", "pool1"}), (CTRL, {"conv1", "pool1"})], ids=["shift", "ctrl"]
)
def test_clicks_with_a_key_add(hands, modifiers, expected):
    hands.click(hands.title("conv1"))
    hands.click(hands.title("pool1"), modifiers=modifiers)
    assert selected(hands) == expected
    if modifiers == CTRL:
        hands.click(hands.title("pool1"), modifiers=CTRL)
        assert selected(hands) == {"conv1"}


def test_a_box_selects_what_it_touches_and_a_click_on_nothing_clears(hands):
    view = hands.view
    area = view.canvas.content_rect(hands.node(name).node_id for name in ("conv1", "pool1"))
    corner, other = view.mapFromScene(area.topLeft()), view.mapFromScene(area.bottomRight())
    hands.drag(corner - QPoint(8, 30), other + QPoint(8, 8))
    assert selected(hands) == {"conv1", "pool1"}
    hands.click(hands.empty())
    assert selected(hands) == set()


def test_select_all_and_arrows_nudge_in_one_step_each(hands, qtbot):
    view = hands.view
    view.select_all()
    assert len(selected(hands)) == len({node.name for node in view.document.graph.nodes()})
    before = hands.node("ip2").pos()
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert hands.node("ip2").pos() == before + QPointF(10, 0)
    view.document.undo_stack.undo()
    assert hands.node("ip2").pos() == before


@pytest.mark.parametrize("button", [MIDDLE, RIGHT], ids=["middle", "right"])
def test_drags_with_other_buttons_pan(hands, button):
    view = hands.view
    place = view.mapToScene(QPoint(300, 300))
    hands.drag(QPoint(300, 300), QPoint(350, 280), button=button)
    assert (view.mapToScene(QPoint(350, 280)) - place).manhattanLength() < 2
    assert not view.popup.isVisible()


def test_space_and_drag_pan_but_a_tap_of_space_opens_the_search(hands, qtbot):
    view = hands.view
    place = view.mapToScene(QPoint(300, 300))
    qtbot.keyPress(view, Qt.Key.Key_Space)
    hands.drag(QPoint(300, 300), QPoint(340, 310))
    qtbot.keyRelease(view, Qt.Key.Key_Space)
    assert (view.mapToScene(QPoint(340, 310)) - place).manhattanLength() < 2
    assert not view.popup.isVisible()
    qtbot.keyPress(view, Qt.Key.Key_Space)
    qtbot.keyRelease(view, Qt.Key.Key_Space)
    assert view.popup.isVisible()
    view.popup.hide()


def test_the_wheel_zooms_at_the_pointer(hands):
    view = hands.view
    at = QPoint(420, 260)
    place = view.mapToScene(at)
    hands.wheel(at, 2)
    assert view.scale_factor > 1.3
    assert (view.mapToScene(at) - place).manhattanLength() < 2
    hands.wheel(at, -2)
    assert view.scale_factor == pytest.approx(1.0, rel=1e-6)


def test_keys_for_frame_and_full_size(hands, qtbot):
    view = hands.view
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.visible_rect().contains(view.canvas.content_rect())
    qtbot.keyClick(view, Qt.Key.Key_1)
    assert view.scale_factor == 1.0
    hands.view.document.selection.set([hands.node("conv1").node_id])
    qtbot.keyClick(view, Qt.Key.Key_F)
    assert view.visible_rect().contains(hands.node("conv1").scene_body())


def test_double_click_renames_in_place(hands, qtbot):
    hands.double_click(hands.title("conv2"))
    edit = hands.view.title_edit
    assert edit.isVisible()
    edit.setText("second")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    graph = hands.view.document.graph
    assert graph.named("second")
    assert graph.named("pool2")[0].bottoms == ("conv2",), "renaming a layer leaves its blob"
    hands.view.document.undo_stack.undo()
    assert graph.named("conv2")


def test_a_name_that_is_taken_is_refused(hands, qtbot):
    hands.double_click(hands.title("conv2"))
    hands.view.title_edit.setText("conv1")
    with qtbot.waitSignal(hands.view.refused) as refused:
        qtbot.keyClick(hands.view.title_edit, Qt.Key.Key_Return)
    assert "conv1" in refused.args[0]


def test_the_phase_view_dims_what_is_not_in_it(hands):
    document = hands.view.document
    document.set_view(View("TRAIN"))
    hands.view.canvas.faces.refresh()
    assert hands.node("accuracy").face.ghost
    assert not hands.node("conv1").face.ghost
    document.set_view(View())
    hands.view.canvas.faces.refresh()
    assert not hands.node("accuracy").face.ghost


def test_a_wire_that_would_not_fit_says_so_but_is_not_forbidden(hands, qtbot):
    document = hands.view.document
    text = document.graph.text.replace(
        'type: "Data"', 'type: "Input" input_param { shape { dim: 4 dim: 1 dim: 28 dim: 28 } shape { dim: 4 } }'
    )
    with qtbot.waitSignal(document.shapes_changed, timeout=10_000):
        document.apply("Fixed input", lambda graph: graph.replace_text(text))
        document.live.start()
    hands.carry(hands.output("mnist", 1), hands.input("conv2"))
    reason = hands.view.findChild(QLabel, "canvas.reason")
    assert reason.isVisible()
    assert "expected" in reason.text()
    hands.release(hands.input("conv2"))
    assert bottoms(hands, "conv2") == ("label",)


def test_page_keys_walk_along_the_flow_and_l_grows(canvas, document, qtbot):
    graph, selection = document.graph, document.selection
    qtbot.keyClick(canvas, Qt.Key.Key_PageDown)
    assert selection.node_ids == (graph.nodes()[0].id,)
    qtbot.keyClick(canvas, Qt.Key.Key_PageDown)
    assert graph.node(selection.last).name == "conv1"
    qtbot.keyClick(canvas, Qt.Key.Key_PageDown)
    assert graph.node(selection.last).name == "pool1"
    qtbot.keyClick(canvas, Qt.Key.Key_PageUp)
    assert graph.node(selection.last).name == "conv1"
    qtbot.keyClick(canvas, Qt.Key.Key_L)
    assert {graph.node(each).name for each in selection.node_ids} == {"mnist", "conv1", "pool1"}
    assert document.undo_stack.count() == 0


def test_dissolve_joins_what_was_above_to_what_was_below(canvas, document, qtbot):
    graph, before = document.graph, bytes(document.graph)
    document.selection.set([graph.named("pool1")[0].id, graph.named("relu1")[0].id])
    qtbot.keyClick(canvas, Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier)
    assert not graph.named("pool1")
    assert graph.named("conv2")[0].bottoms == ("conv1",)
    assert graph.named("ip2")[0].bottoms == ("ip1",)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert bytes(graph) == before


def test_dissolve_keeps_both_phases_of_what_was_above(canvas, document, qtbot):
    graph = document.graph
    document.selection.set([graph.named("conv1")[0].id])
    qtbot.keyClick(canvas, Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier)
    sources = {edge.source for edge in graph.edges_in(graph.named("pool1")[0].id)}
    assert sources == {node.id for node in graph.named("mnist")}


@pytest.mark.parametrize(("before", "after"), [(2.0, 2.0), (0.1, 1.0)])
def test_a_layer_is_found_by_its_name_and_shown_so_that_it_can_be_read(canvas, document, qtbot, before, after):
    canvas.set_scale(before)
    qtbot.keyClick(canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert canvas.finder.isVisible()
    qtbot.keyClicks(canvas.finder.search, "accu")
    qtbot.keyClick(canvas.finder.search, Qt.Key.Key_Return)
    (node,) = document.graph.named("accuracy")
    assert document.selection.node_ids == (node.id,)
    assert canvas.scale_factor == pytest.approx(after)
    assert canvas.visible_rect().contains(canvas.canvas.nodes[node.id].scene_body())


def test_layers_of_one_name_are_told_apart_in_the_search(document):
    labels = [each.type for each in layers_of(document)]
    assert labels[:2] == ["mnist", "mnist (test)"]
    assert len(set(labels)) == len(document.graph)
