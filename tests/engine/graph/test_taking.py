"""One layer of a document is taken over from another."""

from __future__ import annotations

import pytest

from engine.errors import GraphError
from engine.graph import OpGraph
from engine.graph.comparing import compare
from engine.graph.taking import take_over
from tests.app.compare.nets import NEW, OLD


def taken(mine: bytes, theirs: bytes, name: str) -> bytes:
    here, there = OpGraph.parse(mine), OpGraph.parse(theirs)
    found = compare(there, here)
    pair = next((pair for pair in found.pairs if name in (pair[0].name, pair[1].name)), None)
    if pair is not None:
        return take_over(here, there, found.pairs, *pair)
    theirs_alone = next((node for node in found.removed if node.name == name), None)
    mine_alone = next((node for node in found.added if node.name == name), None)
    return take_over(here, there, found.pairs, theirs_alone, mine_alone)


def names(data: bytes) -> list[str]:
    return [node.name for node in OpGraph.parse(data).nodes()]


def test_a_changed_layer_becomes_theirs_and_nothing_else_changes():
    assert taken(NEW, OLD, "conv1") == NEW.replace(b"num_output: 8", b"num_output: 4")


def test_a_layer_that_only_they_have_comes_behind_what_it_stands_behind_there():
    assert names(taken(NEW, OLD, "drop")) == ["data", "conv1", "relu1", "norm", "pool1", "drop", "ip", "softmax"]


def test_a_layer_that_they_do_not_have_goes():
    left = taken(NEW, OLD, "norm")
    assert "norm" not in names(left)
    assert left == b"".join(line for line in NEW.splitlines(keepends=True) if b'name: "norm"' not in line)


def test_a_renamed_layer_gets_its_name_back():
    assert names(taken(NEW, OLD, "prob"))[-1] == "prob"


@pytest.mark.parametrize(
    "theirs",
    [
        b'layers { name: "a" type: RELU bottom: "x" top: "y" }\n',
        b'input: "data" input_dim: 1 input_dim: 1 input_dim: 2 input_dim: 2\n',
    ],
)
def test_what_is_written_in_another_way_is_refused_with_the_next_step(theirs):
    mine = b'layer { name: "z" type: "ReLU" bottom: "x" top: "y" }\n'
    here, there = OpGraph.parse(mine), OpGraph.parse(theirs)
    with pytest.raises(GraphError) as refused:
        take_over(here, there, [], there.nodes()[0], None)
    assert "netcanvas upgrade" in refused.value.next_step
