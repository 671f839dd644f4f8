"""Very long nets: what is done in slices ends as it would at once, and no step of it holds the window up."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.canvas.edits import edits, foldedits
from app.canvas.gestures import moving
from app.canvas.scene import folding, heat, ledscene, overview, scene
from app.canvas.scene.heat import MEASURES
from app.document import Document
from app.document.placement import Point
from engine.graph import OpGraph
from tests.app.canvas.looks import cards, painted, picture, settle
from tests.benchmarks.nets import residual_net

#: What may be felt on the window's thread, in seconds, and the room that a busy machine is given.
FELT, ROOM = 0.05, 3


@pytest.fixture
def in_slices(monkeypatch):
    """Have a short net treated as a very long one."""
    for module, name in (
        (overview, "_SLOW_FROM"), (heat, "_MANY"), (ledscene, "_MANY"), (ledscene, "VAST"), (scene, "VAST"),
        (folding, "_VAST"), (moving, "_VERY_MANY"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, 2)


def fold(view):
    foldedits.fold_repeats(view)


def move_all(view):
    view.select_all()
    view.document.selection.flush()
    edits_before = view.document.positions.of(view.canvas.nodes)
    view.document.move_nodes({key: Point(p.x + 30, p.y + 50) for key, p in edits_before.items()})


def undo(view):
    view.document.undo_stack.undo()


def redo(view):
    view.document.undo_stack.redo()


def warm(view):
    view.canvas.heat.set_measure(MEASURES[0])


def delete_some(view):
    view.document.selection.set(view.document.graph.node_ids()[10:40])
    edits.delete_selected(view.canvas)


STEPS = (fold, undo, redo, undo, move_all, undo, redo, warm, delete_some, undo, redo, undo)


def test_slices_end_as_everything_at_once_does(make_canvas, qtbot, monkeypatch, in_slices):
    found = []
    for sliced in (True, False):
        if not sliced:
            monkeypatch.undo()
        document = Document(OpGraph.parse(residual_net(120)))
        view = make_canvas(document)
        foldedits.fold_repeats(view)
        told = []
        for step in STEPS:
            step(view)
            document.selection.flush()
            settle(view, qtbot)
            told.append((picture(view), painted(view), view.canvas.content_rect(), view.canvas.sceneRect()))
        found.append(told)
        document.close()
    for place, (sliced, whole) in enumerate(zip(*found, strict=True)):
        assert sliced[0] == whole[0], place
        assert sliced[1] == whole[1], place
        assert sliced[2] == whole[2], place


def test_what_was_there_is_painted_until_the_new_is_there(view, net, qtbot, in_slices):
    settle(view, qtbot)
    before = painted(view)
    area = view.canvas.content_rect()
    net.selection.set(net.graph.node_ids())
    net.selection.flush()
    view.canvas.overview.forget()
    assert view.canvas.content_rect() == area
    assert painted(view) == before and not view.canvas.overview.prepare()
    settle(view, qtbot)
    assert painted(view) != before


def test_a_change_meanwhile_is_not_lost(view, net, qtbot, in_slices):
    settle(view, qtbot)
    overview = view.canvas.overview
    for _change in range(6):  # more than are waited for
        overview.forget()
        overview.prepare()
    item = next(iter(view.canvas.nodes.values()))
    item.marked = True
    overview.follow([item])
    settle(view, qtbot)
    assert item in overview._lists.boxes["marked", ""]


@pytest.mark.parametrize("times", range(3))
def test_undo_of_folding_brings_back_what_was_in_view(view, net, times):
    foldedits.fold_repeats(view)
    view.set_scale(0.8)
    view.centerOn(cards(view)[0])
    folded = view.scale_factor, view.visible_rect().center()
    foldedits.fold_repeats(view)  # unfolds
    view.frame(net.graph.node_ids()[20:24])
    flat = view.scale_factor, view.visible_rect().center()
    assert flat[0] != folded[0]
    for _time in range(times):
        net.undo_stack.undo()
        net.undo_stack.redo()
    assert looked_at(view) == near(flat)
    net.undo_stack.undo()
    assert looked_at(view) == near(folded)


def looked_at(view):
    center = view.visible_rect().center()
    return pytest.approx((view.scale_factor, center.x(), center.y()), abs=3.0)


def near(look):
    return look[0], look[1].x(), look[1].y()


def test_undo_of_a_block_of_a_few_layers_leaves_the_view_alone(view, net):
    net.selection.set(net.graph.node_ids()[4:8])
    foldedits.collapse(view)
    view.set_scale(0.9)
    look = view.look()
    net.undo_stack.undo()
    assert view.look().scale == look.scale


@pytest.mark.parametrize("dropped", [True, False])
def test_very_many_cards_are_dragged_as_outlines(view, net, qtbot, monkeypatch, dropped):
    monkeypatch.setattr(moving, "_VERY_MANY", 10)
    view.set_scale(1.0)
    item = next(each for each in view.canvas.nodes.values() if each.face.type == "Convolution")
    view.centerOn(item)
    view.select_all()
    net.selection.flush()
    before = {node: each.pos() for node, each in view.canvas.nodes.items()}
    hand, left = view.mapFromScene(item.scene_body().center()), Qt.MouseButton.LeftButton
    count = net.undo_stack.count()
    QTest.mousePress(view.viewport(), left, Qt.KeyboardModifier.NoModifier, hand)
    QTest.mouseMove(view.viewport(), hand + QPoint(20, 30))
    QTest.mouseMove(view.viewport(), hand + QPoint(50, 70))
    assert {node: each.pos() for node, each in view.canvas.nodes.items()} == before
    veil = view.gesture._veil
    assert veil.isVisible() and len(veil._boxes) == len(before)
    if not dropped:
        view.cancel_gesture()
        assert {node: each.pos() for node, each in view.canvas.nodes.items()} == before
        return
    QTest.mouseRelease(view.viewport(), left, Qt.KeyboardModifier.NoModifier, hand + QPoint(50, 70))
    steps = {(each.pos() - before[node]).toTuple() for node, each in view.canvas.nodes.items()}
    assert len(steps) == 1 and (QPointF(*steps.pop()) - QPointF(50, 70)).manhattanLength() <= 20
    assert net.undo_stack.count() == count + 1
    net.undo_stack.undo()
    assert {node: each.pos() for node, each in view.canvas.nodes.items()} == before


def thread_time(action: Callable[[], object]) -> float:
    start = time.thread_time()
    action()
    return time.thread_time() - start


@pytest.fixture
def vast():
    document = Document(OpGraph.parse(residual_net(5000)))
    yield document
    document.close()


@pytest.mark.slow
def test_no_verb_on_five_thousand_layers_is_felt(vast, make_canvas, qtbot):
    """Each verb by itself, without what is painted or follows in slices; the best of two looks."""
    document, view = vast, make_canvas(vast)
    qtbot.waitUntil(lambda: bool(cards(view)) and not document.jobs.busy, timeout=60_000)
    settle(view, qtbot)
    looks: dict[str, list[float]] = {}

    def look(name: str, action: Callable[[], object]) -> None:
        settle(view, qtbot)
        looks.setdefault(name, []).append(thread_time(action))
        qtbot.waitUntil(lambda: not document.jobs.busy and not view.gathering.active, timeout=60_000)
        settle(view, qtbot)

    stack = document.undo_stack
    for _look in range(2):
        look("unfold", lambda: foldedits.fold_repeats(view))
        look("undo unfolding", stack.undo)
        look("redo unfolding", stack.redo)
        look("select all", lambda: (view.select_all(), document.selection.flush()))
        look("nudge all", lambda: QTest.keyClick(view, Qt.Key.Key_Right))
        look("undo nudging", stack.undo)
        look("lay out", view.arrange_all)
        look("heat", lambda: view.show_heat("parameters"))
        look("no heat", lambda: view.show_heat(""))
        look("find", view.find_layer)
        look("type", lambda: QTest.keyClicks(view.finder.search, "c"))
        view.finder.hide()
        look("select none", lambda: (document.selection.clear(), document.selection.flush()))
        look("fold", lambda: foldedits.fold_repeats(view))
    best = {name: min(times) for name, times in looks.items()}
    assert max(best.values()) < ROOM * FELT, best


def test_the_map_shows_the_net_as_it_is_in_the_end(view, net, qtbot, monkeypatch):
    monkeypatch.setattr(overview, "_SLOW_FROM", 2)
    settle(view, qtbot)
    view.minimap.toggle()
    view.minimap.repaint()
    before = view.minimap.grab().toImage()
    net.selection.set(net.graph.node_ids())
    net.selection.flush()
    view.minimap.repaint()
    settle(view, qtbot)
    qtbot.waitUntil(lambda: view.minimap.grab().toImage() != before)
    assert view.minimap._painted[0] == view.canvas.overview.version
