"""The room of the docks: more than half of the window is the canvas, and what the user does with it stays."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QWidget

from app.window.docks.dockroom import room_for
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings

LEFT = Qt.MouseButton.LeftButton
SIDES = {"left", "bottom", "right"}
SIZES = [(900, 600), (1280, 800), (1600, 1000)]


def sizes(window: MainWindow) -> dict[str, int]:
    return window._room._sizes()


@pytest.mark.parametrize("size", [*SIZES, (640, 480), (3840, 2160)])
def test_the_docks_leave_more_than_half(size):
    for trains in (False, True):
        room = room_for(QSize(*size), trains=trains)
        if size >= (900, 600):
            assert room.left + room.right < 0.5 * size[0]
        assert room.bottom < 0.36 * size[1] or size < (900, 600)


@pytest.mark.parametrize("size", SIZES)
def test_the_canvas_has_half_of_the_window_in_both_ways(window, lenet, resized, qtbot, size):
    window.files.open(lenet)
    resized(size)
    canvas = window.canvas
    qtbot.waitUntil(lambda: canvas.width() >= 0.5 * size[0] and canvas.height() >= 0.5 * size[1], timeout=2000)


@pytest.mark.parametrize("size", SIZES)
def test_a_training_gets_room_and_leaves_enough(window, lenet, resized, size, still):
    window.files.open(lenet)
    resized(size)
    before = sizes(window)["bottom"]
    window.panels["training"].state_changed.emit("waiting")
    still(window)
    assert sizes(window)["bottom"] > before
    assert window.canvas.height() >= (0.5 if size[1] >= 800 else 0.4) * size[1]
    window.panels["training"].state_changed.emit("finished")
    still(window)
    assert sizes(window)["bottom"] > before, "nothing jumps when it ends"


@pytest.mark.parametrize("panel", ["plugins", "problems", "costs", "training"])
def test_what_a_panel_shows_later_does_not_make_its_dock_grow(window, resized, panel, still):
    resized((1440, 900))
    before = sizes(window)["bottom"], window.canvas.height()
    tall = QWidget()
    tall.setMinimumHeight(400)
    window.panels[panel].layout().addWidget(tall)
    still(window)
    assert (sizes(window)["bottom"], window.canvas.height()) == before


def test_what_the_user_dragged_stays(window, resized, settings, qtbot, still):
    resized((1400, 900))
    window._room._before = {"right": 1}  # as when the mouse went down on the edge
    window.resizeDocks([window._docks.docks["properties"]], [420], Qt.Orientation.Horizontal)
    still(window)
    qtbot.mouseRelease(window, LEFT, pos=QPoint(5, 5))
    right = sizes(window)["right"]
    assert right == 420
    assert settings.dock_sizes["right"] == right
    resized((1500, 900))
    assert sizes(window)["right"] == right
    resized((1000, 700))
    # The canvas keeps some of a window that became small.
    qtbot.waitUntil(lambda: sizes(window)["right"] < right, timeout=2000)
    resized((1500, 900))
    qtbot.waitUntil(lambda: sizes(window)["right"] == right, timeout=2000)


def test_sizes_are_remembered(settings: WindowSettings):
    assert settings.dock_sizes == {}
    settings.dock_sizes = {"left": 200, "training": 310}
    assert settings.dock_sizes == {"left": 200, "training": 310}
    settings.dock_sizes = {"left": 220}
    assert settings.dock_sizes == {"left": 220}
    settings._settings.setValue("dock_sizes", ["left=wide", "odd"])
    assert settings.dock_sizes == {}


def test_panels_of_a_side_go_and_come_back_as_they_were(window, lenet, still):
    window.files.open(lenet)
    window.show_panel("costs")
    still(window)
    actions = {action.objectName().rpartition(".")[2]: action for action in window.sides.menu.actions()}
    wide, high = window.canvas.width(), window.canvas.height()
    actions["bottom_panels"].trigger()
    still(window)
    assert not window.sides.is_shown("bottom") and window.canvas.height() > high
    actions["canvas_alone"].trigger()
    still(window)
    assert window.canvas.width() > wide + 400
    assert not any(actions[f"{side}_panels"].isChecked() for side in ("left", "bottom", "right"))
    actions["canvas_alone"].trigger()
    still(window)
    assert window.sides.is_shown("left") and window.sides.is_shown("right")
    assert not window.sides.is_shown("bottom"), "it was away before"
    actions["bottom_panels"].trigger()
    still(window)
    assert not window.panels["costs"].visibleRegion().isEmpty(), "the tab that was in front is in front again"
    assert abs(window.canvas.width() - wide) <= 2


def test_what_is_shown_while_the_canvas_is_alone_goes_with_it(window, still):
    actions = {action.objectName().rpartition(".")[2]: action for action in window.sides.menu.actions()}
    alone, shown = actions["canvas_alone"], lambda: {side for side in SIDES if window.sides.is_shown(side)}
    for act, left in (
        (alone, set()),
        (actions["right_panels"], {"right"}),
        (alone, set()),
        (alone, SIDES),
        (actions["left_panels"], {"bottom", "right"}),
        (alone, set()),
        (alone, {"bottom", "right"}),
    ):
        act.trigger()
        still(window)
        assert shown() == left, act.objectName()


def test_a_panel_that_is_asked_for_comes_back(window, still):
    window.sides.menu.actions()[0].trigger()
    still(window)
    window.show_panel("problems")
    still(window)
    assert not window.panels["problems"].visibleRegion().isEmpty()
    assert not window.sides.menu.actions()[0].isChecked()
