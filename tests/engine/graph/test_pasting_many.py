"""Many layers pasted into a long net: each stands and is numbered where it would be were it the only one."""

from __future__ import annotations

import time

import pytest

from engine.graph import OpGraph
from tests.benchmarks.nets import residual_net

#: Seconds for a thousand layers, three times what it takes.
MOST = 3 * 0.2
INPUTS = 'input: "data"\ninput_dim: 1\ninput_dim: 2\ninput_dim: 3\ninput_dim: 4\n'
LOSSES = 'layer { name: "top" type: "Softmax" bottom: "data" top: "top" }\n'


@pytest.mark.parametrize("head", ["", INPUTS], ids=["layers", "inputs"])
@pytest.mark.parametrize("tail", ["", LOSSES], ids=["open", "with a loss"])
@pytest.mark.parametrize("keep_inputs", [False, True])
@pytest.mark.parametrize("place", [None, 0, 20])
def test_the_order_is_that_of_the_text(head: str, tail: str, keep_inputs: bool, place: int | None) -> None:
    if tail and not head:
        tail = tail.replace('bottom: "data"', 'bottom: "input1"')
    graph = OpGraph.parse(head + residual_net(60) + tail)
    ids = graph.node_ids()
    before = bytes(graph)
    after = None if place is None else ids[place + bool(head)]
    with graph.change("Paste") as change:
        added = graph.paste_fragment(graph.copy_fragment(ids[10:40]), after=after, keep_inputs=keep_inputs)
    told = [(node.name, node.ordinal, node.line, node.bottoms, node.tops) for node in graph.nodes()]
    fresh = OpGraph.parse(bytes(graph))
    assert told == [(node.name, node.ordinal, node.line, node.bottoms, node.tops) for node in fresh.nodes()]
    assert [graph.ordinal(node) for node in graph.node_ids()] == list(range(len(told)))
    assert len(set(graph.edges())) == len(fresh.edges()) and len(added) == 30
    if after is not None:
        first = graph.ordinal(after) + 1
        assert [graph.ordinal(node) for node in added] == list(range(first, first + 30))
    change.undo()
    assert bytes(graph) == before and graph.node_ids() == ids


def test_a_thousand_layers_are_pasted_at_once() -> None:
    graph = OpGraph.parse(residual_net(5000))
    text = graph.copy_fragment(graph.node_ids()[1000:2000])
    looks = []
    for _look in range(2):
        start = time.thread_time()
        with graph.change("Paste") as change:
            graph.paste_fragment(text)
        looks.append(time.thread_time() - start)
        change.undo()
    assert min(looks) < MOST


def test_wires_of_a_layer_are_the_same_with_and_without_the_network() -> None:
    graph = OpGraph.parse(residual_net(200))
    found = [(graph.edges_in(node), graph.edges_out(node)) for node in graph.node_ids()]
    assert graph._drawn is None
    assert graph._network.number_of_edges() == len(graph.edges())
    assert [(graph.edges_in(node), graph.edges_out(node)) for node in graph.node_ids()] == found
