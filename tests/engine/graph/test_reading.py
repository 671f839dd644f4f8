"""Nodes, edges, phases, versions of blobs, old formats."""

from __future__ import annotations

import networkx as nx
import pytest

from engine.errors import GraphError
from engine.graph import INPUTS, OpGraph
from tests.engine.graph.nets import CHAIN, LENET, layer, node, wires
from tests.support import SHARED, shared_files

FILES = [path for path in shared_files("corpus/prototxt/**/*.prototxt") if "solver" not in path.name]


def test_two_layers_of_one_name_are_two_nodes():
    """B12."""
    graph = OpGraph.parse(LENET)
    train, test = graph.named("mnist")
    assert (train.phases, test.phases) == (frozenset({"TRAIN"}), frozenset({"TEST"}))
    assert (train.ordinal, test.ordinal) == (0, 1)
    assert (train.line, graph.line_range(train.id)) == (3, (3, 10))


def test_edges_hold_in_the_phases_of_both_ends():
    assert wires(OpGraph.parse(LENET)) == {
        "mnist.0>conv1.0@TRAIN",
        "mnist.0>conv1.0@TEST",
        "conv1.0>relu1.0",
        "relu1.0>ip.0",
        "ip.0>loss.0",
        "ip.0>accuracy.0@TEST",
        "mnist.1>loss.1@TRAIN",
        "mnist.1>loss.1@TEST",
        "mnist.1>accuracy.1@TEST",
    }


def test_in_place_layers_are_versions_of_a_blob():
    """B13."""
    graph = OpGraph.parse(layer("d", "", "data") + CHAIN)
    assert wires(graph) == {"d.0>conv.0", "conv.0>bn.0", "bn.0>scale.0", "scale.0>relu.0", "relu.0>pool.0"}
    assert [n.in_place for n in graph.nodes()] == [(False,), (False,), (True,), (True,), (True,), (False,)]


def test_two_readers_of_one_phase_each_share_an_edge_of_both():
    graph = OpGraph.parse(layer("a", "", "x") + layer("b", "x x", "y"))
    assert wires(graph) == {"a.0>b.0", "a.0>b.1"}


def test_unwired_and_unknown_bottoms_have_no_edge():
    graph = OpGraph.parse(
        layer("a", "", "?") + layer("b", "?", "y") + layer("c", "later", "z") + layer("e", "", "later")
    )
    assert wires(graph) == set()
    assert graph.unresolved(node(graph, "c"), 0) == {"TRAIN", "TEST"}


def test_net_inputs_are_a_virtual_node_before_all_layers():
    text = layer("c", "im lab", "y") + 'input: "im"\ninput: "lab"\ninput_dim: 1\n'
    graph = OpGraph.parse(text)
    first = graph.nodes()[0]
    assert (first.id, first.virtual, first.type, first.tops, first.line) == (INPUTS, True, "Input", ("im", "lab"), 2)
    assert wires(graph) == {"input.0>c.0", "input.1>c.1"}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('layers { name: "c" type: CONVOLUTION bottom: "d" top: "c" }', ("c", "Convolution", "CONVOLUTION", 1)),
        ('layers { layer { name: "c" type: "conv" } bottom: "d" top: "c" }', ("c", "Convolution", "conv", 0)),
        ('layers { name: "c" type: STRANGE bottom: "d" top: "c" }', ("c", "STRANGE", "STRANGE", 1)),
        ('layer { name: "c" type: "Convolution" bottom: "d" top: "c" }', ("c", "Convolution", "Convolution", 2)),
    ],
)
def test_old_formats_are_shown_with_todays_types(text, facts):
    (found,) = OpGraph.parse(text).nodes()
    assert (found.name, found.type, found.written_type, found.version) == facts
    assert (found.bottoms, found.tops) == (("d",), ("c",))


def test_messages_of_old_layers_are_todays():
    graph = OpGraph.parse(
        'layers { layer { name: "p" type: "padding" pad: 2 } bottom: "d" top: "p" }\n'
        'layers { layer { name: "c" type: "conv" kernelsize: 3 blobs_lr: 1 } bottom: "p" top: "c" }\n'
        'layers { name: "i" type: INNER_PRODUCT bottom: "c" top: "i" inner_product_param { num_output: 5 } }\n'
        'layers { name: "s" type: STRANGE bottom: "i" top: "s" }\n'
    )
    padding, conv, inner, strange = (graph.layer_message(each) for each in graph.node_ids())
    assert (padding.type, strange.type) == ("Split", "STRANGE")
    own = conv.convolution_param
    assert (list(conv.bottom), list(own.kernel_size), list(own.pad), conv.param[0].lr_mult) == (["p"], [3], [2], 1)
    assert (inner.type, inner.inner_product_param.num_output) == ("InnerProduct", 5)


def test_layers_without_names_are_nodes_too():
    """B20."""
    graph = OpGraph.parse('layer { type: "ReLU" bottom: "a" top: "b" }\nlayer { type: "ReLU" bottom: "b" top: "c" }\n')
    first, second = graph.nodes()
    assert first.id != second.id and first.name == second.name == ""
    assert graph.named("") == (first, second)
    assert "ReLU" in first.title and "line 1" in first.title


@pytest.mark.parametrize(
    ("rules", "phases"),
    [
        ("include { phase: TEST }", {"TEST"}),
        ("include { phase: 1 }", {"TEST"}),
        ("include { phase: TRAIN } include { phase: TEST }", {"TRAIN", "TEST"}),
        ("exclude { phase: TRAIN }", {"TEST"}),
        ("exclude { phase: TRAIN } exclude { phase: TEST }", set()),
        ("include { phase: TEST min_level: 1 }", {"TEST"}),
        ("include { phase: TEST max_level: -1 }", {"TEST"}),
        ("include { min_level: 2 max_level: 1 }", set()),
        ("include { max_level: 0 }", {"TRAIN", "TEST"}),
        ("exclude { phase: TEST max_level: -1 }", {"TRAIN", "TEST"}),
        ('include { phase: TEST stage: "a" } include { phase: TRAIN }', {"TRAIN", "TEST"}),
        ('include { stage: "a" stage: "b" }', {"TRAIN", "TEST"}),
        ('include { stage: "a" not_stage: "a" }', set()),
        ('include { phase: TRAIN not_stage: "a" }', {"TRAIN"}),
        ("include: [{ phase: TRAIN }]", {"TRAIN"}),
        ("", {"TRAIN", "TEST"}),
    ],
)
def test_rules_decide_the_phases(rules, phases):
    """B10; a layer counts to a phase when some level and stages that the document speaks of bring it in."""
    (found,) = OpGraph.parse(layer("a", "", "x", more=rules)).nodes()
    assert found.phases == phases


def test_producers_of_different_stages_both_reach_the_reader():
    text = layer("t", "", "x", more='include { stage: "train" }') + layer("v", "", "x", more='include { stage: "val" }')
    graph = OpGraph.parse(text + layer("r", "x", "y"))
    assert wires(graph) == {"t.0>r.0", "v.0>r.0"}
    assert not graph.unresolved(node(graph, "r"), 0)


def test_views_are_read_only_and_follow():
    graph = OpGraph.parse(LENET)
    train = graph.views["TRAIN"]
    assert nx.is_directed_acyclic_graph(graph.view)
    assert node(graph, "accuracy") not in train
    assert len(train) == 5
    with pytest.raises(nx.NetworkXError):
        graph.view.add_node(99)
    graph.remove_nodes([node(graph, "loss")])
    assert len(train) == 4


def test_fields_are_found_by_path():
    text = layer("a", "", "x", more="p { d: [1, 2] q { r: 'x' } } p { d: 3 } n: 4 n: 5")
    graph = OpGraph.parse(text)
    a = node(graph, "a")
    assert graph.value(a, ("n",)) == "5"
    assert graph.value(a, ("n", 0)) == "4"
    assert [graph.value(a, ("p", "d", place)) for place in range(4)] == ["1", "2", "3", None]
    assert graph.count(a, ("p", "d")) == 3
    assert graph.value(a, ("p", 1, "d")) == "3"
    assert graph.field(a, ("p", "q", "r")).as_str() == "x"
    assert graph.value(a, ("nothing", "here")) is None
    assert graph.value(None, ("layer", 0, "name")) == '"a"'


def test_lines_lead_to_nodes():
    graph = OpGraph.parse(LENET)
    lines = LENET.splitlines()
    inside = lines.index("    kernel_size: 5") + 1
    assert graph.node_at(inside) == node(graph, "conv1")
    assert graph.node_at(1) is None
    assert graph.layer_text(node(graph, "relu1")) == "\n".join(lines[inside + 2 : inside + 8])


def test_unknown_ids_are_refused_in_words():
    with pytest.raises(GraphError, match="no node 77"):
        OpGraph.parse("").node(77)


def test_a_broken_layer_spares_the_others():
    graph = OpGraph.parse(CHAIN.replace('top: "p"', 'top "p"').replace('type: "Scale"', "type = ???"))
    assert len(graph) == 5
    assert len(graph.problems) == 2


@pytest.mark.skipif(not FILES, reason="reference files are not beside this checkout")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SHARED / "corpus/prototxt")))
def test_public_nets_open(path):
    graph = OpGraph.parse(path.read_bytes())
    assert nx.is_directed_acyclic_graph(graph.view)
    for each in graph.nodes():
        assert each.type and each.line > 0
        assert all(graph.node(edge.source).ordinal < each.ordinal for edge in graph.edges_in(each.id))


@pytest.mark.parametrize("name", ["bvlc/models__bvlc_googlenet__train_val", "resnet/ResNet-152-deploy"])
def test_chains_of_public_nets_are_whole(name):
    path = SHARED / f"corpus/prototxt/{name}.prototxt"
    if not path.exists():
        pytest.skip("reference files are not beside this checkout")
    graph = OpGraph.parse(path.read_bytes())
    assert nx.number_weakly_connected_components(graph.view) == 1
    assert all(not graph.unresolved(n.id, b) for n in graph.nodes() for b in range(len(n.bottoms)))
