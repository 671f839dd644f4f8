"""Very many layers that go and come back: their items follow in slices, and are those of a freshly opened net then."""

from __future__ import annotations

import pytest

from app.canvas.edits import clipboard, edits, foldedits, newcomers
from app.canvas.scene import scene
from app.canvas.scene.edgeitem import EdgeItem
from app.text.pane import TextPane
from tests.app.canvas.looks import painted, picture, settle
from tests.benchmarks.nets import residual_net


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


def test_very_many_that_get_another_name(view, qtbot):
    built(view, qtbot)
    before = picture(view)
    document = view.document
    document.apply("Rename", lambda graph: graph.replace_text(graph.text.replace('name: "', 'name: "my_')))
    titles = {item.face.title for item in view.canvas.nodes.values()}
    assert not all(title.startswith("my_") for title in titles), "they are described in slices"
    described(view, qtbot)
    assert all(item.face.title == document.graph.node(key).name for key, item in view.canvas.nodes.items())
    renamed = picture(view)
    document.undo_stack.undo()
    described(view, qtbot)
    assert picture(view) == before
    document.undo_stack.redo()
    described(view, qtbot)
    assert picture(view) == renamed


def described(view, qtbot) -> None:
    scene = view.canvas
    qtbot.waitUntil(lambda: not scene.faces.busy and not scene.folding._faces.active, timeout=60_000)
    built(view, qtbot)


def test_very_many_that_change_their_wires(view, qtbot):
    """All blobs get other names: each wire goes, and another one comes."""
    built(view, qtbot)
    before = picture(view)
    text = view.document.graph.text
    for key in ("bottom", "top"):
        text = text.replace(f'{key}: "', f'{key}: "my_')
    view.document.apply("Rename", lambda graph: graph.replace_text(text))
    described(view, qtbot)
    assert set(view.canvas.edges) == set(view.document.graph.edges())
    assert {edge.blob[:3] for edge in view.canvas.edges} == {"my_"}
    view.document.undo_stack.undo()
    described(view, qtbot)
    assert picture(view) == before
    assert len([item for item in view.canvas.items() if isinstance(item, EdgeItem)]) == len(view.canvas.edges)


def test_very_many_that_are_pasted_come_in_slices(view, qtbot):
    built(view, qtbot)
    before, items = picture(view), len(view.canvas.items())
    document = view.document
    ids = document.graph.node_ids()
    document.selection.set(ids[30:80])
    refused: list[str] = []
    clipboard.paste(view.canvas, clipboard.copy_text(view.canvas) * 8, failed=refused.append)
    assert document.ahead.pending and len(document.graph) == len(ids)
    document.undo_stack.undo()
    document.undo_stack.redo()
    qtbot.waitUntil(lambda: not document.ahead.busy)
    assert not refused and len(document.graph) == len(ids) + 400
    assert not view.canvas.is_built
    built(view, qtbot)
    assert set(view.canvas.edges) == set(document.graph.edges())
    document.undo_stack.undo()
    built(view, qtbot)
    assert picture(view) == before and len(view.canvas.items()) == items


def test_very_many_without_places_are_laid_out_below(view, qtbot, monkeypatch):
    monkeypatch.setattr(newcomers, "_MANY", 20)
    built(view, qtbot)
    document, scene_ = view.document, view.canvas
    before, bottom = picture(view), scene_.content_rect().bottom()
    more = residual_net(60).split("\n", 1)[1]
    for key in ("name", "bottom", "top"):
        more = more.replace(f'{key}: "', f'{key}: "second_')
    held = document.changed.connect(lambda events: newcomers.place_many(scene_, events.added))
    document.apply("Paste", lambda graph: graph.replace_text(graph.text + more))
    document.changed.disconnect(held)
    new = [node.id for node in document.graph.nodes() if node.name.startswith("second_")]
    assert all(node in document.positions for node in new), "they never lie upon each other"
    provisional = document.positions.of(new)
    built(view, qtbot)
    qtbot.waitUntil(lambda: document.positions.of(new) != provisional, timeout=60_000)
    settle(view, qtbot)
    cards = [scene_.nodes[node] for node in new if not scene_.nodes[node].docked]
    assert min(card.y() for card in cards) > bottom
    assert len({(card.x(), card.y()) for card in cards}) == len(cards)
    document.undo_stack.undo()
    built(view, qtbot)
    assert picture(view) == before
