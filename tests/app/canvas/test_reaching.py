"""Wires, bends, frames and notes without a mouse: each is gone to, told, moved, and is one step of undo."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QMenu

from app.canvas.gestures.annotating import change
from app.document.annotations import Annotation, rect_of
from tests.app.canvas.hands import ALT, CTRL, NONE, SHIFT, Hands

Key = Qt.Key


@pytest.fixture
def hands(canvas, qtbot) -> Hands:
    canvas.setFocus()
    qtbot.waitUntil(canvas.hasFocus)
    return Hands(canvas)


def select(hands: Hands, *names: str) -> None:
    hands.view.document.selection.set([hands.node(name).node_id for name in names])
    hands.view.document.selection.flush()


def go_to_wire(hands: Hands, qtbot, source: str, target: str) -> None:
    """Select a wire by keys alone, from the layer that it leaves."""
    select(hands, source)
    wanted = hands.wire(source, target).edge
    for _press in range(8):
        qtbot.keyClick(hands.view, Key.Key_W)
        if hands.view.canvas.selected_edge == wanted:
            return
    pytest.fail(f"no W leads to the wire from {source} to {target}")


def bottoms(hands: Hands, name: str) -> tuple[str, ...]:
    return hands.view.document.graph.named(name)[0].bottoms


def test_w_goes_through_the_wires_of_a_layer_inputs_first_and_around(hands, qtbot):
    view = hands.view
    select(hands, "pool1")
    first, second = hands.wire("conv1", "pool1").edge, hands.wire("pool1", "conv2").edge
    seen = []
    for _press in range(3):
        qtbot.keyClick(view, Key.Key_W)
        seen.append(view.canvas.selected_edge)
    assert seen == [first, second, first]
    qtbot.keyClick(view, Key.Key_W, ALT)
    assert view.canvas.selected_edge == second
    assert view.accessibleDescription().startswith("Wire from pool1 to conv2; carries pool1")
    assert view.document.undo_stack.count() == 0


@pytest.mark.parametrize(
    ("key", "name"), [(Key.Key_PageUp, "pool1"), (Key.Key_PageDown, "conv2"), (Key.Key_Return, "conv2")]
)
def test_a_wire_leads_to_its_ends(hands, qtbot, key, name):
    go_to_wire(hands, qtbot, "pool1", "conv2")
    qtbot.keyClick(hands.view, key)
    assert hands.view.document.selection.node_ids == (hands.node(name).node_id,)


def test_w_begins_anywhere_and_says_so_where_there_is_no_wire(hands, qtbot):
    view, refused = hands.view, []
    view.refused.connect(refused.append)
    qtbot.keyClick(view, Key.Key_W)
    assert view.canvas.selected_edge is not None
    view.document.apply("Cut", lambda graph: graph.remove_nodes(list(graph.node_ids())[1:]))
    qtbot.keyClick(view, Key.Key_W)
    assert "Press C" in refused[0]


def test_k_bends_a_wire_arrows_move_the_bend_and_delete_takes_it_out(hands, qtbot):
    view = hands.view
    before = hands.state()
    go_to_wire(hands, qtbot, "pool1", "conv2")
    wire = hands.wire("pool1", "conv2")
    qtbot.keyClick(view, Key.Key_K)
    assert (len(wire.bends), wire.chosen_bend) == (1, 0)
    hands.check_one_step(before)
    go_to_wire(hands, qtbot, "pool1", "conv2")
    qtbot.keyClick(view, Key.Key_W)
    assert view.accessibleDescription().startswith("Bend 1 of 1 of the wire from pool1")
    old = wire.bends[0]
    qtbot.keyClick(view, Key.Key_Down)
    qtbot.keyClick(view, Key.Key_Right, SHIFT)
    assert wire.bends[0] == (old.x + 1, old.y + 10)
    qtbot.keyClick(view, Key.Key_K)
    assert len(wire.bends) == 2
    qtbot.keyClick(view, Key.Key_Delete)
    assert len(wire.bends) == 1
    while view.document.undo_stack.canUndo():
        view.document.undo_stack.undo()
    assert hands.state() == before


def test_c_leads_the_selected_wire_to_another_input_in_one_step(hands, qtbot):
    view = hands.view
    before = hands.state()
    go_to_wire(hands, qtbot, "conv1", "pool1")
    qtbot.keyClick(view, Key.Key_C)
    assert hands.wire("conv1", "pool1").lifted, "it is off its input while another is looked for"
    target = next(label for label, (item, _s, _i) in view.hints.labels.items() if item is hands.node("conv2"))
    qtbot.keyClicks(view, target.lower())
    qtbot.keyClick(view, Key.Key_Return)
    assert bottoms(hands, "conv2") == ("conv1",)
    assert bottoms(hands, "pool1") == ("?",)
    hands.check_one_step(before)


def test_escape_leaves_the_wire_where_it_was(hands, qtbot):
    before = hands.state()
    go_to_wire(hands, qtbot, "conv1", "pool1")
    qtbot.keyClick(hands.view, Key.Key_C)
    qtbot.keyClick(hands.view, Key.Key_Tab)
    qtbot.keyClick(hands.view, Key.Key_Escape)
    assert not hands.wire("conv1", "pool1").lifted
    assert hands.state() == before


@pytest.mark.parametrize(
    ("names", "cut"), [(("pool1",), {"pool1", "conv2"}), (("ip1", "ip2"), {"ip1", "relu1", "ip2", "loss", "accuracy"})]
)
def test_all_wires_of_a_selection_are_cut_in_one_step(hands, qtbot, names, cut):
    before = hands.state()
    select(hands, *names)
    qtbot.keyClick(hands.view, Key.Key_X, CTRL | SHIFT)
    loose = {node.name for node in hands.view.document.graph.nodes() if "?" in node.bottoms}
    assert loose >= cut - {"relu1"}
    hands.check_one_step(before)


def test_a_layer_is_put_on_the_selected_wire_by_the_search(hands, qtbot):
    view = hands.view
    before = hands.state()
    go_to_wire(hands, qtbot, "pool1", "conv2")
    qtbot.keyClick(view, Key.Key_Tab)
    assert view.popup.isVisible()
    qtbot.keyClicks(view.popup.search, "LRN")
    qtbot.keyClick(view.popup.search, Key.Key_Return)
    new = view.document.graph.node(view.document.selection.last)
    assert (new.type, new.bottoms) == ("LRN", ("pool1",))
    assert bottoms(hands, "conv2") == new.tops
    hands.check_one_step(before)


def test_alt_shift_arrows_select_more(hands, qtbot):
    select(hands, "conv1")
    qtbot.keyClick(hands.view, Key.Key_Right, ALT | SHIFT)
    assert set(hands.view.document.selection.node_ids) == {hands.node("conv1").node_id, hands.node("pool1").node_id}


def note(hands: Hands, kind: str, x: float, text: str) -> int:
    annotations = hands.view.document.positions.annotations
    number = annotations.fresh_id()
    value = Annotation(number, kind, rect_of(QRectF(x, -400.0, 200.0, 100.0)), text, "vision", None)
    change(hands.view.document, f"Add {kind}", {number: value})
    return number


def test_n_goes_through_frames_and_notes_which_arrows_move_and_size(hands, qtbot):
    view = hands.view
    frame, other = note(hands, "frame", 0.0, "Front"), note(hands, "note", 400.0, "Mind this")
    select(hands, "conv1")
    qtbot.keyClick(view, Key.Key_N)
    assert view.canvas.annotated.chosen == {frame}
    assert view.accessibleDescription() == "Frame: Front"
    qtbot.keyClick(view, Key.Key_N)
    assert view.canvas.annotated.chosen == {other}
    count = view.document.undo_stack.count()
    annotations = view.document.positions.annotations
    qtbot.keyClick(view, Key.Key_Left)
    assert annotations.get(other).area == QRectF(390.0, -400.0, 200.0, 100.0)
    qtbot.keyClick(view, Key.Key_Right, CTRL | SHIFT)
    qtbot.keyClick(view, Key.Key_Up, CTRL | SHIFT)
    assert annotations.get(other).area == QRectF(390.0, -400.0, 210.0, 90.0)
    assert view.document.undo_stack.count() == count + 3
    for _step in range(3):
        view.document.undo_stack.undo()
    assert annotations.get(other).area == QRectF(400.0, -400.0, 200.0, 100.0)


def test_a_frame_takes_along_what_is_in_it_by_keys_too(hands, qtbot):
    view = hands.view
    select(hands, "conv1")
    item = hands.node("conv1")
    number = view.document.positions.annotations.fresh_id()
    area = rect_of(item.scene_body().adjusted(-30.0, -60.0, 30.0, 30.0))
    change(view.document, "Add frame", {number: Annotation(number, "frame", area, "", "vision", None)})
    x = item.x()
    qtbot.keyClick(view, Key.Key_N)
    qtbot.keyClick(view, Key.Key_Right)
    assert item.x() == x + 10


@pytest.mark.parametrize(
    ("what", "name", "words"),
    [("wire", "canvas.wire_menu", "Bend it"), ("frame", "canvas.annotation_menu", "Colour")],
)
def test_the_menu_key_opens_the_menu_of_what_is_selected(hands, qtbot, what, name, words):
    view = hands.view
    if what == "wire":
        go_to_wire(hands, qtbot, "conv1", "pool1")
    else:
        note(hands, "frame", 0.0, "Front")
        qtbot.keyClick(view, Key.Key_N)
    qtbot.keyClick(view, Key.Key_F10, SHIFT)
    menu = view.findChild(QMenu, name)
    assert menu is not None
    assert menu.isVisible()
    assert words in [action.text().split("\t")[0] for action in menu.actions()]
    menu.close()


def test_enter_looks_into_a_block_and_u_comes_out(hands, qtbot):
    view = hands.view
    select(hands, "conv2", "pool2")
    view.fold_selection()
    qtbot.keyClick(view, Key.Key_Return)
    assert view.canvas.folding.level is not None
    qtbot.keyClick(view, Key.Key_U)
    assert view.canvas.folding.level is None


def test_ctrl_arrows_move_what_is_in_view(hands, qtbot):
    view = hands.view
    view.set_scale(2.0)
    before = view.visible_rect().center()
    qtbot.keyClick(view, Key.Key_Right, CTRL)
    qtbot.keyClick(view, Key.Key_Down, CTRL)
    after = view.visible_rect().center()
    assert after.x() > before.x()
    assert after.y() > before.y()


def test_the_name_of_a_blob_is_asked_for_by_key(hands, qtbot):
    asked = []
    hands.view.blob_name_asked.disconnect()
    hands.view.blob_name_asked.connect(lambda node, top: asked.append((node, top)))
    go_to_wire(hands, qtbot, "pool1", "conv2")
    qtbot.keyClick(hands.view, Key.Key_F2, SHIFT)
    select(hands, "conv1")
    qtbot.keyClick(hands.view, Key.Key_F2, SHIFT)
    assert asked == [(hands.node("pool1").node_id, 0), (hands.node("conv1").node_id, 0)]


@pytest.mark.parametrize(
    ("key", "modifiers", "words"),
    [
        (Key.Key_K, NONE, "Press W"),
        (Key.Key_N, NONE, "Shift+P writes a note"),
        (Key.Key_X, CTRL | SHIFT, "Select a layer"),
        (Key.Key_Right, CTRL | SHIFT, "Press N"),
        (Key.Key_F2, SHIFT, "Select a layer"),
    ],
)
def test_what_a_key_has_nothing_to_act_on_says_what_to_do(hands, qtbot, key, modifiers, words):
    refused = []
    hands.view.refused.connect(refused.append)
    qtbot.keyClick(hands.view, key, modifiers)
    assert words in refused[0]
