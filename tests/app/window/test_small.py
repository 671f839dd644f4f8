"""A small window: everything fits, and the order of the tabulator is that of the eye."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QLineEdit


@pytest.mark.parametrize("panel", ["training", "problems", "plugins", "costs"])
def test_at_900_by_600_nothing_sticks_out(window, lenet, qtbot, still, panel):
    window.files.open(lenet)
    window.show_panel(panel)
    window.resize(900, 600)
    qtbot.waitUntil(lambda: window.width() == 900, timeout=2000)
    still(window)
    assert (window.width(), window.height()) == (900, 600)
    for widget in (window.canvas, window.panels[panel], window.panels["properties"], window.palette_panel):
        place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
        assert window.rect().contains(place), widget.objectName()
    assert window.canvas.width() >= 240 and window.canvas.height() >= 120


def test_the_search_of_the_properties_comes_before_the_fields(window, lenet, qtbot):
    window.files.open(lenet)
    window.show_panel("properties")
    window.document.selection.set([window.document.graph.named("conv1")[0].id])
    window.document.selection.flush()
    panel = window.panels["properties"]
    qtbot.waitUntil(lambda: len(panel.findChildren(QLineEdit)) > 2, timeout=5000)
    panel.search_line.setFocus()
    assert panel.search_line.nextInFocusChain() is not None
    assert panel.focusNextPrevChild(True)
    after = window.focusWidget()
    assert after is not panel.search_line
    assert panel.isAncestorOf(after)
    assert after.mapTo(panel, QPoint(0, 0)).y() > panel.search_line.mapTo(panel, QPoint(0, 0)).y()
