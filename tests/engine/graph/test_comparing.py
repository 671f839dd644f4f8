"""What two nets differ in."""

from __future__ import annotations

import pytest

from engine.graph import OpGraph, upgraded_text
from engine.graph.comparing import compare
from tests.engine.graph.nets import CHAIN, LENET, layer


def difference(old: str, new: str):
    return compare(OpGraph.parse(old), OpGraph.parse(new))


def changes(old: str, new: str):
    return [
        (node.name, each.field, each.old, each.new)
        for _, node, fields in difference(old, new).changed
        for each in fields
    ]


@pytest.mark.parametrize(
    "text",
    [LENET, CHAIN, "", 'layer { type: "ReLU" bottom: "a" top: "b" }\n' * 2, "input: 'x' input_dim: [1, 2, 3, 4]"],
)
def test_spelling_and_comments_do_not_count(text):
    assert not difference(text, text)
    assert not difference(text, "# new\n" + text.replace('"', "'").replace("0.01", "1e-2"))


@pytest.mark.parametrize(
    "text",
    [
        "layers { name: 'a' type: RELU bottom: 'x' top: 'x' blobs_lr: 2 }",
        "layers { layer { name: 'p' type: 'padding' pad: 2 } bottom: 'x' top: 'p' }\n"
        "layers { layer { name: 'c' type: 'conv' kernelsize: 3 } bottom: 'p' top: 'c' }",
        "input: 'x'\ninput_dim: [1, 2, 3, 4]\nlayer { name: 'r' type: 'ReLU' bottom: 'x' top: 'x' }",
    ],
    ids=["V1", "V0", "inputs"],
)
def test_formats_do_not_count(text):
    """B6, B7, B8."""
    old = OpGraph.parse(text)
    assert old.text != upgraded_text(old)
    assert not compare(old, OpGraph.parse(upgraded_text(old)))


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("num_output: 20", "num_output: 5", ("conv1", "convolution_param.num_output", "20", "5")),
        ("num_output: 20", "num_output: 20 bias_term: false", ("conv1", "convolution_param.bias_term", "", "false")),
        ("num_output: 20", "num_output: 20 fancy: 1", ("conv1", "convolution_param.fancy#1", "", "1")),
        ('type: "ReLU"', 'type: "TanH"', ("relu1", "type", "ReLU", "TanH")),
    ],
)
def test_changed_fields_are_told_with_both_values(before, after, change):
    assert before in LENET
    assert change in changes(LENET, LENET.replace(before, after, 1))


def test_layers_come_and_go():
    more = LENET + layer("extra", "ip1", "e")
    assert [node.name for node in difference(LENET, more).added] == ["extra"]
    assert [node.name for node in difference(more, LENET).removed] == ["extra"]


def test_a_renamed_layer_is_one_layer_even_with_its_blob():
    old = layer("d", "", "x") + layer("a", "x", "y") + layer("b", "y", "z")
    new = layer("d", "", "x") + layer("q", "x", "w") + layer("r", "w", "z")
    found = difference(old, new)
    assert [(one.name, two.name) for one, two in found.renamed] == [("a", "q"), ("b", "r")]
    assert not found.added and not found.removed and not found.changed


def test_another_order_is_told():
    lines = [layer("d", "", "x"), layer("a", "x", "x"), layer("b", "x", "x"), layer("c", "x", "x")]
    found = difference("".join(lines), "".join([lines[0], lines[3], lines[1], lines[2]]))
    assert [node.name for node in found.moved] == ["c"] and not found.changed


def test_two_layers_of_one_name_are_told_apart_by_phase():
    """B12."""
    train, test = (layer("d", "", "x", more=f"include {{ phase: {phase} }}") for phase in ("TRAIN", "TEST"))
    found = difference(train + test, test + train)
    assert not found.changed and len(found.moved) == 1


def test_fields_of_the_net():
    (change,) = difference(
        "name: 'a'\n" + LENET.partition("\n")[2], "name: 'b'\n" + LENET.partition("\n")[2]
    ).net_fields
    assert (change.field, change.old, change.new) == ("name", "a", "b")


def test_a_layer_that_is_renamed_and_changed_is_still_one_layer():
    old = (
        layer("d", "", "x", "Input") + layer("c", "x", "c", "Power", "power_param { scale: 2 }") + layer("r", "c", "y")
    )
    new = old.replace('"c"', '"first"').replace("scale: 2", "scale: 3")
    found = compare(OpGraph.parse(old), OpGraph.parse(new))
    assert [(a.name, b.name) for a, b in found.renamed] == [("c", "first")]
    assert not found.added and not found.removed
    told = [
        (node.name, change.field, change.old, change.new) for _, node, changes in found.changed for change in changes
    ]
    assert told[0] == ("first", "power_param.scale", "2", "3")


def test_of_several_that_may_have_taken_its_place_none_is_chosen():
    old = layer("d", "", "x", "Input") + layer("c", "x", "c", "Power", "power_param { scale: 2 }")
    new = layer("d", "", "x", "Input") + "".join(
        layer(name, "x", name, "Power", f"power_param {{ scale: {scale} }}") for name, scale in (("a", 3), ("b", 4))
    )
    found = compare(OpGraph.parse(old), OpGraph.parse(new))
    assert not found.renamed and len(found.added) == 2 and len(found.removed) == 1
