"""Merging what two programs made of one file."""

from __future__ import annotations

import random

import pytest

from engine.graph import OpGraph
from engine.graph.merging import merge
from engine.resources import resource_path

BASE = """# About this net.
name: "n"

# The first.
layer { name: "a" type: "Input" top: "a" input_param { shape { dim: 1 dim: 4 } } }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 2 } }
layer { name: "c" type: "ReLU" bottom: "b" top: "c" }  # same line
layer { name: "d" type: "Softmax" bottom: "c" top: "d" }
# The end.
"""
A = next(line for line in BASE.splitlines(True) if '"a" type' in line)
B = next(line for line in BASE.splitlines(True) if '"b" type' in line)
C = next(line for line in BASE.splitlines(True) if '"c" type' in line)
D = next(line for line in BASE.splitlines(True) if '"d" type' in line)
NEW = 'layer { name: "e" type: "TanH" bottom: "b" top: "e" }\n'
NEW2 = 'layer { name: "f" type: "Sigmoid" bottom: "b" top: "f" }\n'


def merged(mine: str, theirs: str, prefer="mine") -> tuple[str, list[str]]:
    result = merge(*(OpGraph.parse(text.encode()) for text in (BASE, mine, theirs)), prefer=prefer)
    return result.text.decode(), [each.what for each in result.conflicts]


def change(*pairs: tuple[str, str]) -> str:
    text = BASE
    for old, new in pairs:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


WIDER = ("num_output: 2", "num_output: 3")
CASES = {
    "fields of two layers": ([WIDER], [("dim: 4", "dim: 5")], [WIDER, ("dim: 4", "dim: 5")]),
    "a field and a comment": ([WIDER], [("# The first.", "# Numbers.")], [WIDER, ("# The first.", "# Numbers.")]),
    "the net's name and a layer": ([('"n"', '"m"')], [WIDER], [('"n"', '"m"'), WIDER]),
    "an added and a changed layer": ([(C, C + NEW)], [WIDER], [WIDER, (C, C + NEW)]),
    "layers added at two places": ([(B, B + NEW)], [(D, D + NEW2)], [(B, B + NEW), (D, D + NEW2)]),
    "a removed and a changed layer": ([(D, "")], [WIDER], [(D, ""), WIDER]),
    "the same change": ([WIDER], [WIDER], [WIDER]),
    "the same layer added": ([(C, C + NEW)], [(C, C + NEW)], [(C, C + NEW)]),
    "the same layer removed": ([(D, "")], [(D, "")], [(D, "")]),
    "nothing here": ([], [WIDER], [WIDER]),
    "a layer spelt anew and changed": (
        [('name: "c" type: "ReLU"', 'name: "c"   type: "ReLU"')],
        [('type: "ReLU"', 'type: "TanH"')],
        [('type: "ReLU"', 'type: "TanH"')],
    ),
    "an order and a field": ([(C, ""), (D, D + C)], [WIDER], [(C, ""), (D, D + C), WIDER]),
    "a renamed layer and another field": (
        [('name: "d"', 'name: "prob"')],
        [WIDER],
        [('name: "d"', 'name: "prob"'), WIDER],
    ),
    "the end of the file": ([("# The end.", "# That is all.")], [WIDER], [("# The end.", "# That is all."), WIDER]),
}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_edits_that_do_not_overlap_are_all_there(case, swapped):
    mine, theirs, both = (change(*pairs) for pairs in CASES[case])
    if swapped:
        mine, theirs = theirs, mine
    assert merged(mine, theirs) == (both, [])


CONFLICTS = {
    "a field": ([WIDER], [("num_output: 2", "num_output: 4")], "layer 'b'"),
    "changed and removed": ([("num_output: 2", "num_output: 3")], [(B, "")], "layer 'b'"),
    "added under one name": ([(C, C + NEW)], [(C, C + NEW.replace("TanH", "ELU"))], "layer 'e'"),
    "the net's name": ([('"n"', '"m"')], [('"n"', '"o"')], "the net's own fields"),
}


@pytest.mark.parametrize("prefer", ["mine", "theirs"])
@pytest.mark.parametrize("case", CONFLICTS)
def test_what_overlaps_is_named_and_the_preferred_side_holds(case, prefer):
    mine, theirs, what = CONFLICTS[case]
    texts = {"mine": change(*mine), "theirs": change(*theirs)}
    text, conflicts = merged(texts["mine"], texts["theirs"], prefer)
    assert conflicts == [what]
    assert text == texts[prefer]


def test_a_conflict_tells_what_both_sides_did():
    result = merge(
        *(OpGraph.parse(text.encode()) for text in (BASE, change(WIDER), change(("num_output: 2", "num_output: 4"))))
    )
    assert "inner_product_param.num_output" in str(result.conflicts[0])
    removed = merge(
        *(OpGraph.parse(text.encode()) for text in (BASE, change((D, "")), change(('"Softmax"', '"TanH"'))))
    )
    assert "here: removed" in str(removed.conflicts[0])


@pytest.mark.parametrize("seed", range(8))
def test_random_edits_of_different_layers_of_lenet_merge(seed):
    """Each side edits layers that the other leaves alone; the result is what one would have made who did both."""
    rng = random.Random(seed)
    base = resource_path("examples/lenet/lenet_train_test.prototxt").read_bytes()
    ids = [node.id for node in OpGraph.parse(base).nodes()]
    rng.shuffle(ids)
    ordinals = {node.id: place for place, node in enumerate(OpGraph.parse(base).nodes())}
    halves = ids[: len(ids) // 2], ids[len(ids) // 2 :]

    def edited(*chosen: list) -> OpGraph:
        graph = OpGraph.parse(base)
        nodes = graph.nodes()
        with graph.change("edit"):
            for each in sorted((ordinals[node] for half in chosen for node in half), reverse=True):
                graph.set_field(nodes[each].id, ("loss_weight",), str(each + 1))
        return graph

    both = merge(OpGraph.parse(base), edited(halves[0]), edited(halves[1]))
    assert both.conflicts == ()
    assert both.text == bytes(edited(*halves))
