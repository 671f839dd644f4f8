"""Cards that are dragged while others of the selection are still being made, or have no places yet."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt

from app.canvas.edits import edits, foldedits
from app.canvas.gestures.moving import MoveGesture
from app.canvas.scene import scene

_NONE = Qt.KeyboardModifier.NoModifier


def _drag(view, item) -> MoveGesture:
    start = view.mapFromScene(item.scene_body().center())
    gesture = MoveGesture(view, start, item, collapse=False)
    for far in (5, 40):
        gesture.move(start + QPoint(far, far), _NONE)
    return gesture


def test_all_that_is_selected_moves_even_what_has_no_card_yet(net, make_canvas, qtbot, monkeypatch):
    view = make_canvas(net)
    foldedits.fold_repeats(view)  # all layers are shown then
    monkeypatch.setattr(scene, "VAST", 20)
    view.canvas.slowly = True
    ids = net.graph.node_ids()
    gone = ids[len(ids) // 2 :]
    net.selection.set(gone)
    edits.delete_selected(view.canvas)
    net.undo_stack.undo()
    assert not view.canvas.is_built
    net.selection.set(ids)
    item = view.canvas.nodes[ids[0]]
    before = net.positions.of(ids)
    gesture = _drag(view, item)
    gesture.release(gesture.press + QPoint(40, 40), _NONE)
    qtbot.waitUntil(lambda: view.canvas.is_built)
    after = net.positions.of(ids)
    assert len({(after[node].x - before[node].x, after[node].y - before[node].y) for node in ids}) == 1
    assert after != before
    net.undo_stack.undo()
    assert net.positions.of(ids) == before


def test_a_card_that_is_no_longer_selected_is_not_dragged(net, make_canvas):
    view = make_canvas(net)
    ids = net.graph.node_ids()
    net.selection.set(ids[1:2])
    before = net.positions.of(ids)
    gesture = _drag(view, view.canvas.nodes[ids[0]])
    gesture.release(gesture.press + QPoint(40, 40), _NONE)
    assert net.positions.of(ids) == before and not net.undo_stack.count()
