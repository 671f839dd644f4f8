"""What a user adds is remembered between starts, and the search lists it first."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QSettings

from app.palette import rows
from app.window.habits import LayerHabits
from app.window.settings import WindowSettings


@pytest.fixture
def settings(tmp_path) -> WindowSettings:
    return WindowSettings(QSettings(str(tmp_path / "own.ini"), QSettings.Format.IniFormat))


def test_counts_come_back_and_weigh_most_where_they_were_made(settings):
    habits = LayerHabits(settings)
    for _time in range(3):
        habits.added("PReLU", "Convolution")
    habits.added("Pooling", "PReLU")
    again = LayerHabits(settings)
    after, elsewhere = again.weights({"ReLU": 1.0}, "Convolution"), again.weights({"ReLU": 1.0}, "InnerProduct")
    assert after["PReLU"] > after["ReLU"] == 1.0 and after["PReLU"] > elsewhere["PReLU"] > 0.0
    assert elsewhere == again.weights({"ReLU": 1.0})


def test_old_habits_fade(settings):
    habits = LayerHabits(settings)
    for _time in range(20):
        habits.added("Sigmoid")
    for _time in range(200):
        habits.added("ReLU")
    weights = LayerHabits(settings).weights({})
    assert weights.get("Sigmoid", 0.0) < 0.2 * weights["ReLU"] < 64


@pytest.mark.parametrize("stored", ["", "{", "[1]", '{"ReLU": "much"}'])
def test_what_is_damaged_is_forgotten(settings, stored):
    settings.layer_uses = stored
    assert LayerHabits(settings).weights({}) == {}


def test_the_search_lists_what_was_added_before_in_another_net(window, lenet, qtbot):
    assert window.files.open(lenet)
    canvas = window.canvas
    for _time in range(12):
        canvas.document.selection.clear()
        canvas.add_layer("TanH")
    canvas.document.undo_stack.setClean()
    window.files.new()
    canvas = window.canvas
    canvas.search_asked.emit(QPoint(10, 10), None, "", 0)
    model = canvas.popup.model
    assert model.item(model.first_row()).data(rows.KIND) == "TanH"
    canvas.popup.hide()
    window.document.undo_stack.setClean()
