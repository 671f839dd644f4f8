"""Folding, the map, frames and the heat-map by the menus and keys of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from tests.benchmarks.nets import residual_net


@pytest.fixture
def opened(window, tmp_path, qtbot):
    path = tmp_path / "net.prototxt"
    path.write_text(residual_net(60))
    window.files.open(path)
    qtbot.waitUntil(lambda: window.canvas.is_placed and not window.document.live.busy, timeout=30_000)
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
    actions["minimap"].trigger()
    assert canvas.minimap.isVisible()
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
    assert not menu.choices["time"].isEnabled()
    assert menu.choices["time"].toolTip()
    menu.choices["parameters"].trigger()
    assert opened.canvas.canvas.heat.measure.name == "parameters"
    assert opened.canvas.legend.isVisible()
    menu.refresh()
    assert menu.choices["parameters"].isChecked()
    menu.choices[""].trigger()
    assert not opened.canvas.legend.isVisible()


def test_the_export_dialog_does_not_block(opened, tmp_path, qtbot):
    from app.window.picturedialog import PictureDialog

    opened.actions_by_name["export_picture"].trigger()
    dialog = opened.canvas.findChild(PictureDialog)
    assert dialog.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    opened.canvas.draw_to(str(tmp_path / "net.svg"), "paper", 1.0)
    assert (tmp_path / "net.svg").stat().st_size > 1000
