"""Views of one document: TRAIN, TEST, deploy, and any level and stages."""

from __future__ import annotations

import networkx as nx
import pytest

from engine.errors import GraphError
from engine.graph import ALL, DEPLOY, NetState, OpGraph, View
from engine.layer import Phase
from engine.net import NetState as RunState
from engine.net import filter_net
from engine.schema import read_net
from tests.engine.graph.editor import Editor
from tests.engine.graph.nets import LENET, TEXTS, layer

STAGED = (
    layer("t", "", "x l", "Data", 'include { stage: "train" }')
    + layer("v", "", "x l", "Data", 'include { stage: "val" }')
    + layer("d", "", "x", "Input", 'include { stage: "deploy" }')
    + layer("ip", "x", "y", "InnerProduct")
    + layer("loss", "y l", "loss", "SoftmaxWithLoss", 'exclude { stage: "deploy" }')
    + layer("prob", "y", "prob", "Softmax", 'include { stage: "deploy" }')
)


def names(graph: OpGraph, view: View) -> str:
    return " ".join(node.name for node in graph.look(view).nodes())


def wires(graph: OpGraph, view: View) -> set[str]:
    edges = graph.look(view).edges()
    return {f"{graph.node(e.source).name}.{e.top}>{graph.node(e.target).name}.{e.bottom}" for e in edges}


@pytest.mark.parametrize(
    ("rules", "state", "on"),
    [
        ("", ("TRAIN", 0, ""), True),
        ("include { phase: TEST }", ("TRAIN", 0, ""), False),
        ("include { phase: TEST } include { phase: TRAIN }", ("TRAIN", 0, ""), True),
        ('include { phase: TEST stage: "a" } include { phase: TRAIN }', ("TEST", 0, ""), False),
        ('include { phase: TEST stage: "a" } include { phase: TRAIN }', ("TEST", 0, "a"), True),
        ('include { stage: "a" stage: "b" }', ("TEST", 0, "a"), False),
        ('include { stage: "a" stage: "b" }', ("TEST", 0, "ab"), True),
        ('include { not_stage: "a" }', ("TEST", 0, "ab"), False),
        ('include { stage: ["a", "b"] not_stage: "c" }', ("TEST", 0, "abc"), False),
        ("include { min_level: 1 max_level: 3 }", ("TRAIN", 0, ""), False),
        ("include { min_level: 1 max_level: 3 }", ("TRAIN", 3, ""), True),
        ("include { min_level: 1 max_level: 3 }", ("TRAIN", 4, ""), False),
        ("include { max_level: -2 }", ("TRAIN", -2, ""), True),
        ('exclude { phase: TEST stage: "a" }', ("TEST", 0, ""), True),
        ('exclude { stage: "a" } exclude { phase: TEST }', ("TRAIN", 0, "a"), False),
    ],
)
def test_views_and_runs_filter_by_the_same_rules(rules: str, state: tuple[str, int, str], on: bool):
    """B10: the table for views, and for nets that run."""
    phase, level, stages = state
    text = layer("a", "", "x", "Input", rules)
    assert bool(names(OpGraph.parse(text), View(phase, level, frozenset(stages)))) == on
    kept = filter_net(read_net(text), RunState(Phase[phase], level, frozenset(stages))).layer
    assert bool(kept) == on


def test_stages_and_levels_of_a_document_are_offered():
    graph = OpGraph.parse(STAGED + layer("r", "y", "z", more='include { min_level: 2 max_level: 5 not_stage: "n" }'))
    assert graph.stages == {"train", "val", "deploy", "n"}
    assert graph.levels == (0, 2, 5, 6)
    graph.remove_nodes([graph.node_ids()[-1]])
    assert graph.levels == (0,) and "n" not in graph.stages


def test_a_net_may_set_its_own_stages_and_level():
    text = 'state { stage: "own" level: 3 }\n' + layer("a", "", "x", more='include { stage: "own" min_level: 3 }')
    graph = OpGraph.parse(text)
    assert names(graph, View("TEST")) == "a"
    assert graph.look(View("TEST", 0, frozenset("s"))).state == NetState("TEST", 3, frozenset({"own", "s"}))
    assert names(graph, View("TEST", 2)) == ""
    assert graph.nodes()[0].phases == {"TRAIN", "TEST"}
    with graph.change() as change:
        graph.clear_field(None, ("state",))
    assert names(graph, View("TEST")) == ""
    change.undo()
    assert names(graph, View("TEST")) == "a"


def test_a_blob_is_the_latest_in_the_view():
    """In-place versions and producers that are out of the view are skipped."""
    text = (
        layer("d", "", "x", "Input")
        + layer("drop", "x", "x", "Dropout", "include { phase: TRAIN }")
        + layer("noise", "x", "x", "Python", 'include { stage: "noisy" min_level: 2 }')
        + layer("r", "x", "y")
    )
    graph = OpGraph.parse(text)
    noisy = frozenset({"noisy"})
    assert wires(graph, View("TEST")) == {"d.0>r.0"}
    assert wires(graph, View("TRAIN")) == {"d.0>drop.0", "drop.0>r.0"}
    assert wires(graph, View("TEST", 2, noisy)) == {"d.0>noise.0", "noise.0>r.0"}
    assert wires(graph, View("TRAIN", 5, noisy)) == {"d.0>drop.0", "drop.0>noise.0", "noise.0>r.0"}
    known = set(graph.edges())
    assert set(graph.look(View("TRAIN")).edges()) <= known  # the same values where the document has them


def test_wires_that_only_stages_together_make():
    text = layer("p", "", "x", "Input", 'include { stage: "a" }') + layer("q", "x", "y", more='include { stage: "b" }')
    graph = OpGraph.parse(text)
    view = graph.look(View("TEST", 0, frozenset("ab")))
    (edge,) = view.edges()
    assert edge in view and view.edges_in(edge.target) == view.edges_out(edge.source) == (edge,)
    assert graph.look(View("TEST", 0, frozenset("b"))).loose() == ((edge.target, 0),)


def test_deploy_of_a_document_that_spells_it_out():
    graph = OpGraph.parse(STAGED)
    view = graph.look(View(DEPLOY))
    assert not view.derived and view.state == NetState("TEST", 0, frozenset({"deploy"}))
    assert names(graph, View(DEPLOY)) == "d ip prob"
    assert [graph.node(node).name for node, _ in view.inputs()] == ["d"]


def data(top: str = "x l", kind: str = "Data", name: str = "d") -> str:
    return layer(name, "", top, kind)


@pytest.mark.parametrize(
    ("text", "kept", "inputs"),
    [
        (LENET, "mnist conv1 relu1 ip", ["data"]),
        # A label that is cut to pieces on its way to two losses.
        (
            data() + layer("s", "l", "l1 l2", "Slice") + layer("ip", "x", "y", "InnerProduct")
            + layer("a", "y l1", "a", "EuclideanLoss") + layer("b", "y l2", "b", "SoftmaxWithLoss"),
            "d ip",
            ["x"],
        ),
        # Labels from a source of their own, as in nets for segmentation.
        (
            data("x") + data("t", name="labels") + layer("c", "x", "y", "Convolution")
            + layer("loss", "y t", "loss", "SoftmaxWithLoss"),
            "d c",
            ["x"],
        ),
        # An autoencoder compares with its own data: what only reshapes that for the loss goes.
        (
            data("x") + layer("flat", "x", "f", "Flatten") + layer("e", "x", "y", "InnerProduct")
            + layer("loss", "y f", "loss", "SigmoidCrossEntropyLoss"),
            "d e",
            ["x"],
        ),
        # Both of a pair are data; only what tells whether they are alike is the label.
        (
            data("x sim") + layer("s", "x", "a b", "Slice") + layer("f", "a", "fa", "InnerProduct")
            + layer("g", "b", "fb", "InnerProduct") + layer("loss", "fa fb sim", "loss", "ContrastiveLoss"),
            "d s f g",
            ["x"],
        ),
        # What predicts with a second input needs it.
        (
            data("x c l") + layer("j", "x c", "y", "Concat") + layer("loss", "y l", "loss", "SoftmaxWithLoss"),
            "d j",
            ["x", "c"],
        ),
        # A label that nothing reads any more, and one that is thrown away.
        (data("x label") + layer("r", "x", "y"), "d r", ["x"]),
        (data("x label") + layer("s", "label", "", "Silence") + layer("r", "x", "y"), "d r", ["x"]),
        # What reads an accuracy or a loss goes with it.
        (
            data() + layer("acc", "x l", "acc", "Accuracy") + layer("neg", "acc", "n") + layer("r", "x", "y"),
            "d r",
            ["x"],
        ),
        ("", "", []),
    ],
)  # fmt: skip
def test_deploy_is_derived_as_people_do_it(text: str, kept: str, inputs: list[str]):
    graph = OpGraph.parse(text)
    view = graph.look(View(DEPLOY))
    assert view.derived
    assert names(graph, View(DEPLOY)) == kept
    assert [graph.node(node).tops[top] for node, top in view.inputs()] == inputs
    assert not view.loose()
    assert all(edge.source in view and edge.target in view for edge in view.edges())


def test_networkx_has_a_view_read_only():
    graph = OpGraph.parse(LENET)
    view = graph.look(View("TEST"))
    assert nx.is_directed_acyclic_graph(view.network)
    assert set(view.network) == set(view.node_ids())
    assert {key for _, _, key in view.network.edges(keys=True)} == set(view.edges())
    with pytest.raises(nx.NetworkXError):
        view.network.add_node(99)


@pytest.mark.parametrize("text", [*TEXTS.values(), STAGED], ids=[*TEXTS, "staged"])
def test_views_follow_all_edits(text: str):
    """After any edits, undone and redone, a view that watched is the view of the same text read anew."""
    graph = OpGraph.parse(text)
    editor = Editor(graph, 7)
    views = [View("TRAIN"), View("TEST"), View(DEPLOY), View("TEST", 2, frozenset({"a", "deploy"}))]
    watching = [graph.look(view) for view in views]
    for step in range(40):
        change = editor.step()
        if change is not None and step % 5 == 4:
            change.undo()
        for view, watcher in zip(views, watching, strict=True):
            fresh = OpGraph.parse(bytes(graph))
            assert [node.ordinal for node in watcher.nodes()] == [node.ordinal for node in fresh.look(view).nodes()]
            assert _places(graph, watcher) == _places(fresh, fresh.look(view))


def _places(graph, view):
    place = graph.ordinal
    edges = {(place(e.source), e.top, place(e.target), e.bottom, e.blob, e.phases) for e in view.edges()}
    return edges, [(place(node), bottom) for node, bottom in view.loose()]


def test_what_is_no_view_is_refused():
    with pytest.raises(GraphError, match="'train'"):
        View("train")
    with pytest.raises(GraphError, match="graph itself"):
        OpGraph.parse("").look(View(ALL))


def test_a_view_in_words():
    assert View("TEST", 2, frozenset({"b", "a"})).words == "TEST, stages a and b, level 2"
    assert View().words == "all"
