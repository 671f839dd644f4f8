"""LeNet trains, and its layers tell on the canvas how large their updates are."""

from __future__ import annotations

import pytest

from app.canvas.scene.heat import UPDATES
from engine.examples import prepare_example

_WEIGHTED = {"conv1", "conv2", "ip1", "ip2"}
PATIENCE = 120_000


@pytest.fixture
def opened(window, tmp_path, qtbot):
    paths = prepare_example("lenet", folder=tmp_path)
    assert window.files.open(paths.net)
    qtbot.waitUntil(lambda: window.canvas.is_placed, timeout=PATIENCE)
    return window


def train(window, qtbot):
    window.panels["training"].train()
    qtbot.waitUntil(lambda: bool(window.document.live.updates.values), timeout=PATIENCE)


def stop(window, qtbot):
    panel = window.panels["training"]
    panel.stop()
    qtbot.waitUntil(lambda: panel.state == "stopped", timeout=PATIENCE)


def heated(window):
    return {item.face.title: item.heat for item in window.canvas.canvas.items_shown() if item.heat is not None}


def test_figures_come_to_the_layers_with_weights_and_are_turned_off(opened, qtbot):
    canvas, legend = opened.canvas.canvas, opened.canvas.legend
    train(opened, qtbot)
    assert canvas.heat.measure is UPDATES and legend.isVisible()
    assert set(heated(opened)) == _WEIGHTED
    figures = opened.document.live.updates.values
    assert 1e-6 < figures["conv1"] < 1.0
    assert heated(opened)["conv1"].text == UPDATES.text(figures["conv1"])
    assert not heated(opened)["conv1"].is_stale and legend.texts[0] == "Live: size of updates"
    stop(opened, qtbot)
    assert heated(opened)["conv1"].is_stale
    assert legend.texts[:2] == ("Last size of updates", f"iteration {opened.panels['training'].model.iteration:,}")

    menu = opened.heat_menu
    menu.refresh()
    assert menu.choices["updates"].isChecked() and menu.choices["updates"].text() == "&Live: size of updates"
    menu.choices[""].trigger()
    assert not heated(opened) and not opened.canvas.legend.isVisible()
    train(opened, qtbot)
    assert canvas.heat.measure is None, "what was turned off stays off"
    menu.choices["updates"].trigger()
    assert set(heated(opened)) == _WEIGHTED
    stop(opened, qtbot)


def test_a_net_that_goes_out_of_view_or_is_closed_while_it_trains(opened, qtbot):
    document = opened.document
    train(opened, qtbot)
    values = document.live.updates.values
    opened.files.new()
    assert opened.document is not document
    assert opened.canvas.canvas.heat.measure is None and not heated(opened)
    assert document.live.updates.values is values, "nobody looks"
    opened.tabs.show_page(opened.tabs.page_of(document))
    qtbot.waitUntil(lambda: document.live.updates.values is not values, timeout=PATIENCE)
    assert set(heated(opened)) == _WEIGHTED
    stop(opened, qtbot)
