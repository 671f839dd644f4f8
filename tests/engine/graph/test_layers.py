"""Adding, removing, moving and renaming layers; replacing the text as a whole."""

from __future__ import annotations

import pytest

from engine.errors import CheckError, GraphError
from engine.graph import OpGraph
from tests.engine.graph.nets import CHAIN, LENET, assert_consistent, layer, node, wires


def names(graph: OpGraph) -> list[str]:
    return [n.name for n in graph.nodes()]


def test_new_layers_get_fresh_names_and_a_sensible_place():
    graph = OpGraph.parse(LENET)
    conv = graph.add_node("Convolution", bottoms=["?"], fields="convolution_param { num_output: 20 kernel_size: 5 }")
    assert graph.node(conv).name == "conv2" and graph.node(conv).tops == ("conv2",)
    assert names(graph) == ["mnist", "mnist", "conv1", "relu1", "ip", "conv2", "accuracy", "loss"]
    assert graph.layer_text(conv) == (
        'layer {\n  name: "conv2"\n  type: "Convolution"\n  bottom: "?"\n  top: "conv2"\n'
        "  convolution_param {\n    num_output: 20\n    kernel_size: 5\n  }\n}"
    )
    data = graph.add_node("Data", tops=2)
    assert graph.node(data).ordinal == 2 and graph.node(data).tops == ("data2", "data2_1")
    loss = graph.add_node("EuclideanLoss", bottoms=["?", "?"])
    assert (graph.node(loss).ordinal, graph.node(loss).name) == (9, "loss2")
    after = graph.add_node("ReLU", bottoms=["conv1"], tops=["conv1"], after=node(graph, "conv1"))
    assert graph.node(after).ordinal == graph.node(node(graph, "conv1")).ordinal + 1
    assert "relu1.0>ip.0" in wires(graph) and "relu2.0>relu1.0" in wires(graph)
    assert_consistent(graph)


def test_a_new_layer_in_the_middle_of_an_in_place_chain_stands_there_in_the_file():
    """B13."""
    graph = OpGraph.parse(layer("d", "", "data") + CHAIN)
    graph.add_node("Dropout", bottoms=["c"], tops=["c"], after=node(graph, "bn"))
    assert names(graph) == ["d", "conv", "bn", "drop1", "scale", "relu", "pool"]
    assert {"bn.0>drop1.0", "drop1.0>scale.0"} <= wires(graph)


def test_a_new_layer_stands_below_what_it_reads():
    graph = OpGraph.parse(LENET)
    new = graph.add_node("Power", bottoms=["loss"])
    assert graph.node(new).ordinal == len(graph) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 'layer {\n  name: "relu1"\n  type: "ReLU"\n  top: "relu1"\n}\n'),
        (
            "layer {\n\tname: 'a'\n}\n\nlayer {\n\tname: 'b'\n}",
            "layer {\n\tname: 'a'\n}\n\nlayer {\n\tname: 'relu1'\n\ttype: 'ReLU'\n\ttop: 'relu1'\n}\n"
            "\nlayer {\n\tname: 'b'\n}",
        ),
        (
            'layers {\r\n  name: "a"\r\n  type: DATA\r\n}\r\n',
            'layers {\r\n  name: "a"\r\n  type: DATA\r\n}\r\n'
            'layers {\r\n  name: "relu1"\r\n  type: RELU\r\n  top: "relu1"\r\n}\r\n',
        ),
    ],
    ids=["empty", "tabs, single quotes, blank lines", "old format, CRLF"],
)
def test_new_layers_are_written_in_the_files_style(text, expected):
    graph = OpGraph.parse(text)
    after = graph.nodes()[0].id if len(graph) else None
    with graph.change() as change:
        graph.add_node("ReLU", after=after)
    assert graph.text == expected
    assert_consistent(graph)
    change.undo()
    assert graph.text == text


@pytest.mark.parametrize(
    ("text", "type_name", "more", "words"),
    [
        ("layers { type: DATA }", "BatchNorm", {}, "old 'layers' format"),
        ("", "", {}, "needs a type"),
        ("", "ReLU", {"tops": ["?"]}, "top needs a name"),
        ("", "ReLU", {"fields": "a {"}, "fields of the new layer"),
    ],
)
def test_layers_that_cannot_be_written_are_refused(text, type_name, more, words):
    graph = OpGraph.parse(text)
    with pytest.raises(CheckError, match=words):
        graph.add_node(type_name, **more)
    assert graph.text == text


def test_removing_an_in_place_layer_heals_the_chain():
    graph = OpGraph.parse(LENET)
    graph.remove_nodes([node(graph, "relu1")])
    assert "conv1.0>ip.0" in wires(graph)
    assert graph.text == LENET.replace(
        LENET[LENET.index('layer {\n  name: "relu1"') : LENET.index('layer {\n  name: "ip"')], ""
    )


def test_removing_the_only_writer_leaves_question_marks():
    graph = OpGraph.parse(LENET)
    graph.remove_nodes([node(graph, "ip")])
    assert graph.node(node(graph, "accuracy")).bottoms == ("?", "label")
    assert graph.node(node(graph, "loss")).bottoms == ("?", "label")


def test_removing_the_writer_of_one_phase_keeps_the_name_for_the_other():
    graph = OpGraph.parse(LENET)
    graph.remove_nodes([node(graph, "mnist", 0)])
    assert graph.node(node(graph, "conv1")).bottoms == ("data",)
    assert graph.unresolved(node(graph, "conv1"), 0) == {"TRAIN"}
    graph.remove_nodes([node(graph, "mnist")])
    assert graph.node(node(graph, "conv1")).bottoms == ("?",)


def test_comments_go_with_their_layer_and_leave_the_others():
    """B22."""
    graph = OpGraph.parse(LENET)
    graph.remove_nodes([node(graph, "mnist"), node(graph, "accuracy")])
    assert "# training data" not in graph.text and "# only when testing" not in graph.text
    assert "# maps" in graph.text
    graph.move_node(node(graph, "loss"), after=None)
    assert names(graph)[0] == "loss"
    assert graph.text.startswith('name: "LeNet"\nlayer {\n  name: "loss"')
    assert_consistent(graph)


def test_a_detached_heading_stays_when_the_layer_below_goes():
    graph = OpGraph.parse("# ---- head ----\n\n# mine\n" + layer("a", "", "x") + layer("b", "", "y"))
    graph.remove_nodes([node(graph, "a")])
    assert graph.text == "# ---- head ----\n" + layer("b", "", "y")


def test_the_last_layer_without_a_line_break_can_move():
    graph = OpGraph.parse((layer("a", "", "x") + layer("b", "", "y")).rstrip("\n"))
    graph.move_node(node(graph, "b"), after=None)
    graph.move_node(node(graph, "b"), after=node(graph, "a"))
    assert names(graph) == ["a", "b"]
    assert_consistent(graph)


def test_the_nets_inputs_are_removed_as_one():
    graph = OpGraph.parse('name: "n"\ninput: "data"\ninput_shape { dim: 1 }\n' + CHAIN)
    graph.remove_nodes([graph.nodes()[0].id])
    assert graph.text == 'name: "n"\n' + CHAIN.replace('"data"', '"?"')
    with pytest.raises(GraphError, match="no node"):
        graph.remove_nodes([12345])


def test_renaming_a_layer_renames_no_blob():
    graph = OpGraph.parse(LENET)
    graph.rename_node(node(graph, "conv1"), "first")
    assert graph.text == LENET.replace('name: "conv1"', 'name: "first"')


def test_layer_names_are_unique_within_a_phase():
    graph = OpGraph.parse(LENET)
    with pytest.raises(CheckError, match="weights go by name"):
        graph.rename_node(node(graph, "conv1"), "ip")
    with pytest.raises(CheckError, match="needs a name"):
        graph.rename_node(node(graph, "conv1"), "")
    graph.rename_node(node(graph, "mnist", 1), "test data")
    graph.rename_node(node(graph, "test data"), "mnist")
    assert graph.text == LENET


def test_a_layer_without_a_name_gets_one_at_its_head():
    graph = OpGraph.parse('layer {\n  type: "ReLU"\n}\n')
    graph.rename_node(graph.nodes()[0].id, "a")
    assert graph.text == 'layer {\n  name: "a"\n  type: "ReLU"\n}\n'


def test_typing_in_the_text_keeps_the_ids():
    graph = OpGraph.parse(LENET)
    ids = {n.ordinal: n.id for n in graph.nodes()}
    before = list(graph.node_ids())
    with graph.change() as change:
        graph.replace_text(LENET.replace("num_output: 20", "num_output: 21").replace('"relu1"', '"act"'))
    assert list(graph.node_ids()) == before
    assert change.events.changed == {ids[2], ids[3]}
    assert not change.events.added and not change.events.removed
    change.undo()
    assert graph.text == LENET and list(graph.node_ids()) == before
    assert_consistent(graph)


def test_layers_cut_pasted_and_swapped_in_the_text_are_followed():
    graph = OpGraph.parse(LENET)
    conv, ip = node(graph, "conv1"), node(graph, "ip")
    parts = {n.name: graph.layer_text(n.id) for n in graph.nodes()}
    swapped = LENET.replace(parts["conv1"], "@").replace(parts["ip"], parts["conv1"]).replace("@", parts["ip"])
    graph.replace_text(swapped)
    assert (node(graph, "conv1"), node(graph, "ip")) == (conv, ip)
    graph.replace_text(swapped.replace(parts["conv1"], ""))
    assert conv not in graph and ip in graph
    graph.replace_text(swapped + "\n" + parts["relu1"].replace("relu1", "relu9"))
    assert node(graph, "relu9") not in (conv, ip)
    assert_consistent(graph)


def test_broken_text_is_taken_and_mended():
    graph = OpGraph.parse(LENET)
    conv = node(graph, "conv1")
    broken = LENET.replace("    kernel_size: 5\n  }\n", "    kernel_size: 5\n")
    graph.replace_text(broken)
    assert graph.text == broken and graph.problems
    assert node(graph, "conv1") == conv
    graph.replace_text(LENET)
    assert not graph.problems and node(graph, "conv1") == conv


@pytest.mark.parametrize("text", ["", "# only a comment", "\ufeff" + LENET, LENET.replace("\n", "\r\n"), CHAIN])
def test_any_text_can_replace_any_other(text):
    graph = OpGraph.parse(LENET)
    with graph.change() as change:
        graph.replace_text(text.encode())
    assert bytes(graph) == text.encode()
    assert_consistent(graph)
    change.undo()
    assert graph.text == LENET


@pytest.mark.parametrize("end", ["force_backward: true", 'name: "n"', "# the end", "name: 'n'; force_backward: 1"])
def test_a_removed_layer_leaves_no_two_things_in_one(end: str):
    """What a file ends with, without a line break, must not run into the layer that comes next."""
    graph = OpGraph.parse(end)
    with graph.change("Add") as added:
        first = graph.add_node("Power", name="a")
        graph.add_node("Power", name="b")
    both = bytes(graph)
    with graph.change("Remove") as removed:
        graph.remove_nodes([first])
    assert not graph.problems and [each.name for each in graph.nodes()] == ["b"]
    assert_consistent(graph)
    one = bytes(graph)
    removed.undo()
    assert bytes(graph) == both
    removed.redo()
    assert bytes(graph) == one
    removed.undo()
    added.undo()
    assert bytes(graph) == end.encode()


INPUT = """input: "data"
input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" }
layer { name: "loose" type: "ReLU" bottom: "?" top: "loose" }
"""


@pytest.mark.parametrize("verb", ["add", "move"])
def test_behind_the_inputs_of_the_net_is_before_all_layers(verb):
    graph = OpGraph.parse(INPUT.encode())
    inputs = graph.node_ids()[0]
    assert graph.node(inputs).virtual
    if verb == "add":
        graph.add_node("ReLU", name="new", bottoms=["data"], tops=["data"], after=inputs)
        assert names(graph)[1:] == ["new", "conv", "loose"]
    else:
        graph.move_node(node(graph, "loose"), after=inputs)
        assert names(graph)[1:] == ["loose", "conv"]
    assert_consistent(graph)
