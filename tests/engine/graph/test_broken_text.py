"""Edits of broken documents: made where the text stays what the graph says, refused where it would not."""

from __future__ import annotations

import pytest

from engine.errors import GraphError
from engine.graph import OpGraph
from tests.engine.graph.nets import assert_consistent, layer, node, state

UNCLOSED = layer("a", "", "x") + "layers {\n"
NO_VALUE = layer("a", "", "x") + 'layer {\n  name: "b"\n  bottom:   top: "y"\n}\n'
INNER_MARK = layer("a", "", "x") + '\ufeffname: "n"\n'
ELSEWHERE = layer("a", "", "x") + "???\n" + layer("b", "x", "y")


@pytest.mark.parametrize(
    ("text", "line", "edit"),
    [
        (UNCLOSED, 2, lambda graph: graph.add_node("ReLU", name="new")),
        (NO_VALUE, 2, lambda graph: graph.set_field(node(graph, "b"), ("bottom",), '"z"')),
        (INNER_MARK, 1, lambda graph: graph.remove_nodes([node(graph, "a")])),
    ],
    ids=["an open layer would take in the new one", "two values would be one", "junk would be a byte order mark"],
)
def test_what_would_be_read_in_another_way_is_refused(text, line, edit):
    graph = OpGraph.parse(text)
    before = state(graph)
    with pytest.raises(GraphError, match=f"broken around line {line}.*Mend the text"):
        edit(graph)
    assert state(graph) == before


def test_edits_beside_broken_text_are_made_and_taken_back():
    graph = OpGraph.parse(ELSEWHERE)
    with graph.change() as change:
        graph.rename_node(node(graph, "b"), "c")
        graph.add_node("ReLU", bottoms=["y"])
    assert_consistent(graph)
    change.undo()
    assert graph.text == ELSEWHERE


def test_mistakes_beyond_the_hundredth_are_told_once_others_are_gone():
    spaced = [layer(f"n{place}", "x", "y", more="z = 1 " * 10) for place in range(15)]
    graph = OpGraph.parse("".join(spaced))
    assert len(graph.problems) == 100
    with graph.change() as change:
        graph.remove_nodes([node(graph, "n0")])
    assert len(graph.problems) == 100
    assert_consistent(graph)
    change.undo()
    assert_consistent(graph)
