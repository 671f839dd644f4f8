"""The badge of a layer: a click, or a key, says what is wrong and mends it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.document import Document
from engine.graph import OpGraph

WRONG = b"""
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_outputs: 4 kernel_size: 3 } }
"""


@pytest.fixture
def canvas(make_canvas, qtbot):
    document = Document(OpGraph.parse(WRONG))
    shown = make_canvas(document)
    document.live.start()
    node = document.graph.named("conv")[0].id
    qtbot.waitUntil(lambda: shown.canvas.nodes[node].face.severity == "error", timeout=20_000)
    qtbot.waitUntil(lambda: document.live.is_started and not document.live.busy, timeout=20_000)
    yield shown
    shown.close_document()
    document.close()


def node_of(canvas):
    return canvas.document.graph.named("conv")[0].id


def click_badge(canvas) -> None:
    item = canvas.canvas.nodes[node_of(canvas)]
    at = canvas.mapFromScene(item.scene_badge().center())
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)


def the_menu(canvas) -> QMenu:
    menus = [menu for menu in canvas.findChildren(QMenu, "canvas.fix_menu") if menu.isVisible()]
    assert len(menus) == 1
    return menus[0]


def press_key(canvas) -> None:
    canvas.document.selection.set([node_of(canvas)])
    canvas.document.selection.flush()
    QTest.keyClick(canvas, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)


@pytest.mark.parametrize("open_menu", [click_badge, press_key])
def test_a_fix_is_made_as_one_step_that_can_be_undone(canvas, open_menu, qtbot):
    before = bytes(canvas.document.graph)
    open_menu(canvas)
    menu = the_menu(canvas)
    assert canvas.document.selection.last == node_of(canvas)
    fix = next(action for action in menu.actions() if action.objectName() == "canvas.fix")
    assert fix.text().startswith("Fix: ")
    while menu.activeAction() is not fix:
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert b"num_output: 4" in bytes(canvas.document.graph)
    qtbot.waitUntil(lambda: not canvas.canvas.nodes[node_of(canvas)].face.severity, timeout=20_000)
    canvas.document.undo_stack.undo()
    assert bytes(canvas.document.graph) == before


def test_what_is_wrong_is_said_in_full_and_can_be_copied(canvas):
    asked = []
    canvas.error_asked.connect(asked.append)
    click_badge(canvas)
    menu = the_menu(canvas)
    said = [action.toolTip() for action in menu.actions()]
    assert any("num_outputs" in text for text in said), said
    next(action for action in menu.actions() if action.text().startswith("Copy")).trigger()
    assert "num_outputs" in QGuiApplication.clipboard().text()
    menu.actions()[0].trigger()
    assert asked == [node_of(canvas)]
    menu.hide()


def test_the_menu_of_a_node_offers_the_same_fixes(canvas):
    canvas.document.selection.set([node_of(canvas)])
    menu = canvas.node_menu()
    assert [action.text() for action in menu.actions() if action.objectName() == "canvas.fix"]
    menu.deleteLater()
