"""How large the updates of layers are, on their cards, while a net trains."""

from __future__ import annotations

import math
import time

import pytest

from app.canvas.edits.edits import tooltip
from app.canvas.scene import heat
from app.canvas.scene.heat import TIME, UPDATES, heat_color
from app.document import Document
from engine.graph import OpGraph
from tests.app.support import contrast
from tests.benchmarks.nets import residual_net

_FELT = 0.05


def heats(view):
    return {item.face.title: item.heat for item in view.canvas.items_shown()}


@pytest.fixture
def view(document, make_canvas):
    return make_canvas(document)


def take(view, values, iteration=10, *, is_running=True):
    view.document.live.updates.take(values, iteration, is_running=is_running)


def test_they_show_by_themselves_with_word_unit_and_number(view):
    take(view, {})
    assert view.canvas.heat.measure is None
    take(view, {"conv1": 1.234e-3, "ip1": 2e-5, "gone": 1.0})
    assert view.canvas.heat.measure is UPDATES
    found = heats(view)
    assert {name for name, heat in found.items() if heat is not None} == {"conv1", "ip1"}
    assert (found["conv1"].text, found["ip1"].text) == ("1.2e-3", "2.0e-5")
    assert found["conv1"].reach == pytest.approx(0.5, abs=0.03), "the usual is in the middle"
    assert view.legend.isVisible()
    assert view.legend.texts[:2] == ("Live: size of updates", "iteration 10")
    assert view.legend.middle == "1e-3 of weights"
    item = view.canvas.nodes[view.document.graph.named("conv1")[0].id]
    assert "Size of updates: 1.2e-3 of the weights" in tooltip(view.canvas, item.scene_body().center(), 0.0)
    view.viewport().grab()
    view.legend.grab()


def test_they_are_grey_and_said_to_be_the_last_once_the_run_is_over(view):
    values = {"conv1": 1e-2}
    take(view, values)
    colored = heats(view)["conv1"].color
    take(view, values, is_running=False)
    grey = heats(view)["conv1"].color
    assert grey.red() == grey.green() == grey.blue() and grey != colored
    assert view.legend.texts[0] == "Last size of updates"
    assert view.canvas.heat.words(view.canvas.nodes[view.document.graph.named("conv1")[0].id]).startswith("Last update")
    take(view, {}, 0, is_running=False)
    assert view.canvas.heat.measure is None and not view.legend.isVisible()
    assert set(heats(view).values()) == {None}


@pytest.mark.parametrize(("value", "word"), [(math.nan, "NaN"), (math.inf, "Inf")])
def test_what_is_no_number_has_its_word_and_the_colour_of_an_error(view, value, word):
    take(view, {"conv1": value, "conv2": 1e-3})
    bad = heats(view)["conv1"]
    assert bad.text == word and bad.is_bad and bad.reach == 1.0
    assert bad.color not in [heat_color(step / 24) for step in range(25)]
    assert contrast(bad.pen.color(), bad.color) >= 4.5
    take(view, {"conv1": 1e-3, "conv2": 1e-3})
    assert not heats(view)["conv1"].is_bad


def test_what_the_user_chose_wins_and_what_was_put_off_stays_off(view):
    view.show_heat("parameters")
    take(view, {"conv1": 1e-3})
    assert view.canvas.heat.measure.name == "parameters"
    view.show_heat("updates")
    assert heats(view)["conv1"].text == "1.0e-3"
    view.show_heat("")
    take(view, {"conv1": 2e-3})
    take(view, {})
    take(view, {"conv1": 1e-3})
    assert view.canvas.heat.measure is None, "another run does not bring it back"
    view.show_heat("updates")
    assert heats(view)["conv1"].text == "1.0e-3"


def test_a_layer_that_is_not_in_the_run_has_none(view):
    document = view.document
    take(view, {"conv1": 1e-3, "ip1": 1e-3})
    node = document.graph.named("ip1")[0].id
    document.apply("Rename", lambda graph: graph.rename_node(node, "mine"))
    take(view, {"conv1": 1e-3, "ip1": 2e-3})
    assert heats(view)["mine"] is None
    assert heats(view)["conv1"] is not None
    document.undo_stack.undo()
    take(view, {"conv1": 1e-3, "ip1": 2e-3})
    assert heats(view)["ip1"].text == "2.0e-3"


@pytest.mark.parametrize(("other", "text"), [(1e-3, "3.0e-2"), (math.nan, "NaN"), (None, "3.0e-2")])
def test_a_folded_block_shows_the_largest_of_its_layers(view, other, text):
    graph = view.document.graph
    view.document.selection.set([graph.named(name)[0].id for name in ("ip1", "ip2")])
    view.fold_selection()
    take(view, {"ip1": 3e-2} | ({} if other is None else {"ip2": other}))
    card = next(iter(view.canvas.folding.cards.values()))
    assert card.heat.text == text


def test_times_are_not_mixed_up_with_updates(view):
    take(view, {"conv1": 1e-3})
    view.canvas.heat.set_measure(TIME)
    assert heats(view)["conv1"] is None


def test_a_thousand_layers_do_not_hold_the_window_up(make_canvas, qtbot, monkeypatch):
    document = Document(OpGraph.parse(residual_net(1000)))
    view = make_canvas(document)
    if view.canvas.folding.cards:
        view.fold_repeats()
    names = [node.name for node in document.graph.nodes()]
    monkeypatch.setattr(heat, "_MANY", 2 * len(names))  # all in one go, which is the worst that there may be
    looks = []
    for number in range(1, 6):
        values = {name: 1e-6 * number * (1 + place) for place, name in enumerate(names)}
        began = time.thread_time()
        take(view, values, number)
        looks.append(time.thread_time() - began)
    assert heats(view)[names[99]].text == "5.0e-4"
    document.close()
    assert len(names) >= 1000
    assert min(looks) < _FELT, [round(1000 * look) for look in looks]
