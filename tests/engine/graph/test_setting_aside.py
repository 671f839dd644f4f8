"""Bypass and freeze: plain edits that are taken back to the byte."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.errors import CheckError
from engine.graph import OpGraph

CHAIN = """\
name: "chain"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 9 dim: 9 } } }
# the first
layer {
  name: "conv"
  type: "Convolution"
  bottom: "data"
  top: "conv"
  param { lr_mult: 1 decay_mult: 1 }
  param {
    lr_mult: 2
  }
  convolution_param { num_output: 4 kernel_size: 3 }
}
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }

layer {
  name: "norm"  # local
  type: "LRN"
  bottom: "conv"
  top: "norm"
}
  layer { name: "pool" type: "Pooling" bottom: "norm" top: "pool" }
layer { name: "drop" type: "Dropout" bottom: "pool" top: "drop" include { phase: TRAIN }
  include { phase: TEST stage: "s" } }
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "drop"
  top: "ip"
  inner_product_param { num_output: 2 }
}
layer { name: "sum" type: "Eltwise" bottom: "ip" bottom: "ip" top: "sum" }
"""


def named(graph: OpGraph, name: str):
    return graph.named(name)[0]


def bypass(graph: OpGraph, *names: str) -> None:
    for name in names:
        graph.bypass(named(graph, name).id)


def restore(graph: OpGraph, *names: str) -> None:
    for name in names:
        graph.restore(named(graph, name).id)


@pytest.mark.parametrize(
    ("name", "reader", "blob"),
    [("norm", "pool", "conv"), ("drop", "ip", "pool"), ("conv", "relu", "data"), ("relu", "norm", "conv")],
)
def test_what_read_a_bypassed_layer_reads_its_input_and_restore_gives_the_same_bytes(name, reader, blob):
    graph = OpGraph.parse(CHAIN)
    bypass(graph, name)
    node = named(graph, name)
    assert graph.is_bypassed(node.id)
    assert node.phases == frozenset()
    assert named(graph, reader).bottoms == (blob,)
    assert not graph.edges_in(node.id)
    assert graph.edges_in(named(graph, reader).id)
    again = OpGraph.parse(graph.text)  # the text alone says all there is to it
    assert again.is_bypassed(named(again, name).id)
    restore(again, name)
    assert again.text == CHAIN


@pytest.mark.parametrize("back", [("norm", "pool", "drop"), ("drop", "pool", "norm"), ("pool", "norm", "drop")])
@pytest.mark.parametrize("out", [("norm", "pool", "drop"), ("drop", "pool", "norm"), ("pool", "drop", "norm")])
def test_neighbours_come_back_in_any_order(out, back):
    graph = OpGraph.parse(CHAIN)
    bypass(graph, *out)
    assert named(graph, "ip").bottoms == ("conv",)
    left = set(out)
    for name in back:
        restore(graph, name)
        left.remove(name)
        chain = [each for each in ("conv", "norm", "pool", "drop") if each not in left]
        assert named(graph, "ip").bottoms == (chain[-1],)
        for before, here in pairwise(chain):
            assert named(graph, here).bottoms == (before,)
    assert graph.text == CHAIN


def test_layers_that_share_a_line_get_lines_of_their_own():
    layers = (
        'layer { name: "a" type: "Input" top: "a" }',
        'layer { name: "b" type: "LRN" bottom: "a" top: "b" }',
        'layer { name: "c" type: "LRN" bottom: "b" top: "c" }',
    )
    text = " ".join(layers)
    graph = OpGraph.parse(text)
    bypass(graph, "b")
    again = OpGraph.parse(graph.text)
    assert named(again, "c").bottoms == ("a",)
    restore(again, "b")
    assert again.text.split() == text.split()


def test_a_layer_without_inputs_is_not_bypassed_and_an_unread_one_is_merely_left_out():
    graph = OpGraph.parse(CHAIN)
    with pytest.raises(CheckError, match="reads nothing"):
        bypass(graph, "data")
    bypass(graph, "sum")
    with pytest.raises(CheckError, match="already"):
        bypass(graph, "sum")
    restore(graph, "sum")
    with pytest.raises(CheckError, match="not bypassed"):
        restore(graph, "sum")
    assert graph.text == CHAIN


def test_a_layer_whose_input_is_open_is_not_bypassed():
    graph = OpGraph.parse(CHAIN)
    graph.disconnect(named(graph, "norm").id, 0)
    with pytest.raises(CheckError, match="bottom 0 is not connected"):
        bypass(graph, "norm")


def test_a_bypassed_layer_is_not_connected():
    graph = OpGraph.parse(CHAIN)
    bypass(graph, "norm")
    with pytest.raises(CheckError, match="'norm' is bypassed"):
        graph.check_connect(named(graph, "norm").id, 0, named(graph, "ip").id, 0)


def test_undo_and_redo_of_a_bypass_are_exact():
    graph = OpGraph.parse(CHAIN)
    with graph.change("Bypass") as change:
        bypass(graph, "norm", "drop")
    after = graph.text
    change.undo()
    assert graph.text == CHAIN
    change.redo()
    assert graph.text == after


@pytest.mark.parametrize(("name", "params"), [("conv", 2), ("ip", 2), ("pool", 1)])
def test_freezing_sets_all_rates_to_zero_and_unfreezing_brings_the_old_ones_back(name, params):
    graph = OpGraph.parse(CHAIN)
    node = named(graph, name).id
    assert not graph.is_frozen(node)
    graph.freeze(node, params)
    assert graph.is_frozen(node)
    assert [each.lr_mult for each in graph.layer_message(node).param] == [0.0] * params
    with pytest.raises(CheckError, match="already"):
        graph.freeze(node, params)
    again = OpGraph.parse(graph.text)
    again.unfreeze(named(again, name).id)
    assert again.layer_text(named(again, name).id).split() == OpGraph.parse(CHAIN).layer_text(node).split()
    assert "frozen" not in again.text


def test_a_layer_frozen_by_hand_learns_with_the_default_again():
    entries = "param { lr_mult: 0.0 decay_mult: 1 } param { lr_mult: 0 }"
    graph = OpGraph.parse(f'layer {{ name: "a" type: "InnerProduct" {entries} }}')
    node = graph.nodes()[0].id
    assert graph.is_frozen(node)
    graph.unfreeze(node)
    assert [each.lr_mult for each in graph.layer_message(node).param] == [1.0, 1.0]


def test_a_layer_without_weights_cannot_be_frozen():
    graph = OpGraph.parse(CHAIN)
    with pytest.raises(CheckError, match="no weights"):
        graph.freeze(named(graph, "relu").id, 0)


@pytest.mark.parametrize(
    ("out", "gone", "back"),
    [
        (("norm",), ("norm",), ()),
        (("norm", "pool"), ("pool",), ("norm",)),
        (("norm", "pool"), ("norm",), ("pool",)),
        (("pool", "norm"), ("pool", "norm"), ()),
        (("ip",), ("ip",), ()),
        (("norm",), ("norm", "pool"), ()),
    ],
)
def test_a_bypassed_layer_that_is_removed_leaves_no_word_of_it(out, gone, back):
    graph = OpGraph.parse(CHAIN.encode())
    bypass(graph, *out)
    before = bytes(graph)
    with graph.change("Delete") as change:
        graph.remove_nodes([named(graph, name).id for name in gone])
    after = bytes(graph)
    restore(graph, *back)
    assert b"bypasse" not in bytes(graph)
    assert not graph.problems
    assert all(bottom != "?" for node in graph.nodes() for bottom in node.bottoms if "pool" not in gone)
    if back == ("norm",):
        assert named(graph, "drop").bottoms == ("norm",)
    if back == ("pool",):
        assert named(graph, "drop").bottoms == ("pool",) and named(graph, "pool").bottoms == ("conv",)
    if not back:
        change.undo()
        assert bytes(graph) == before
        change.redo()
        assert bytes(graph) == after
