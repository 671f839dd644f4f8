"""Comparing long nets: the window answers while it is made, maps show where something differs, and it can be left."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt

from app.canvas.scene.edgeitem import EdgeItem
from app.compare.aligning import plan
from app.compare.sources import file_of
from app.compare.view import CompareView
from app.document import Document
from app.theme import Theme
from engine.graph import OpGraph
from tests.app.compare.conftest import settle
from tests.benchmarks.nets import residual_net

LAYERS = 320


@pytest.fixture
def long(tmp_path, qtbot):
    """A long net beside one in which some layers are wider, shown at once."""
    text = residual_net(LAYERS)
    path = tmp_path / "old.prototxt"
    path.write_text(text.replace("num_output: 16", "num_output: 12", 2))
    document = Document(OpGraph.parse(text))
    view = CompareView(document, file_of(path))
    qtbot.addWidget(view)
    view.resize(1400, 800)
    view.show()
    yield view
    view.close_comparison()
    document.close()


def placed(view) -> bool:
    """Whether both sides are there, and are being moved no more."""
    return view.canvases is not None and view.canvases[0].is_placed and not view.together.busy


def show_all(view, qtbot) -> None:
    """Unfold everything, and wait until it stands where it shall."""
    view.equal.choose("all")
    qtbot.waitUntil(lambda: placed(view), timeout=20_000)
    qtbot.waitUntil(lambda: not view.comparison.busy and placed(view), timeout=20_000)


def test_a_long_net_is_made_in_slices_and_stands_alike_on_both_sides(long, qtbot):
    ticks = 0
    while not placed(long):
        qtbot.wait(1)
        ticks += 1
        assert ticks < 20_000
    settle(qtbot, long)
    show_all(long, qtbot)
    old, new = long.canvases
    assert len(old.canvas.nodes) == len(new.canvas.nodes) == LAYERS
    for before, after in long.comparison.difference.pairs:
        a, b = old.canvas.nodes[before.id], new.canvas.nodes[after.id]
        assert a.x() == b.x()
        assert a.y() == b.y() or a.docked
    assert not any(wire.stale for canvas in (old, new) for wire in canvas.canvas.edges.values())
    assert {each.kinds[0] for each in long.comparison.changes} >= {"changed"}


def test_the_maps_show_both_nets_with_what_differs(long, qtbot):
    settle(qtbot, long)
    qtbot.waitUntil(lambda: placed(long), timeout=20_000)
    old, new = long.canvases
    assert old.map.isVisible() and new.map.isVisible(), "a long net has its map at first"
    picture = new.map.grab().toImage()
    kind = next(iter(new.marks.values()))
    body = new.map.transform().mapRect(new.canvas.nodes[next(iter(new.marks))].scene_body())
    wanted, seen = Theme.current().color(kind.role), picture.pixelColor(body.center().toPoint())
    assert sum(abs(a - b) for a, b in zip(wanted.getRgb(), seen.getRgb(), strict=True)) < 60
    qtbot.keyClick(long, Qt.Key.Key_M)
    assert not old.map.isVisible() and not new.map.isVisible()


@pytest.mark.parametrize("events", [0, 3, 12])
def test_a_comparison_is_left_at_any_time_without_waiting(long, qtbot, events):
    for _event in range(events):
        qtbot.wait(1)
    start = time.thread_time()
    long.close_comparison()
    assert time.thread_time() - start < 0.15
    qtbot.wait(20)


def test_costs_that_are_not_all_known_are_not_subtracted(long, qtbot):
    settle(qtbot, long)
    before, after = long._cost_words()
    assert long.comparison.counts[0].unknown, "the narrow layers do not fit what they are added to"
    assert "not known" in before and "+" not in after and "(" not in after


def test_a_plan_is_made_step_by_step(long, qtbot):
    settle(qtbot, long)
    show_all(long, qtbot)
    old, new = long.canvases
    steps = plan(old.canvas, new.canvas, {a.id: b.id for a, b in long.comparison.difference.pairs})
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found = done.value
            break
        count += 1
    assert count > LAYERS
    assert len(found.nodes) == LAYERS


def test_another_way_is_chosen_while_one_is_being_shown(long, qtbot, monkeypatch):
    settle(qtbot, long)
    show_all(long, qtbot)
    monkeypatch.setattr("app.slices._SLICE", 0.0)  # a card or a wire each time
    for mode in ("hide", "all", "hide", "fold", "hide"):
        long.equal.choose(mode)
        for _event in range(5):
            qtbot.wait(1)
    monkeypatch.undo()
    qtbot.waitUntil(lambda: placed(long), timeout=20_000)
    for canvas in long.canvases:
        seen = {node for node, item in canvas.canvas.nodes.items() if item.isVisible()}
        assert seen == {item.node_id for item in canvas.canvas.items_shown()} == set(canvas.marks)
    show_all(long, qtbot)
    for canvas in long.canvases:
        assert all(item.isVisible() for item in (*canvas.canvas.nodes.values(), *canvas.canvas.edges.values()))
        assert not any(wire.stale for wire in canvas.canvas.edges.values())


def test_no_wire_is_led_before_its_cards_have_their_places(long, qtbot, monkeypatch):
    led: list[bool] = []
    lead = EdgeItem.update_path

    def watched(wire):
        led.append(wire.scene().lies_in_heap)
        lead(wire)

    settle(qtbot, long)
    qtbot.waitUntil(lambda: placed(long), timeout=20_000)
    monkeypatch.setattr(EdgeItem, "update_path", watched)
    show_all(long, qtbot)
    assert led and not any(led)
