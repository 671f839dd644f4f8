"""Guides, snapping, align, distribute and straighten."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt

from app.canvas.gestures.guides import GuideLines
from app.document.placement import Point
from tests.app.canvas.hands import CTRL, SHIFT, Hands

Key = Qt.Key
NAMES = ("conv1", "pool1", "conv2")


@pytest.fixture
def hands(canvas) -> Hands:
    """Three nodes pulled apart by odd steps, and selected."""
    hands = Hands(canvas)
    document = canvas.document
    steps = {"conv1": (0, 0), "pool1": (13, 47), "conv2": (-21, -33)}
    points = {}
    for name, (dx, dy) in steps.items():
        item = hands.node(name)
        points[item.node_id] = Point(item.x() + dx, item.y() + dy)
    document.move_nodes(points)
    document.undo_stack.clear()
    document.selection.set([hands.node(name).node_id for name in NAMES])
    return hands


def boxes(hands: Hands):
    return [hands.node(name).scene_body() for name in NAMES]


@pytest.mark.parametrize(
    ("key", "side", "best"),
    [(Key.Key_A, "left", min), (Key.Key_D, "right", max), (Key.Key_W, "top", min), (Key.Key_S, "bottom", max)],
)
def test_align(hands, qtbot, key, side, best):
    before = hands.state()
    aim = best(getattr(box, side)() for box in boxes(hands))
    qtbot.keyClick(hands.view, key, SHIFT)
    assert [getattr(box, side)() for box in boxes(hands)] == pytest.approx([aim] * 3)
    hands.check_one_step(before)


@pytest.mark.parametrize("key", [Key.Key_H, Key.Key_V])
def test_distribute_leaves_equal_room_and_the_ends_where_they_are(hands, qtbot, key):
    before = hands.state()
    start, end = ("left", "right") if key == Key.Key_H else ("top", "bottom")
    old = sorted(boxes(hands), key=lambda box: getattr(box, start)())
    qtbot.keyClick(hands.view, key, SHIFT)
    new = sorted(boxes(hands), key=lambda box: getattr(box, start)())
    gaps = [getattr(b, start)() - getattr(a, end)() for a, b in pairwise(new)]
    assert gaps[0] == pytest.approx(gaps[1])
    assert [new[0], new[-1]] == [old[0], old[-1]]
    hands.check_one_step(before)


def test_straighten_levels_the_wires_of_a_chain(hands, qtbot):
    before = hands.state()
    qtbot.keyClick(hands.view, Key.Key_Q)
    for source, target in (("conv1", "pool1"), ("pool1", "conv2")):
        line = hands.wire(source, target).line
        assert line.y1() == pytest.approx(line.y2())
    assert hands.node("conv1").y() == before[1][hands.node("conv1").node_id].y
    hands.check_one_step(before)


def test_what_hangs_under_a_node_goes_along(hands, qtbot):
    document = hands.view.document
    document.selection.set([hands.node("ip1").node_id, hands.node("conv2").node_id])
    gap = hands.node("relu1").pos() - hands.node("ip1").pos()
    qtbot.keyClick(hands.view, Key.Key_W, SHIFT)
    assert hands.node("relu1").docked
    assert hands.node("relu1").pos() - hands.node("ip1").pos() == gap


@pytest.mark.parametrize("key", [Key.Key_A, Key.Key_H, Key.Key_Q])
def test_too_few_nodes_are_left_alone(hands, qtbot, key):
    hands.view.document.selection.clear()
    qtbot.keyClick(hands.view, key, SHIFT if key != Key.Key_Q else Qt.KeyboardModifier.NoModifier)
    assert hands.view.document.undo_stack.count() == 0


def lines(hands: Hands) -> list:
    found = [item for item in hands.view.canvas.items() if isinstance(item, GuideLines)]
    return found[0].lines if found else []


def test_a_node_is_drawn_in_line_with_one_off_the_grid_and_a_guide_shows_it(hands):
    document = hands.view.document
    document.selection.clear()
    aim = hands.node("pool1").y()
    assert aim % 10
    start = hands.title("conv1")
    end = start + QPoint(0, round(aim - hands.node("conv1").y()) + 4)
    hands.carry(start, end)
    assert hands.node("conv1").y() == aim
    assert any(line.y1() == line.y2() == aim for line in lines(hands))
    hands.release(end)
    assert hands.node("conv1").y() == aim
    assert not lines(hands)


def test_shift_drags_past_grid_and_guides(hands):
    hands.view.document.selection.clear()
    start = hands.title("conv1")
    was = hands.node("conv1").y()
    step = round(hands.node("pool1").y() - was) + 4
    hands.press(start)
    hands.move(start + QPoint(0, 5), modifiers=SHIFT)
    hands.move(start + QPoint(0, step), modifiers=SHIFT)
    assert hands.node("conv1").y() == was + step
    assert not lines(hands)
    hands.release(start + QPoint(0, step), modifiers=SHIFT)


def test_bypass_is_reversible_shown_and_one_step(hands, qtbot):
    view = hands.view
    view.document.selection.set([hands.node("pool1").node_id])
    before = hands.state()
    qtbot.keyClick(view, Key.Key_B, CTRL)
    graph = view.document.graph
    assert graph.named("conv2")[0].bottoms == ("conv1",)
    face = hands.node("pool1").face
    assert face.bypassed
    assert face.state == "bypassed"
    assert not face.ghost
    hands.check_one_step(before)
    qtbot.keyClick(view, Key.Key_B, CTRL)
    assert bytes(graph) == before[0]
    assert not hands.node("pool1").face.bypassed


def test_a_source_is_not_bypassed_and_the_window_says_why(hands, qtbot):
    view = hands.view
    view.document.selection.set([hands.node("mnist").node_id])
    with qtbot.waitSignal(view.refused) as refused:
        qtbot.keyClick(view, Key.Key_B, CTRL)
    assert "reads nothing" in refused.args[0]
    assert view.document.undo_stack.count() == 0


def test_freeze_is_reversible_shown_and_one_step(hands, qtbot):
    view = hands.view
    before = hands.state()
    qtbot.keyClick(view, Key.Key_L, CTRL)
    assert [hands.node(name).face.state for name in NAMES] == ["frozen", "", "frozen"]
    rates = [[each.lr_mult for each in view.document.graph.layer_message(hands.node("conv1").node_id).param]]
    assert rates == [[0.0, 0.0]]
    hands.check_one_step(before)
    qtbot.keyClick(view, Key.Key_L, CTRL)
    assert bytes(view.document.graph) == before[0]


def test_freezing_what_has_no_weights_is_refused(hands, qtbot):
    view = hands.view
    view.document.selection.set([hands.node("pool1").node_id])
    with qtbot.waitSignal(view.refused) as refused:
        qtbot.keyClick(view, Key.Key_L, CTRL)
    assert "weights" in refused.args[0]
