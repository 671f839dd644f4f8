"""One undoable edit brings an old document to today's format."""

from __future__ import annotations

from engine.graph import OpGraph, is_old, upgraded_text

OLD = """\
layers { name: 'd' type: DATA top: 'x' }
# the same
layers { name: 'r' type: RELU bottom: 'x' top: 'x' }
layers { layer { name: 'c' type: 'conv' pad: 1 } bottom: 'x' top: 'c' }
"""


def test_ids_and_wires_stay_and_undo_brings_the_bytes_back():
    """B6, B7."""
    graph = OpGraph.parse(OLD)
    ids, edges = graph.node_ids(), set(graph.edges())
    with graph.change("Upgrade") as change:
        graph.replace_text(upgraded_text(graph))
    assert graph.node_ids() == ids and set(graph.edges()) == edges
    assert [node.version for node in graph.nodes()] == [2, 2, 2] and "# the same" in graph.text
    assert not is_old(graph) and upgraded_text(graph) == graph.text
    change.undo()
    assert graph.text == OLD and is_old(graph)
