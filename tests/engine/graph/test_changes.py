"""Undo, redo, roll-back and events."""

from __future__ import annotations

import pytest

from engine.errors import GraphError
from engine.graph import Events, OpGraph
from tests.engine.graph.nets import LENET, assert_consistent, node, state


def test_undo_brings_back_bytes_and_ids():
    graph = OpGraph.parse(LENET)
    before = state(graph)
    with graph.change("Much") as change:
        graph.remove_nodes([node(graph, "conv1"), node(graph, "mnist")])
        new = graph.add_node("ReLU", bottoms=["ip"])
        graph.rename_node(new, "extra")
    after = state(graph)
    assert after != before and change.text == "Much" and not change.is_empty
    change.undo()
    assert state(graph) == before
    change.redo()
    assert state(graph) == after
    assert_consistent(graph)


def test_an_exception_takes_the_whole_change_back():
    graph = OpGraph.parse(LENET)
    before, heard = state(graph), []
    graph.subscribe(heard.append)
    with pytest.raises(ZeroDivisionError), graph.change():
        graph.remove_nodes([node(graph, "conv1")])
        raise ZeroDivisionError
    assert state(graph) == before
    assert not heard


def test_a_failing_verb_takes_back_only_itself():
    graph = OpGraph.parse(LENET)
    conv = node(graph, "conv1")
    with graph.change():
        graph.rename_node(conv, "first")
        with pytest.raises(GraphError):
            graph.connect(conv, 0, node(graph, "mnist"), 99999)
    assert graph.node(conv).name == "first"
    assert_consistent(graph)


def test_events_tell_the_difference_once():
    graph = OpGraph.parse(LENET)
    heard: list[Events] = []
    unsubscribe = graph.subscribe(heard.append)
    relu, conv, ip = node(graph, "relu1"), node(graph, "conv1"), node(graph, "ip")
    with graph.change() as change:
        passing = graph.add_node("Dropout", bottoms=["ip"])
        graph.remove_nodes([passing])
        graph.remove_nodes([relu])
        graph.set_field(conv, ("convolution_param", "num_output"), "30")
    (events,) = heard
    assert events.removed == {relu} and not events.added
    assert events.changed == {conv} and not events.moved
    assert {(e.source, e.target) for e in events.edges_removed} == {(conv, relu), (relu, ip)}
    assert {(e.source, e.target) for e in events.edges_added} == {(conv, ip)}
    assert events.text_changed
    change.undo()
    assert heard[1].added == {relu} and heard[1].edges_added == events.edges_removed
    unsubscribe()
    change.redo()
    assert len(heard) == 2


def test_every_subscriber_hears_even_if_one_fails():
    graph = OpGraph.parse(LENET)
    heard = []

    def fail(events):
        raise RuntimeError("widget")

    graph.subscribe(fail)
    graph.subscribe(heard.append)
    with pytest.raises(RuntimeError, match="widget"):
        graph.rename_node(node(graph, "ip"), "other")
    assert len(heard) == 1
    assert graph.named("other")


def test_changes_are_undone_in_order_only():
    graph = OpGraph.parse(LENET)
    with graph.change("one") as one:
        graph.rename_node(node(graph, "ip"), "a")
    with graph.change("two") as two:
        graph.rename_node(node(graph, "a"), "b")
    with pytest.raises(GraphError, match="'one' is not the change"):
        one.undo()
    with pytest.raises(GraphError, match="'two' is not the change"):
        two.redo()
    two.undo()
    one.undo()
    assert graph.text == LENET
    with graph.change(), pytest.raises(GraphError, match="inside of another"):
        graph.rename_node(node(graph, "ip"), "c")
        one.redo()


def test_following_changes_are_joined_into_one_undo():
    graph = OpGraph.parse(LENET)
    conv = node(graph, "conv1")
    with graph.change("type 3") as first:
        graph.set_field(conv, ("convolution_param", "num_output"), "3")
    with graph.change("type 32") as second:
        graph.set_field(conv, ("convolution_param", "num_output"), "32")
    after = graph.text
    first.extend(second)
    first.undo()
    assert graph.text == LENET
    first.redo()
    assert graph.text == after
    with pytest.raises(GraphError, match="does not follow"):
        first.extend(second)


def test_a_change_without_edits_is_empty_and_silent():
    graph = OpGraph.parse(LENET)
    heard = []
    graph.subscribe(heard.append)
    with graph.change() as change:
        graph.set_field(node(graph, "conv1"), ("convolution_param", "num_output"), "20")
    assert change.is_empty and not heard
    assert change.undo() == change.redo() == Events()


@pytest.mark.parametrize("again", ["apply", "undo"])
def test_who_is_told_of_a_change_cannot_make_another(again):
    graph = OpGraph.parse(LENET)
    with graph.change("first") as first:
        graph.rename_node(node(graph, "ip"), "a")
    refused = []

    def meddle(_events):
        with pytest.raises(GraphError, match="another change") as caught, graph.change("second"):
            graph.rename_node(node(graph, "conv1"), "b")
        refused.append(caught.value)

    end = graph.subscribe(meddle)
    if again == "undo":
        first.undo()
    else:
        with graph.change("next") as last:
            graph.rename_node(node(graph, "a"), "c")
        last.undo()
        first.undo()
    end()
    assert refused
    assert graph.text == LENET
    first.redo()
    assert_consistent(graph)
