"""Folding, the map, frames and the heat-map by the menus and keys of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from app.costs.formats import bytes_text
from app.live.layercosts import NUMBERS
from tests.benchmarks.nets import residual_net


@pytest.fixture
def opened(window, tmp_path, qtbot):
    path = tmp_path / "net.prototxt"
    path.write_text(residual_net(60))
    window.files.open(path)
    qtbot.waitUntil(
        lambda: window.canvas.is_placed and window.document.live.is_started and not window.document.live.busy,
        timeout=30_000,
    )
    yield window
    window.document.undo_stack.setClean()


def test_actions_fold_frame_and_show_the_map(opened):
    canvas, actions = opened.canvas, opened.actions_by_name
    count = len(canvas.canvas.items_shown())
    actions["fold"].trigger()
    assert len(canvas.canvas.items_shown()) < count
    assert opened.document.modified
    actions["undo"].trigger()
    assert len(canvas.canvas.items_shown()) == count
    shown = canvas.minimap.isVisible()
    actions["minimap"].trigger()
    assert canvas.minimap.isVisible() != shown
    canvas.select_all()
    actions["put_frame"].trigger()
    canvas.words.commit()
    assert len(opened.document.positions.annotations) == 1
    canvas.select_all()
    actions["block"].trigger()
    assert len(canvas.canvas.items_shown()) == 1
    for name in ("fold", "block", "put_frame", "export_picture"):
        assert actions[name].shortcut().toString()


def test_the_heat_menu_follows_what_is_shown_and_says_what_cannot_be(opened):
    menu = opened.heat_menu
    menu.refresh()
    assert menu.choices[""].isChecked()
    assert menu.choices["time"].isEnabled() and menu.measure.isEnabled()
    node = opened.document.graph.nodes()[1].id
    opened.document.apply("Open", lambda graph: graph.set_field(node, ("bottom", 0), '"?"'))
    menu.refresh()
    for action in (menu.choices["time"], menu.measure):
        assert not action.isEnabled() and "open bottom" in action.toolTip()
    opened.document.undo_stack.undo()
    menu.choices["parameters"].trigger()
    assert opened.canvas.canvas.heat.measure.name == "parameters"
    assert opened.canvas.legend.isVisible()
    menu.refresh()
    assert menu.choices["parameters"].isChecked()
    menu.choices[""].trigger()
    assert not opened.canvas.legend.isVisible()


def test_a_bar_tells_how_far_measuring_has_come_and_stops_it(opened, qtbot):
    opened.heat_menu.measure.trigger()
    (bar,) = (each for each in opened.bars if "Measuring" in each.text)
    timings = opened.document.live.timings
    timings.progressed.emit(3, 7)
    assert bar.findChild(QLabel, "window.bar.text").text().endswith("3 of 7 passes")
    qtbot.mouseClick(bar.findChild(QPushButton, "window.bar.action.Stop"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not timings.is_running, timeout=20_000)
    assert not timings.times and not opened.bars


def test_status_line_and_properties_say_the_same_of_memory(opened):
    totals = opened.document.live.costs.count.totals
    training = bytes_text(totals[NUMBERS.index("training")])
    assert opened.status.memory.text() == f"{training} to train"
    assert "history value" in opened.status.memory.toolTip()
    strip = dict(zip(("params", "adds", "training"), opened.panels["properties"].costs.cells, strict=True))
    assert strip["training"][0].text() == training
    assert strip["training"][0].toolTip() in opened.status.memory.toolTip()


def test_the_export_dialog_does_not_block(opened, tmp_path, qtbot):
    from app.window.views.picturedialog import PictureDialog

    opened.actions_by_name["export_picture"].trigger()
    shown = lambda: [each for each in QApplication.topLevelWidgets() if isinstance(each, PictureDialog)]  # noqa: E731
    qtbot.waitUntil(lambda: bool(shown()))
    (dialog,) = shown()
    assert dialog.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    opened.canvas.draw_to(str(tmp_path / "net.svg"), "paper", 1.0)
    qtbot.waitUntil(lambda: not opened.canvas.is_drawing)
    assert (tmp_path / "net.svg").stat().st_size > 1000
