"""Connecting, disconnecting, detaching, renaming blobs."""

from __future__ import annotations

import pytest

from engine.errors import CheckError
from engine.graph import OpGraph
from tests.engine.graph.nets import CHAIN, LENET, assert_consistent, layer, node, state, wires


def graph_of(*layers: str) -> OpGraph:
    return OpGraph.parse("".join(layers))


def test_connecting_writes_the_bottom_and_nothing_else():
    text = layer("a", "", "x") + layer("b", "", "y") + layer("c", "x ?", "z")
    graph = OpGraph.parse(text)
    (edge,) = graph.connect(node(graph, "b"), 0, node(graph, "c"), 1)
    assert (edge.blob, edge.bottom) == ("y", 1)
    assert graph.text == text.replace('"?"', '"y"')


def test_a_bottom_beyond_the_last_is_added():
    graph = graph_of(layer("a", "", "x"), layer("c", "x", "z"))
    graph.connect(node(graph, "a"), 0, node(graph, "c"), 2)
    assert graph.node(node(graph, "c")).bottoms == ("x", "?", "x")
    assert 'bottom: "x" bottom: "?" bottom: "x" top: "z"' in graph.text


def test_dragging_from_a_layer_with_in_place_layers_takes_the_latest():
    graph = graph_of(layer("d", "", "data"), CHAIN, layer("e", "?", "y"))
    (edge,) = graph.connect(node(graph, "conv"), 0, node(graph, "e"), 0)
    assert (edge.blob, edge.source) == ("c", node(graph, "relu"))


def test_a_target_above_moves_below_with_its_dependents_and_comments():
    text = (
        "# about t\n"
        + layer("t", "?", "u")
        + layer("after", "u", "v")
        + layer("alone", "", "w")
        + "# about s\n"
        + layer("s", "", "x")
        + layer("end", "v", "z")
    )
    graph = OpGraph.parse(text)
    with graph.change() as change:
        graph.connect(node(graph, "s"), 0, node(graph, "t"), 0)
    assert [n.name for n in graph.nodes()] == ["alone", "s", "t", "after", "end"]
    assert graph.text.index("# about s") < graph.text.index('"s"') < graph.text.index("# about t")
    assert wires(graph) == {"s.0>t.0", "t.0>after.0", "after.0>end.0"}
    assert change.events.moved == {node(graph, "t"), node(graph, "after")}
    assert_consistent(graph)
    change.undo()
    assert graph.text == text


def test_the_source_moves_up_where_moving_the_target_would_rewire_others():
    """t reads c before an in-place layer changes it; below that layer it would read the changed one."""
    graph = graph_of(
        layer("d", "", "c"), layer("t", "c ?", "u"), layer("relu", "c", "c"), layer("r", "c", "q"), layer("s", "", "x")
    )
    before = wires(graph)
    graph.connect(node(graph, "s"), 0, node(graph, "t"), 1)
    assert wires(graph) == before | {"s.0>t.1"}
    assert [n.name for n in graph.nodes()] == ["d", "s", "t", "relu", "r"]
    assert_consistent(graph)


def test_no_order_that_keeps_the_rest_is_refused_with_the_reason():
    graph = graph_of(layer("d", "", "c"), layer("t", "c ?", "u"), layer("relu", "c", "c"), layer("s", "c", "x"))
    before = state(graph)
    with pytest.raises(CheckError, match=r"in-place"):
        graph.connect(node(graph, "s"), 0, node(graph, "t"), 1)
    assert state(graph) == before


def test_cycles_are_refused_and_in_place_is_none():
    graph = graph_of(layer("a", "?", "x"), layer("b", "x", "y"), layer("c", "y", "z"))
    before = state(graph)
    with pytest.raises(CheckError, match=r"'c' depends on layer 'a'.*cycle"):
        graph.connect(node(graph, "c"), 0, node(graph, "a"), 0)
    assert not graph.can_connect(node(graph, "c"), 0, node(graph, "a"), 0)
    assert graph.can_connect(node(graph, "a"), 0, node(graph, "c"), 0)
    assert state(graph) == before


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("a", 1, "b", 0), "has 1 tops"),
        (("a", 0, "b", 999), "no bottom 999"),
        (("b", 0, "b", 0), "its own output"),
        (("train", 0, "test", 0), "never run together"),
    ],
)
def test_connections_that_mean_nothing_are_refused(ends, words):
    graph = graph_of(
        layer("a", "", "x"),
        layer("b", "x", "y"),
        layer("train", "", "t", more="include { phase: TRAIN }"),
        layer("test", "?", "u", more="include { phase: TEST }"),
    )
    source, top, target, bottom = ends
    with pytest.raises(CheckError, match=words):
        graph.check_connect(node(graph, source), top, node(graph, target), bottom)
    with pytest.raises(CheckError, match=words):
        graph.connect(node(graph, source), top, node(graph, target), bottom)


def test_a_second_writer_between_the_two_is_told():
    graph = graph_of(layer("a", "", "x"), layer("b", "", "x"), layer("c", "?", "y"))
    with pytest.raises(CheckError, match="would read 'x' from layer 'b'"):
        graph.connect(node(graph, "a"), 0, node(graph, "c"), 0)


def test_disconnecting_writes_a_question_mark():
    graph = OpGraph.parse(LENET)
    graph.disconnect(node(graph, "loss"), 1)
    assert graph.node(node(graph, "loss")).bottoms == ("ip", "?")
    with pytest.raises(CheckError, match="no bottom 2"):
        graph.disconnect(node(graph, "loss"), 2)


def test_disconnecting_an_in_place_layer_leaves_its_readers_with_it():
    graph = graph_of(layer("d", "", "data"), CHAIN)
    graph.disconnect(node(graph, "scale"), 0)
    assert graph.node(node(graph, "scale")).bottoms == ("?",)
    assert graph.node(node(graph, "scale")).tops == ("scale",)
    assert wires(graph) == {"d.0>conv.0", "conv.0>bn.0", "scale.0>relu.0", "relu.0>pool.0"}
    assert graph.node(node(graph, "relu")).in_place == (True,)
    assert_consistent(graph)


def test_an_in_place_layer_stays_so_on_its_new_blob_if_nothing_else_reads_it():
    graph = graph_of(layer("d", "", "data"), layer("o", "", "other"), CHAIN)
    graph.connect(node(graph, "o"), 0, node(graph, "relu"), 0)
    assert graph.node(node(graph, "relu")).in_place == (True,)
    assert wires(graph) == {"d.0>conv.0", "conv.0>bn.0", "bn.0>scale.0", "o.0>relu.0", "relu.0>pool.0"}


def test_an_in_place_layer_leaves_its_place_if_others_read_its_new_blob():
    graph = graph_of(layer("d", "", "data"), layer("o", "", "other"), CHAIN, layer("q", "other", "w"))
    graph.connect(node(graph, "o"), 0, node(graph, "relu"), 0)
    assert graph.node(node(graph, "relu")).tops == ("relu",)
    assert {"o.0>relu.0", "relu.0>pool.0", "o.0>q.0"} <= wires(graph)


def test_detaching_gives_an_earlier_version_a_name():
    graph = graph_of(layer("d", "", "data"), CHAIN)
    before = wires(graph)
    assert graph.detach(node(graph, "scale"), 0) == "scale"
    assert wires(graph) == before
    assert [n.tops[0] for n in graph.nodes()] == ["data", "c", "c", "scale", "scale", "p"]


def test_renaming_a_blob_takes_readers_in_place_layers_and_both_phases():
    graph = OpGraph.parse(LENET)
    before = wires(graph)
    graph.rename_blob(node(graph, "conv1"), 0, "features")
    assert graph.text == LENET.replace('bottom: "conv1"', 'bottom: "features"').replace(
        'top: "conv1"', 'top: "features"'
    )
    graph.rename_blob(node(graph, "mnist"), 1, "digit")
    assert '"label"' not in graph.text
    assert wires(graph) == before
    assert_consistent(graph)


def test_the_other_phases_blob_of_the_same_name_is_asked_about():
    train, test = "include { phase: TRAIN }", "include { phase: TEST }"
    graph = graph_of(
        layer("a", "", "x", more=train),
        layer("b", "x", "y", more=train),
        layer("c", "", "x", more=test),
        layer("e", "x", "z", more=test),
    )
    assert graph.namesakes(node(graph, "a"), 0) == (node(graph, "c"), node(graph, "e"))
    with graph.change() as change:
        graph.rename_blob(node(graph, "a"), 0, "n")
    assert [n.tops + n.bottoms for n in graph.nodes()] == [("n",), ("y", "n"), ("x",), ("z", "x")]
    change.undo()
    graph.rename_blob(node(graph, "a"), 0, "n", everywhere=True)
    assert '"x"' not in graph.text


@pytest.mark.parametrize(
    ("name", "words"), [("", "cannot be called"), ("?", "cannot be called"), ("ip", "writes that")]
)
def test_blob_names_that_are_taken_are_refused(name, words):
    graph = OpGraph.parse(LENET)
    with pytest.raises(CheckError, match=words):
        graph.rename_blob(node(graph, "conv1"), 0, name)
    assert graph.text == LENET


def test_net_inputs_are_renamed_with_their_readers():
    graph = OpGraph.parse('input: "data"\ninput_dim: 1\n' + CHAIN)
    graph.rename_blob(graph.nodes()[0].id, 0, "image")
    assert graph.text.startswith('input: "image"\n')
    assert graph.node(node(graph, "conv")).bottoms == ("image",)
    assert_consistent(graph)
