"""Copies of layers: duplicated, and by the clipboard."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication


def test_duplicate_and_copy_and_paste(hands):
    view, graph = hands.view, hands.view.document.graph
    hands.click(hands.title("conv2"))
    count = len(graph)
    text = bytes(graph)
    view.duplicate()
    assert len(graph) == count + 1
    copy = next(iter(view.document.selection.node_ids))
    assert graph.node(copy).bottoms == ("pool1",)
    assert graph.node(copy).tops == (graph.node(copy).name,)
    assert "num_output: 50" in graph.layer_text(copy)
    card = view.canvas.nodes[copy]
    others = [each.scene_body() for each in view.canvas.items_shown() if each is not card]
    assert not any(card.scene_body().intersects(body) for body in others)
    assert view.visible_rect().intersects(card.scene_body())
    view.document.undo_stack.undo()
    assert bytes(graph) == text
    hands.click(hands.title("ip1"))
    view.copy()
    view.paste()
    pasted = next(iter(view.document.selection.node_ids))
    assert graph.node(pasted).bottoms == ("?",)


@pytest.mark.parametrize("text", [None, 'layer { name: "a" type: "ReLU" } layer { name: "b" type: "ReLU" }'])
def test_what_is_pasted_twice_does_not_cover_itself(hands, text):
    view, positions = hands.view, hands.view.document.positions
    view.document.selection.set([hands.node(name).node_id for name in ("conv1", "pool1")])
    view.copy()
    if text is not None:
        QGuiApplication.clipboard().setText(text)
    seen = set()
    for count in range(1, 4):
        view.paste()
        seen |= {tuple(positions[node]) for node in view.document.selection.node_ids}
        assert len(seen) == 2 * count


def test_a_pasted_pair_of_phases_stays_a_pair(canvas, document, qtbot):
    canvas.select_all()
    canvas.copy()
    canvas.paste()
    graph = document.graph
    added = [graph.node(each) for each in document.selection.node_ids]
    train, test = (node for node in added if node.type == "Data")
    assert (train.name, train.tops) == (test.name, test.tops)
    assert train.phases != test.phases
    conv = next(node for node in added if node.type == "Convolution")
    assert {edge.source for edge in graph.edges_in(conv.id)} == {train.id, test.id}
    assert canvas.canvas.nodes[train.id].pos() != canvas.canvas.nodes[test.id].pos()
