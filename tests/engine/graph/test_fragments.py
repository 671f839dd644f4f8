"""Layers are copied as text, and pasted under fresh names with their inner links."""

from __future__ import annotations

import pytest

from engine.errors import CheckError, GraphError
from engine.graph import OpGraph
from tests.engine.graph.nets import CHAIN, LENET, assert_consistent, layer, node, state, wires


def ids(graph: OpGraph, *names: str):
    return [node(graph, name) for name in names]


def test_inner_links_follow_the_copies_and_outer_ones_are_cut():
    graph = OpGraph.parse(LENET)
    text = graph.copy_fragment(ids(graph, "ip", "relu1", "conv1"))
    assert text.index('"conv1"') < text.index('"relu1"') < text.index('"ip"')
    before, old = state(graph), wires(graph)
    with graph.change("Paste") as change:
        added = [graph.node(each) for each in graph.paste_fragment(text)]
    assert_consistent(graph)
    assert [each.type for each in added] == ["Convolution", "ReLU", "InnerProduct"]
    conv, relu, ip = (each.name for each in added)
    assert added[0].bottoms == ("?",) and added[1].in_place == (True,)
    assert wires(graph) - old == {f"{conv}.0>{relu}.0", f"{relu}.0>{ip}.0"} and old <= wires(graph)
    assert len({each.name for each in graph.nodes()}) == len(graph) - 1  # two are of one name: those of both phases
    assert "num_output: 20" in graph.layer_text(added[0].id)
    change.undo()
    assert state(graph) == before


@pytest.mark.parametrize(("keep", "bottoms"), [(True, ("data",)), (False, ("?",))])
def test_inputs_from_outside_stay_where_asked(keep, bottoms):
    graph = OpGraph.parse(LENET)
    (made,) = graph.paste_fragment(graph.copy_fragment(ids(graph, "conv1")), keep_inputs=keep)
    assert graph.node(made).bottoms == bottoms


def test_what_does_not_exist_here_cannot_be_kept():
    graph = OpGraph.parse(LENET)
    (made,) = graph.paste_fragment(layer("far", "elsewhere", "y"), keep_inputs=True)
    assert graph.node(made).bottoms == ("?",)


def test_a_copy_of_a_layer_in_place_does_not_overwrite_the_original():
    graph = OpGraph.parse(layer("d", "", "data") + CHAIN)
    old = wires(graph)
    (made,) = graph.paste_fragment(graph.copy_fragment(ids(graph, "relu")), keep_inputs=True)
    assert old <= wires(graph) and not any(graph.node(made).in_place)


def test_layers_stand_behind_the_one_that_is_named():
    graph = OpGraph.parse(layer("d", "", "data") + CHAIN)
    added = graph.paste_fragment(graph.copy_fragment(ids(graph, "conv", "bn")), after=node(graph, "scale"))
    order = graph.node_ids()
    assert order[order.index(node(graph, "scale")) + 1 :][:2] == added


def test_twins_of_two_phases_stay_twins():
    graph = OpGraph.parse(LENET)
    train, test = (graph.node(each) for each in graph.paste_fragment(LENET[: LENET.index('layer {\n  name: "conv1')]))
    assert (train.name, train.tops) == (test.name, test.tops) and train.name != "mnist"
    assert train.phases != test.phases


def test_old_layers_come_as_todays():
    graph = OpGraph.parse(layer("d", "", "x"))
    old = 'layers { name: "c" type: CONVOLUTION bottom: "x" top: "c" blobs_lr: 1 blobs_lr: 2 }'
    (made,) = graph.paste_fragment(old, keep_inputs=True)
    assert graph.node(made).version == 2 and graph.value(made, ("param", 1, "lr_mult")) == "2"
    assert graph.node(made).bottoms == ("x",)


def test_an_old_document_takes_old_layers_as_they_are():
    text = 'layers { name: "c" type: CONVOLUTION bottom: "x" top: "c" blobs_lr: 1 }\n'
    graph = OpGraph.parse(text)
    (made,) = graph.paste_fragment(graph.copy_fragment(graph.node_ids()))
    assert graph.node(made).version == 1 and "blobs_lr: 1" in graph.layer_text(made)


def test_tops_of_one_copy_never_collide():
    graph = OpGraph.parse(layer("s", "", "a a2") + layer("a1", "", "a1"))
    (made,) = graph.paste_fragment(graph.copy_fragment(ids(graph, "s")))
    tops = graph.node(made).tops
    assert len(set(tops)) == 2 and not {"a", "a1", "a2"} & set(tops)


def test_a_text_without_layers_is_refused_and_changes_nothing():
    graph = OpGraph.parse(LENET)
    assert graph.copy_fragment([]) == ""
    before = state(graph)
    with pytest.raises(GraphError, match="no layers"):
        graph.paste_fragment("hello")
    assert state(graph) == before


def test_an_old_fragment_that_cannot_be_read_is_refused_and_nothing_changes():
    graph = OpGraph.parse(LENET)
    padding_first = 'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "p" }\n'
    wrong = padding_first + 'layers { layer { name: "r" type: "relu" } bottom: "p" top: "r" }\n'
    with pytest.raises(GraphError, match="old format"):
        graph.paste_fragment(wrong)
    assert graph.text == LENET


COMMENTED = """# who knows why
layer {  # first
  name: "c"   type: 'Convolution'
  # from the left
  bottom: "x"; top: "c"

  convolution_param { num_output: 0x10, kernel_size: [3, 5] }  # odd on purpose
  # the end
}  # really
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("unit", ["  ", "    ", "\t"])
def test_a_copy_is_as_it_was_written_but_for_its_names(unit, newline):
    head = f'layer {{\n{unit}name: "d"\n{unit}type: "Input"\n{unit}top: "x"\n}}\n'.replace("\n", newline)
    there = OpGraph.parse(COMMENTED.replace("\n", "\r\n"))
    graph = OpGraph.parse(head)
    (made,) = graph.paste_fragment(there.copy_fragment(there.node_ids()), keep_inputs=True)
    expected = COMMENTED.replace("  name", f"{unit}name").replace("\n  bottom", f"\n{unit}bottom")
    expected = expected.replace("\n  #", f"\n{unit}#").replace("\n  conv", f"\n{unit}conv").replace("\n", newline)
    assert graph.text == head + expected and graph.node(made).name == "c"
    assert_consistent(graph)
    (twin,) = graph.paste_fragment(graph.copy_fragment([made]), keep_inputs=True)
    renamed = expected.replace('"c"', f'"{graph.node(twin).name}"')
    assert graph.text == head + expected + renamed


def test_a_copy_of_an_indented_layer_loses_the_indentation_of_its_place():
    there = OpGraph.parse('  # note\n  layer {\n    name: "a"\n    type: "ReLU"\n  }')
    graph = OpGraph.parse(layer("d", "", "x").rstrip("\n"))
    graph.paste_fragment(there.copy_fragment(there.node_ids()))
    assert graph.text == layer("d", "", "x") + '# note\nlayer {\n  name: "a"\n  type: "ReLU"\n}\n'


def test_a_layer_without_a_name_gets_one_and_keeps_its_comments():
    graph = OpGraph.parse(layer("d", "", "x"))
    (made,) = graph.paste_fragment('layer {\n  # mine\n  type: "ReLU"  # yes\n  bottom: "x"\n  top: "x"\n}\n')
    assert graph.node(made).name and "  # mine\n" in graph.text and 'type: "ReLU"  # yes' in graph.text


def test_broken_layers_are_not_pasted():
    graph = OpGraph.parse(LENET)
    with pytest.raises(CheckError, match="broken"):
        graph.paste_fragment('layer { name: "r" type: "ReLU" bottom = "x" }')
    assert graph.text == LENET
