"""The canvas without a mouse: walking, connecting, the menu, the ring, and what a screen reader is told."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QMenu

from app.canvas.keys import CANVAS_KEYS
from tests.app.canvas.hands import ALT, CTRL, SHIFT, Hands

Key = Qt.Key


@pytest.fixture
def hands(canvas) -> Hands:
    canvas.setFocus()
    return Hands(canvas)


def select(hands: Hands, *names: str) -> None:
    hands.view.document.selection.set([hands.node(name).node_id for name in names])
    hands.view.document.selection.flush()


def last(hands: Hands) -> str:
    document = hands.view.document
    document.selection.flush()
    return document.graph.node(document.selection.last).name


def bottoms(hands: Hands, name: str) -> tuple[str, ...]:
    return hands.view.document.graph.named(name)[0].bottoms


def test_an_arrow_begins_in_the_middle_and_alt_arrows_walk(hands, qtbot):
    view = hands.view
    qtbot.keyClick(view, Key.Key_Right)
    assert len(view.document.selection) == 1
    select(hands, "conv1")
    qtbot.keyClick(view, Key.Key_Right, ALT)
    assert last(hands) == "pool1"
    qtbot.keyClick(view, Key.Key_Left, ALT)
    assert last(hands) == "conv1"
    select(hands, "ip1")
    qtbot.keyClick(view, Key.Key_Down, ALT)
    assert last(hands) == "relu1"
    qtbot.keyClick(view, Key.Key_Up, ALT)
    assert last(hands) == "ip1"
    assert view.document.undo_stack.count() == 0


def letter_of(hands: Hands, name: str) -> str:
    return next(label for label, (item, _side, _at) in hands.view.hints.labels.items() if item is hands.node(name))


def test_c_a_letter_and_enter_connect_in_one_step(hands, qtbot):
    view = hands.view
    before = hands.state()
    select(hands, "conv1")
    qtbot.keyClick(view, Key.Key_C)
    assert view.hints.is_open
    assert view.hints.isVisible()
    qtbot.keyClicks(view, letter_of(hands, "conv2").lower())
    assert hands.node("conv2").hot_port == ("input", 0), "the wire is shown first"
    assert bottoms(hands, "conv2") == ("pool1",)
    qtbot.keyClick(view, Key.Key_Return)
    assert bottoms(hands, "conv2") == ("conv1",)
    assert not view.hints.isVisible()
    hands.check_one_step(before)


def test_escape_and_a_click_give_connecting_up(hands, qtbot):
    view = hands.view
    before, count = hands.state(), len(view.canvas.items())
    for give_up in (lambda: qtbot.keyClick(view, Key.Key_Escape), lambda: hands.press(hands.title("pool2"))):
        select(hands, "conv1")
        qtbot.keyClick(view, Key.Key_C)
        qtbot.keyClick(view, Key.Key_Tab)
        give_up()
        assert not view.hints.is_open
        assert view.gesture is None
        assert len(view.canvas.items()) == count
    assert hands.state() == before
    assert last(hands) == "conv1"


def test_a_refused_target_says_why_and_enter_leaves_it(hands, qtbot):
    view = hands.view
    before = hands.state()
    select(hands, "ip2")
    qtbot.keyClick(view, Key.Key_C)
    qtbot.keyClicks(view, letter_of(hands, "conv1").lower())
    assert "cycle" in view.findChild(QLabel, "canvas.reason").text()
    qtbot.keyClick(view, Key.Key_Return)
    assert hands.state() == before


def test_tab_and_arrows_choose_the_target_and_a_digit_the_output(hands, qtbot):
    view = hands.view
    select(hands, "mnist")
    qtbot.keyClick(view, Key.Key_C)
    qtbot.keyClick(view, Key.Key_2)
    label = letter_of(hands, "conv2")
    for _step in range(len(view.hints.labels)):
        qtbot.keyClick(view, Key.Key_Tab)
        if hands.node("conv2").hot_port:
            break
    assert view.hints.labels[label][0] is hands.node("conv2")
    qtbot.keyClick(view, Key.Key_Left)
    qtbot.keyClick(view, Key.Key_Right)
    while not hands.node("conv2").hot_port:
        qtbot.keyClick(view, Key.Key_Backtab)
    qtbot.keyClick(view, Key.Key_Return)
    assert bottoms(hands, "conv2") == ("label",)


def test_enter_without_a_target_asks_for_a_layer_to_add(hands, qtbot):
    view = hands.view
    select(hands, "pool2")
    qtbot.keyClick(view, Key.Key_C)
    qtbot.keyClick(view, Key.Key_Return)
    assert view.popup.isVisible()
    qtbot.keyClicks(view.popup.search, "lrn")
    qtbot.keyClick(view.popup.search, Key.Key_Return)
    assert view.document.graph.node(view.document.selection.last).bottoms == ("pool2",)


def test_connecting_needs_a_selected_layer(hands, qtbot):
    qtbot.keyClick(hands.view, Key.Key_C)
    assert not hands.view.hints.is_open
    assert "Select a layer" in hands.view.findChild(QLabel, "canvas.reason").text()


@pytest.mark.parametrize("how", ["menu key", "shift+f10"])
def test_the_menu_opens_by_key(hands, qtbot, how):
    view = hands.view
    select(hands, "conv1")
    if how == "menu key":
        at = view.rect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, view.mapToGlobal(at))
        QApplication.sendEvent(view.viewport(), event)
    else:
        qtbot.keyClick(view, Key.Key_F10, SHIFT)
    menu = view.findChild(QMenu, "canvas.node_menu")
    assert menu is not None
    assert menu.isVisible()
    words = [action.text().split("\t")[0] for action in menu.actions()]
    assert {"Bypass", "Freeze its weights", "Follow its blobs", "Delete"} <= set(words)
    menu.close()


def test_the_ring_is_where_the_keyboard_is_and_goes_with_the_mouse(hands, qtbot):
    select(hands, "conv1")
    qtbot.waitUntil(hands.view.hasFocus)
    qtbot.keyClick(hands.view, Key.Key_PageDown)
    hands.view.document.selection.flush()
    assert [item.node_id for item in hands.view.canvas.nodes.values() if item.ringed] == [hands.node("pool1").node_id]
    hands.click(hands.title("pool1"))
    assert not any(item.ringed for item in hands.view.canvas.nodes.values())


def test_screen_readers_are_told_what_is_selected(hands):
    assert "layers, none selected" in hands.view.accessibleDescription()
    select(hands, "conv1")
    said = hands.view.accessibleDescription()
    assert said.startswith("conv1, Convolution")
    assert "reads data" in said
    assert "writes conv1" in said
    select(hands, "conv1", "pool1")
    assert hands.view.accessibleDescription().startswith("2 layers selected, last: pool1")


def test_b_follows_a_blob_and_escape_ends_it(hands, qtbot):
    view = hands.view
    select(hands, "accuracy")
    qtbot.keyClick(view, Key.Key_B)
    dimmed = {name for name in ("conv1", "ip2", "loss", "accuracy") if hands.node(name).opacity() < 1}
    assert dimmed == {"loss"}
    assert hands.wire("conv1", "pool1").opacity() == 1
    assert hands.wire("ip2", "loss").opacity() < 1
    qtbot.keyClick(view, Key.Key_Escape)
    assert all(item.opacity() == 1 for item in (*view.canvas.nodes.values(), *view.canvas.edges.values()))
    assert last(hands) == "accuracy", "the first Escape only ends the following"


@pytest.mark.parametrize(
    ("chosen", "words", "carrying"),
    [
        (("conv1",), "'conv1'", {("conv1", "pool1")}),
        (("conv1", "conv2"), "the blobs of 2 layers", {("conv1", "pool1"), ("conv2", "pool2")}),
        (("accuracy",), "'accuracy'", set()),
    ],
)
def test_following_is_said_and_the_wires_of_the_blob_stand_out(hands, qtbot, chosen, words, carrying):
    view = hands.view
    told = []
    view.trace.changed.connect(told.append)
    select(hands, *chosen)
    qtbot.keyClick(view, Key.Key_B)
    assert told == [f"Following {words}: Esc ends it"] == [view.trace.words]
    assert followed(hands) == carrying
    qtbot.keyClick(view, Key.Key_Escape)
    assert told[1:] == [""] and not followed(hands)


def test_following_a_wire_marks_all_wires_of_its_blob_also_from_afar(hands, qtbot):
    view = hands.view
    wire = hands.wire("ip2", "loss")
    view.canvas.select_edge(wire.edge)
    qtbot.keyClick(view, Key.Key_B)
    assert view.trace.words == "Following 'ip2': Esc ends it"
    assert followed(hands) == {("ip2", "loss"), ("ip2", "accuracy")}
    view.canvas.overview.prepare()
    assert {each for each in view.canvas.edges.values() if each.followed} == set(view.canvas.overview._lists.followed)


def followed(hands) -> set[tuple[str, str]]:
    graph = hands.view.document.graph
    wires = (each for each in hands.view.canvas.edges.values() if each.followed)
    return {(graph.node(each.edge.source).name, graph.node(each.edge.target).name) for each in wires}


def test_a_change_of_the_net_ends_following(hands, qtbot):
    view = hands.view
    select(hands, "accuracy")
    qtbot.keyClick(view, Key.Key_B)
    view.document.apply("Rename", lambda graph: graph.rename_node(hands.node("conv1").node_id, "first"))
    assert not view.trace.is_shown
    assert all(item.opacity() == 1 for item in view.canvas.nodes.values())


def test_every_key_is_one_that_can_be_read_and_no_two_are_the_same(hands):
    keys = [key for _name, _words, keys in CANVAS_KEYS for key in keys]
    codes = [QKeySequence(key)[0].toCombined() for key in keys]
    assert len(set(codes)) == len(codes)
    assert all(QKeySequence(key)[0].key() not in (Key.Key_unknown, 0) for key in keys)
    assert set(hands.view.keys._handlers) == {name for name, _words, _keys in CANVAS_KEYS}


def test_keys_can_be_changed(hands, qtbot):
    view = hands.view
    view.keys.set_keys({"bypass": ("Ctrl+J",)})
    select(hands, "pool1")
    qtbot.keyClick(view, Key.Key_B, CTRL)
    assert view.document.undo_stack.count() == 0
    qtbot.keyClick(view, Key.Key_J, CTRL)
    assert view.document.graph.is_bypassed(hands.node("pool1").node_id)
