"""Many layers pasted into a long net: each stands and is numbered where it would be were it the only one."""

from __future__ import annotations

import time

import pytest

from engine.errors import CheckError
from engine.graph import OpGraph
from tests.benchmarks.nets import residual_net
from tests.engine.graph.nets import assert_consistent, state

#: Seconds for a thousand layers, three times what it takes.
MOST = 3 * 0.2
INPUTS = 'input: "data"\ninput_dim: 1\ninput_dim: 2\ninput_dim: 3\ninput_dim: 4\n'
LOSSES = 'layer { name: "top" type: "Softmax" bottom: "data" top: "top" }\n'


@pytest.mark.parametrize("head", ["", INPUTS], ids=["layers", "inputs"])
@pytest.mark.parametrize("tail", ["", LOSSES], ids=["open", "with a loss"])
@pytest.mark.parametrize("keep_inputs", [False, True])
@pytest.mark.parametrize("place", [None, 0, 20])
@pytest.mark.parametrize("ahead", [False, True])
def test_the_order_is_that_of_the_text(head: str, tail: str, keep_inputs: bool, place: int | None, ahead: bool) -> None:
    if tail and not head:
        tail = tail.replace('bottom: "data"', 'bottom: "input1"')
    graph = OpGraph.parse(head + residual_net(60) + tail)
    ids = graph.node_ids()
    before = bytes(graph)
    after = None if place is None else ids[place + bool(head)]
    text = graph.copy_fragment(ids[10:40])
    reading = graph.read_fragment(text, after=after, keep_inputs=keep_inputs) if ahead else None
    assert bytes(graph) == before
    with graph.change("Paste") as change:
        added = graph.paste_fragment(text, after=after, keep_inputs=keep_inputs, reading=reading)
    told = [(node.name, node.ordinal, node.line, node.bottoms, node.tops) for node in graph.nodes()]
    fresh = OpGraph.parse(bytes(graph))
    assert told == [(node.name, node.ordinal, node.line, node.bottoms, node.tops) for node in fresh.nodes()]
    assert [graph.ordinal(node) for node in graph.node_ids()] == list(range(len(told)))
    assert len(set(graph.edges())) == len(fresh.edges()) and len(added) == 30
    if after is not None:
        first = graph.ordinal(after) + 1
        assert [graph.ordinal(node) for node in added] == list(range(first, first + 30))
    pasted = state(graph)
    assert_consistent(graph)
    change.undo()
    assert bytes(graph) == before and graph.node_ids() == ids
    assert_consistent(graph)
    change.redo()
    assert state(graph) == pasted
    assert_consistent(graph)


@pytest.mark.parametrize("meanwhile", ["edited", "edited and taken back", "refused"])
def test_what_was_found_out_ahead_of_another_edit_is_not_used(meanwhile: str) -> None:
    graph = OpGraph.parse(residual_net(60))
    text = graph.copy_fragment(graph.node_ids()[10:40])
    reading = graph.read_fragment(text)
    if meanwhile == "refused":
        with pytest.raises(CheckError), graph.change("Add, and fail"):
            graph.add_node("ReLU")
            graph.check_add_node("")
    else:
        with graph.change("Add") as change:
            graph.add_node("Convolution", name="conv1_copy", tops=["conv1_copy"])
        if meanwhile == "edited and taken back":
            change.undo()
    other = OpGraph.parse(bytes(graph))
    other.paste_fragment(text)
    added = graph.paste_fragment(text, reading=reading)
    assert bytes(graph) == bytes(other)
    assert len(set(added)) == 30
    assert_consistent(graph)


def test_rules_that_come_with_pasted_layers_are_looked_at() -> None:
    """Those ask for stages that the document did not know: all is wired anew, with what was foreseen too."""
    graph = OpGraph.parse(residual_net(60))
    before = state(graph)
    text = graph.copy_fragment(graph.node_ids()[10:40])
    text = text.replace('type: "ReLU"', 'type: "ReLU"\n  include { stage: "late" }')
    with graph.change("Paste") as change:
        graph.paste_fragment(text, reading=graph.read_fragment(text))
    assert_consistent(graph)
    pasted = state(graph)
    change.undo()
    assert state(graph) == before
    assert_consistent(graph)
    change.redo()
    assert state(graph) == pasted
    assert_consistent(graph)


def test_a_thousand_layers_are_pasted_at_once() -> None:
    graph = OpGraph.parse(residual_net(5000))
    text = graph.copy_fragment(graph.node_ids()[1000:2000])
    looks, commits = [], []
    for _look in range(2):
        start = time.thread_time()
        reading = graph.read_fragment(text)
        read = time.thread_time()
        with graph.change("Paste") as change:
            graph.paste_fragment(text, reading=reading)
        looks.append(time.thread_time() - start)
        commits.append(time.thread_time() - read)
        change.undo()
    assert min(looks) < MOST
    assert min(commits) < min(looks) / 3, "most of it is done ahead"


def test_taking_back_reads_nothing() -> None:
    graph = OpGraph.parse(residual_net(5000))
    looks, steps = [], []
    for _look in range(2):
        start = time.thread_time()
        OpGraph.parse(bytes(graph))
        looks.append(time.thread_time() - start)
        with graph.change("Delete") as change:
            graph.remove_nodes(graph.node_ids())
        start = time.thread_time()
        change.undo()
        steps.append(time.thread_time() - start)
    assert min(steps) < min(looks) / 3


def test_wires_of_a_layer_are_the_same_with_and_without_the_network() -> None:
    graph = OpGraph.parse(residual_net(200))
    found = [(graph.edges_in(node), graph.edges_out(node)) for node in graph.node_ids()]
    assert graph._drawn is None
    assert graph._network.number_of_edges() == len(graph.edges())
    assert [(graph.edges_in(node), graph.edges_out(node)) for node in graph.node_ids()] == found
