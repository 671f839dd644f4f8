"""Folding of long nets: only what changed is looked at, plans are made beside the window, wires follow in slices."""

from __future__ import annotations

import random

import pytest
from PySide6.QtWidgets import QToolButton

from app.canvas.edits import foldedits
from app.canvas.edits.arrange import room_of
from app.canvas.scene import ledscene
from app.canvas.scene.blockitem import BlockItem
from app.canvas.scene.foldplan import plan_fold, seen
from engine.graph.repeats import repeats_of
from tests.app.canvas.looks import cards, picture
from tests.app.canvas.typist import random_edit


@pytest.fixture
def in_thread(monkeypatch):
    monkeypatch.setattr(foldedits, "FOLDED_IN_THREAD_FROM", 1)


def ports(view) -> list[object]:
    return sorted(
        (card.node_id, card.layers, card.input_ends, card.output_ends, dict(card.wired_inputs), len(card.edges))
        for card in cards(view)
    )


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("inside", [False, True])
def test_an_edit_leaves_what_looking_at_everything_would_leave(net, view, seed, inside):
    foldedits.fold_repeats(view)
    folding = view.canvas.folding
    if inside:
        folding.look_into(max(cards(view), key=lambda card: len(card.layers)).node_id)
    rng = random.Random(seed)
    for step in range(20):
        if step % 6 == 5 and net.undo_stack.index() > 2:
            net.undo_stack.undo()
        else:
            random_edit(net, rng)
        found = picture(view), ports(view)
        folding.refresh()
        assert (picture(view), ports(view)) == found, step


def test_an_edit_of_a_folded_net_touches_no_other_card(net, view, monkeypatch):
    foldedits.fold_repeats(view)
    described: list[BlockItem] = []
    describe = view.canvas.folding._describe
    monkeypatch.setattr(view.canvas.folding, "_describe", lambda card: described.append(card) or describe(card))
    card = cards(view)[0]
    net.apply("Rename", lambda graph: graph.set_string(card.layers[3], ("name",), "other"))
    assert described == [card]
    described.clear()
    net.apply("Delete", lambda graph: graph.remove_nodes(card.layers[3:4]))
    assert card in described and len(described) <= 3


def test_a_plan_knows_the_cards_as_they_will_be(net, view):
    plan = plan_fold(net.graph, repeats_of(net.graph), seen(view.canvas), room_of(view))
    foldedits.fold_repeats(view)
    shown = view.canvas.items_shown()
    assert {item.node_id for item in shown} == set(plan.places)
    assert all((item.x(), item.y()) == plan.places[item.node_id] for item in shown)
    bodies = [item.scene_body() for item in shown]
    assert not any(a.intersects(b) for place, a in enumerate(bodies) for b in bodies[:place])
    led = [edge for edge in view.canvas.folding.edges() if edge.route is not None]
    assert len(led) == len(plan.routes) > 0


def test_a_long_net_is_folded_when_its_plan_is_there(net, view, in_thread, qtbot):
    flat = picture(view)
    foldedits.fold_repeats(view)
    cancel = view.breadcrumb.findChild(QToolButton, "canvas.unfold")
    assert view.canvas.folding.seeking and not view.breadcrumb.isHidden() and cancel.text() == "Cancel"
    assert picture(view) == flat
    qtbot.waitUntil(lambda: bool(cards(view)), timeout=10_000)
    assert cancel.text() == "Unfold" and net.undo_stack.undoText().startswith("Fold")
    net.undo_stack.undo()
    assert picture(view) == flat


def test_it_is_left_when_asked_again(net, view, in_thread, qtbot):
    count = net.undo_stack.count()
    foldedits.fold_repeats(view)
    view.breadcrumb.findChild(QToolButton, "canvas.unfold").click()
    assert not view.canvas.folding.seeking and view.breadcrumb.isHidden()
    qtbot.waitUntil(lambda: not net.jobs.busy, timeout=10_000)
    assert not cards(view) and net.undo_stack.count() == count


def test_an_edit_meanwhile_begins_it_anew(net, view, in_thread, qtbot):
    foldedits.fold_repeats(view)
    last = net.graph.node_ids()[-1]
    net.apply("Delete", lambda graph: graph.remove_nodes([last]))
    qtbot.waitUntil(lambda: bool(cards(view)), timeout=10_000)
    assert all(last not in card.layers for card in cards(view))
    assert [net.undo_stack.text(place) for place in range(net.undo_stack.count())][-2:] == [
        "Delete",
        "Fold repeated blocks",
    ]


def test_very_many_wires_are_led_in_slices_to_the_same_courses(net, view, monkeypatch, qtbot):
    flat = picture(view)
    foldedits.fold_repeats(view)
    folded = picture(view)
    monkeypatch.setattr(ledscene, "_MANY", 4)
    for expected in (flat, folded, flat):
        for wire in view.canvas.edges.values():  # as if all cards were moved
            wire.stale = True
        foldedits.fold_repeats(view)
        wires = view.canvas.folding.edges()
        assert any(wire.stale for wire in wires)
        qtbot.waitUntil(lambda: not view.canvas.leading.active, timeout=5000)
        assert not any(wire.stale for wire in view.canvas.folding.edges())
        assert picture(view)[1] == expected[1]
