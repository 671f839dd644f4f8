"""Editing fields: as little as possible, in the file's style, and back again."""

from __future__ import annotations

import difflib

import pytest

from engine.errors import CheckError, GraphError
from engine.graph import OpGraph
from tests.engine.graph.nets import LENET, assert_consistent, layer, node, state
from tests.support import SHARED, shared_files

FILES = [path for path in shared_files("corpus/prototxt/**/*.prototxt") if "solver" not in path.name]

COMMENTED = """\
# My net, tuned by hand.

name: "net"  # do not rename

# input ------------------
layer {
  name: "data"   # the data
  type: "Input"
  top: "data"
  input_param { shape: { dim: 1 dim: 3 } }  # small
}

# conv -------------------
# was 32 before
layer {
  # first the name
  name: "conv"
  type: 'Convolution'
  bottom: "data"; top: "conv"
  convolution_param {
    num_output: 64   # 32 is too few
    # odd sizes only
    kernel_size: 3

    weight_filler { type: "msra" } # He et al.
  }
  # the end of conv
}
# tail of file
# (end)
"""


def changed_lines(before: str, after: str) -> int:
    """Number of lines removed or added."""
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in diff)


def test_one_number_changes_one_line_of_a_commented_file():
    """B22."""
    assert len(COMMENTED.splitlines()) == 30
    graph = OpGraph.parse(COMMENTED)
    with graph.change() as change:
        graph.set_field(node(graph, "conv"), ("convolution_param", "num_output"), "96")
    assert graph.text == COMMENTED.replace("64 ", "96 ")
    change.undo()
    assert graph.text == COMMENTED


@pytest.mark.skipif(not FILES, reason="reference files are not beside this checkout")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SHARED / "corpus/prototxt")))
def test_one_number_changes_one_line_of_a_public_file(path):
    """B22."""
    data = path.read_bytes()
    graph = OpGraph.parse(data)
    paths = [("convolution_param", "num_output"), ("inner_product_param", "num_output"), ("data_param", "batch_size")]
    found = [(n.id, p) for n in graph.nodes() for p in paths if not n.virtual and graph.value(n.id, p)]
    if not found:
        pytest.skip("no number to change")
    before = graph.text
    with graph.change() as change:
        graph.set_field(*found[len(found) // 2], "12345")
    assert changed_lines(before, graph.text) == 2
    change.undo()
    assert bytes(graph) == data


def test_the_test_phases_batch_size_is_changed_alone():
    """B12."""
    graph = OpGraph.parse(LENET)
    graph.set_field(node(graph, "mnist", 1), ("data_param", "batch_size"), "50")
    assert graph.text == LENET.replace("batch_size: 100", "batch_size: 50")


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        (("convolution_param", "stride"), "2", "kernel_size: 5\n", "kernel_size: 5\n    stride: 2\n"),
        (("convolution_param", "kernel_size"), "[3, 5]", "kernel_size: 5", "kernel_size: [3, 5]"),
        (("convolution_param", "kernel_size", 0), "3", "kernel_size: 5", "kernel_size: 3"),
        (("bottom", 0), '"x"', 'type: "Convolution"\n  bottom: "data"', 'type: "Convolution"\n  bottom: "x"'),
        (
            ("convolution_param", "weight_filler", "type"),
            '"xavier"',
            "kernel_size: 5\n",
            'kernel_size: 5\n    weight_filler {\n      type: "xavier"\n    }\n',
        ),
        (
            ("param", 1, "lr_mult"),
            "2",
            "kernel_size: 5\n  }\n",
            "kernel_size: 5\n  }\n  param {}\n  param {\n    lr_mult: 2\n  }\n",
        ),
        (
            ("convolution_param",),
            "{ num_output: 7 }",
            "convolution_param {\n    num_output: 20 # maps\n    kernel_size: 5\n  }",
            "convolution_param {\n    num_output: 7\n  }",
        ),
    ],
)
def test_set_field_writes_in_place_and_undo_restores(path, text, old, new):
    graph = OpGraph.parse(LENET)
    before = state(graph)
    with graph.change() as change:
        graph.set_field(node(graph, "conv1"), path, text)
    assert graph.text == LENET.replace(old, new)
    assert graph.value(node(graph, "conv1"), path) is not None
    assert_consistent(graph)
    change.undo()
    assert state(graph) == before
    change.redo()
    assert graph.text == LENET.replace(old, new)


def test_lists_are_edited_as_lists():
    text = layer("a", "", "x", more="p { d: [1, 2, 3] }")
    graph = OpGraph.parse(text)
    a = node(graph, "a")
    graph.set_field(a, ("p", "d", 1), "20")
    graph.append_field(a, ("p", "d"), "4")
    graph.insert_field(a, ("p", "d", 0), "0")
    assert "d: [0, 1, 20, 3, 4]" in graph.text
    graph.clear_field(a, ("p", "d", 4))
    graph.clear_field(a, ("p", "d", 0))
    assert "d: [1, 20, 3]" in graph.text
    graph.move_field(a, ("p", "d", 2), 0)
    assert "d: [3, 1, 20]" in graph.text
    graph.clear_field(a, ("p", "d"))
    assert "p { }" in graph.text
    assert_consistent(graph)


def test_repeated_fields_are_added_beside_their_like():
    graph = OpGraph.parse(LENET)
    conv = node(graph, "conv1")
    graph.append_field(conv, ("bottom",), '"more"')
    graph.append_field(conv, ("param",), "{ lr_mult: 1 }")
    assert 'bottom: "data"\n  bottom: "more"\n  top: "conv1"' in graph.text
    assert graph.node(conv).bottoms == ("data", "more")
    assert_consistent(graph)


def test_clearing_takes_along_what_setting_created_and_nothing_else():
    graph = OpGraph.parse(LENET)
    relu = node(graph, "relu1")
    graph.set_field(relu, ("relu_param", "negative_slope"), "0.1")
    assert "relu_param {\n    negative_slope: 0.1\n  }" in graph.text
    graph.clear_field(relu, ("relu_param", "negative_slope"))
    assert graph.text == LENET
    graph.clear_field(node(graph, "mnist"), ("data_param", "batch_size"))
    assert "data_param { }" in graph.text
    graph.clear_field(relu, ("nothing",))


def test_the_nets_own_fields_are_edited_without_a_node():
    graph = OpGraph.parse("layer { name: 'a' }\n")
    graph.set_string(None, ("name",), "my net")
    assert graph.net_name == "my net"
    graph.set_field(None, ("force_backward",), "true")
    assert graph.text.endswith("}\nforce_backward: true\n")
    assert_consistent(graph)


@pytest.mark.parametrize("value", ['{"a": 1}', "it's", "line\nbreak", "é"])
def test_param_str_is_quoted_as_needed(value):
    graph = OpGraph.parse(layer("p", "", "x", kind="Python", more="python_param { module: 'm' }"))
    graph.set_param_str(node(graph, "p"), value)
    assert graph.field(node(graph, "p"), ("python_param", "param_str")).as_str() == value
    assert not graph.problems
    assert_consistent(graph)


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        (("n",), "1 2", "one value"),
        (("n",), '"open', "one value"),
        (("name", "deeper"), "1", "'name' holds"),
        (("param", 500), "1", "no place 500"),
        (("param", 2), "{ }", "no place 2"),
        ((0,), "1", "field name"),
        ((), "1", "field name"),
    ],
)
def test_what_cannot_be_set_is_refused_and_leaves_no_trace(path, text, words):
    graph = OpGraph.parse(LENET)
    before = state(graph)
    with pytest.raises(GraphError, match=words):
        graph.set_field(node(graph, "conv1"), path, text)
    assert state(graph) == before


def test_check_set_field_speaks_for_set_field():
    graph = OpGraph.parse(LENET)
    graph.check_set_field(node(graph, "conv1"), ("convolution_param", "pad"), "1")
    with pytest.raises(CheckError, match="'pad'"):
        graph.check_set_field(node(graph, "conv1"), ("convolution_param", "pad"), "1 1")


def test_a_message_written_in_pieces_is_edited_where_the_value_stands():
    graph = OpGraph.parse(layer("a", "", "x", more="p { u: 1 } p { v: 2 }"))
    a = node(graph, "a")
    graph.set_field(a, ("p", "u"), "10")
    graph.set_field(a, ("p", "w"), "3")
    assert "p { u: 10 } p { v: 2 w: 3 }" in graph.text


def test_the_oldest_format_keeps_its_inner_layer():
    graph = OpGraph.parse('layers {\n  layer {\n    name: "c"\n    type: "conv"\n  }\n  bottom: "d"\n  top: "c"\n}\n')
    (only,) = graph.nodes()
    graph.set_field(only.id, ("layer", "num_output"), "7")
    graph.rename_node(only.id, "d")
    assert '    type: "conv"\n    num_output: 7\n  }' in graph.text
    assert graph.node(only.id).name == "d"


REMARKS = """layer { # head
  name: "a" type: "X"
  # above
  convolution_param {  # opened
    # inner
    pad: 1  # beside pad
    stride: 2, # beside stride
    dilation: 1 group: 3 # mixed

    kernel_size: [1, # one
      2] # two
  } # closed
  bottom: "z" # zed
}
"""
PARAM = "convolution_param"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ((PARAM, "pad"), "    pad: 1  # beside pad\n", "    # beside pad\n"),
        ((PARAM, "stride"), "    stride: 2, # beside stride\n", "    # beside stride\n"),
        ((PARAM, "dilation"), "dilation: 1 group", "group"),
        ((PARAM, "group"), " group: 3 # mixed", "  # mixed"),
        ((PARAM, "kernel_size"), "\n    kernel_size: [1, # one\n      2] # two\n", "    # one\n    # two\n"),
        ((PARAM, "kernel_size", 0), "[1, # one", "[  # one"),
        ((PARAM, "kernel_size", 1), "[1, # one\n      2]", "[1  # one\n]"),
        (("bottom",), '  bottom: "z" # zed', "  # zed"),
        (("name",), 'name: "a" type', "type"),
        (("type",), '"a" type: "X"', '"a"'),
    ],
)
def test_comments_of_a_cleared_field_stay(path, before, after):
    graph = OpGraph.parse(REMARKS)
    node = graph.nodes()[0].id
    with graph.change():
        graph.clear_field(node, path)
    expected = REMARKS.replace(before, after, 1)
    assert expected != REMARKS
    assert graph.text == expected
    assert_consistent(graph)


def test_all_comments_of_a_cleared_message_stay():
    graph = OpGraph.parse(REMARKS)
    with graph.change() as made:
        graph.clear_field(graph.nodes()[0].id, (PARAM,))
    lines = [line.strip() for line in graph.text.splitlines() if line.strip().startswith("#")]
    said = ["above", "opened", "inner", "beside pad", "beside stride", "mixed", "one", "two", "closed"]
    assert lines == [f"# {each}" for each in said]
    assert_consistent(graph)
    made.undo()
    assert graph.text == REMARKS


def test_comments_before_a_blank_line_belong_to_no_field():
    graph = OpGraph.parse('layer {\n  name: "a" # first\n\n  type: "X"\n}\n')
    with graph.change():
        graph.clear_field(graph.nodes()[0].id, ("name",))
    assert graph.text == 'layer {\n  # first\n\n  type: "X"\n}\n'
    assert_consistent(graph)
