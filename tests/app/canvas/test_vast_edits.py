"""Very many layers that go and come back: their items follow in slices, and are those of a freshly opened net then."""

from __future__ import annotations

import pytest

from app.canvas.edits import edits, foldedits
from app.canvas.scene import scene
from app.text.pane import TextPane
from tests.app.canvas.looks import painted, picture, settle


@pytest.fixture(params=["folded", "unfolded"])
def view(request, net, make_canvas, monkeypatch):
    """The net in a window that treats it as a very long one."""
    shown = make_canvas(net)
    if request.param == "unfolded":
        foldedits.fold_repeats(shown)
    monkeypatch.setattr(scene, "VAST", 20)
    shown.canvas.slowly = True
    return shown


def built(view, qtbot) -> None:
    qtbot.waitUntil(lambda: view.canvas.is_built and not view.canvas.sweeper.active, timeout=60_000)
    settle(view, qtbot)


def delete(view, share: float) -> None:
    ids = view.document.graph.node_ids()
    view.document.selection.set(ids[: int(share * len(ids))])
    edits.delete_selected(view.canvas)


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_undo_brings_the_same_scene_back(view, share, qtbot):
    built(view, qtbot)
    before, items = (picture(view), painted(view)), len(view.canvas.items())
    delete(view, share)
    there = frozenset(view.document.graph.edges())
    assert set(view.canvas.edges) == there
    assert set(view.canvas.nodes) == set(view.document.graph.node_ids())
    built(view, qtbot)
    after = picture(view)
    for _round in range(2):
        view.document.undo_stack.undo()
        assert not view.canvas.is_built, "it is made in slices"
        built(view, qtbot)
        assert (picture(view), painted(view)) == before
        assert len(view.canvas.items()) == items
        view.document.undo_stack.redo()
        built(view, qtbot)
        assert picture(view) == after


def test_edits_while_they_come_back(view, qtbot):
    built(view, qtbot)
    before = picture(view)
    delete(view, 1.0)
    stack = view.document.undo_stack
    stack.undo()
    assert not view.canvas.is_built
    stack.redo()
    assert not view.canvas.nodes
    stack.undo()
    view.document.apply("Add", lambda graph: graph.add_node("ReLU"))
    assert view.canvas.is_built, "what edits finds all items"
    stack.undo()
    built(view, qtbot)
    assert picture(view) == before


def test_the_text_follows(net, qtbot, monkeypatch):
    monkeypatch.setattr("app.text.pane._VAST", 20)
    pane = TextPane(net)
    qtbot.addWidget(pane)
    pane.show()
    qtbot.waitUntil(lambda: not pane.filler.active)
    text = net.graph.text
    net.apply("Delete", lambda graph: graph.remove_nodes(graph.node_ids()))
    assert pane.edit.isReadOnly(), "nothing is typed into what is no more"
    qtbot.waitUntil(lambda: pane.edit.toPlainText() == net.graph.text)
    assert not pane.edit.isReadOnly()
    net.undo_stack.undo()
    qtbot.waitUntil(lambda: pane.edit.toPlainText() == text)
    qtbot.waitUntil(lambda: not pane.edit.isReadOnly())
    net.undo_stack.redo()
    net.apply("Add", lambda graph: graph.add_node("ReLU"))  # before the text is filled in
    qtbot.waitUntil(lambda: pane.edit.toPlainText() == net.graph.text and not pane.edit.isReadOnly())
