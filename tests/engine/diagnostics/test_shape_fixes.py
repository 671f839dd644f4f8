"""Every fix that is offered for shapes mends them: held against the layers' own shapes, undone, and done again."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from engine.diagnostics import Diagnostic, diagnose
from engine.graph import OpGraph
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.registry import default_registry
from engine.shapes import NodeShapes, ShapeService
from tests.engine.diagnostics.support import layer, source
from tests.engine.graph.nets import assert_consistent

REGISTRY = default_registry()
SERVICE = ShapeService(registry=REGISTRY)


def conv(fields: str) -> str:
    return layer("Convolution", f"convolution_param {{ num_output: 4 {fields} }}")


def pool(fields: str) -> str:
    return layer("Pooling", f"pooling_param {{ {fields} }}")


@dataclass(frozen=True)
class Case:
    """A net whose layer ``it`` refuses its shapes; the labels of the fixes, with the shape of its top after each."""

    net: str
    fixes: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)


IMAGE = source((2, 3, 5, 4))
SMALL = source((2, 3, 5, 5))
RESIDUAL = (
    source((2, 8, 6, 6))
    + layer("Convolution", "convolution_param { num_output: 16 kernel_size: 1 }", "x", "a", "left")
    + layer("Convolution", "convolution_param { num_output: 32 kernel_size: 1 }", "x", "b", "right")
    + layer("ReLU", "", "b", "b", "relu")
)
INCEPTION = (
    source((2, 3, 8, 8))
    + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 1 }", "x", "a", "aa")
    + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }", "x", "b", "bb")
    + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 1 }", "x", "c", "cc")
)
SKIP = source((2, 8, 12, 10), (2, 4, 8, 6))
CASES = {
    "a kernel too large for one axis": Case(
        IMAGE + conv("kernel_size: 5"),
        [("Make the kernel 4, the largest that fits", (2, 4, 2, 1)), ("Pad by 1, so that", (2, 4, 3, 2))],
    ),
    "a kernel with two sizes": Case(
        IMAGE + conv("kernel_h: 2 kernel_w: 7"),
        [("Make the kernel 2 x 4, the largest", (2, 4, 4, 1)), ("Pad by 2, so that", (2, 4, 8, 2))],
    ),
    "sizes as a list": Case(
        IMAGE + conv("kernel_size: [7, 2] pad: [0, 0]"),
        [("Make the kernel 5 x 2, the largest", (2, 4, 1, 3)), ("Pad by 1 x 0, so that", (2, 4, 1, 3))],
    ),
    "a dilated kernel": Case(
        SMALL + conv("kernel_size: 3 dilation: 3"),
        [("Make the kernel 2, the largest", (2, 4, 2, 2)), ("Pad by 1, so that", (2, 4, 1, 1))],
    ),
    "a new convolution": Case(
        IMAGE + layer("Convolution"), [("Make num_output 3", ()), ("Make the kernel 3, and pad by 1", ())]
    ),
    "a group that divides nothing": Case(
        IMAGE + conv("kernel_size: 1 group: 3"),
        [("Make num_output 6, a multiple of group 3", (2, 6, 5, 4)), ("Make group 1, which divides", (2, 4, 5, 4))],
    ),
    "padding that leaves nothing": Case(
        source((1, 2, 2, 2)) + layer("Deconvolution", "convolution_param { num_output: 3 kernel_size: 3 pad: 5 }"),
        [("Pad by 1, the most that leaves", (1, 3, 2, 2))],
    ),
    "a pooling window too large": Case(
        SMALL + pool("pool: MAX kernel_size: 9 stride: 2"),
        [
            ("Make the kernel 5, the largest", (2, 3, 1, 1)),
            ("Pool over the whole input", (2, 3, 1, 1)),
            ("Pad by 2, so that", (2, 3, 1, 1)),
        ],
    ),
    "a new pooling": Case(
        source((2, 3, 8, 8)) + pool(""),
        [("Make the kernel 2 and the stride 2", (2, 3, 4, 4)), ("Pool over the whole input", (2, 3, 1, 1))],
    ),
    "a sum of other channels": Case(
        RESIDUAL + layer("Eltwise", "", "a b"),
        [("Give 'right' 16 outputs", (2, 16, 6, 6)), ("Give 'left' 32 outputs", (2, 32, 6, 6))],
    ),
    "a branch that is not padded": Case(
        INCEPTION.replace("pad: 1", "") + layer("Concat", "", "a b c"),
        [
            ("Make the pad of 'bb' 1 in place of 0, so that all are 8 x 8", (2, 12, 8, 8)),
            ("Make the kernel of 'bb' 1 in place of 3", (2, 12, 8, 8)),
        ],
    ),
    "a pooling that rounds up beside a convolution that rounds down": Case(
        source((2, 3, 8, 8))
        + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 3 stride: 2 }", "x", "a", "left")
        + layer("ReLU", "", "a", "a", "relu")
        + layer("Pooling", "pooling_param { kernel_size: 3 stride: 2 }", "x", "b", "right")
        + layer("Concat", "", "a b"),
        [
            ("Make the pad of 'left' 1 in place of 0, so that all are 4 x 4", (2, 7, 4, 4)),
            ("Have 'right' round its size down, so that all are 3 x 3", (2, 7, 3, 3)),
            ("Make the kernel of 'left' 2 in place of 3", (2, 7, 4, 4)),
            ("Crop 'b' to the size of 'a'", (2, 7, 3, 3)),
        ],
    ),
    "a shortcut that does not stride": Case(
        source((2, 3, 9, 8))
        + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 3 stride: 2 pad: 1 }", "x", "a", "left")
        + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 1 }", "x", "b", "short")
        + layer("BatchNorm", "", "b", "b", "norm")
        + layer("Eltwise", "", "a b"),
        [
            ("Make the stride of 'left' 1 in place of 2, so that all are 9 x 8", (2, 4, 9, 8)),
            ("Make the stride of 'short' 2 in place of 1, so that all are 5 x 4", (2, 4, 5, 4)),
            ("Crop 'b' to the size of 'a'", (2, 4, 5, 4)),
        ],
    ),
    "a branch that is larger than the others": Case(
        source((2, 3, 9, 9), (2, 4, 8, 8), (2, 5, 8, 8)) + layer("Concat", "", "x xb xc"),
        [("Crop 'x' to the size of 'xb'", (2, 12, 8, 8))],
    ),
    "one of three sums of other channels": Case(
        source((2, 8, 6, 6), (2, 16, 6, 6))
        + layer("Convolution", "convolution_param { num_output: 8 kernel_size: 1 }", "x", "a", "odd")
        + layer("Convolution", "convolution_param { num_output: 16 kernel_size: 1 }", "x", "b", "even")
        + layer("Eltwise", "", "a b xb"),
        [("Give 'odd' 16 outputs", (2, 16, 6, 6))],
    ),
    "a wrong number two layers up": Case(
        source((2, 4, 8, 8), (2, 4, 8, 8))
        + layer("Convolution", "convolution_param { num_output: 4 kernel_h: 5 kernel_w: 5 }", "xb", "b", "far")
        + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }", "b", "c", "near")
        + layer("Eltwise", "", "x c"),
        [
            ("Make the pad of 'far' 2 in place of 0", (2, 4, 8, 8)),
            ("Make the kernel of 'far' 1 in place of 5", (2, 4, 8, 8)),
            ("Crop 'x' to the size of 'c'", (2, 4, 4, 4)),
        ],
    ),
    "a join of other sizes": Case(
        SKIP + layer("Concat", "", "x xb"), [("Crop 'x' to the size of 'xb'", (2, 12, 8, 6))]
    ),
    "a sum of other sizes": Case(
        source((2, 4, 8, 6), (2, 4, 12, 11)) + layer("Eltwise", "", "x xb"),
        [("Crop 'xb' to the size of 'x'", (2, 4, 8, 6))],
    ),
    "a join along the wrong axis": Case(
        source((2, 4, 3), (2, 4, 5)) + layer("Concat", "", "x xb"), [("Join along axis 2", (2, 4, 8))]
    ),
    "a product from an axis that is not there": Case(
        source((7,)) + layer("InnerProduct", "inner_product_param { num_output: 4 }"),
        [("Multiply from axis 0 on", (4,))],
    ),
    "a new product": Case(source((2, 7)) + layer("InnerProduct"), [("Make num_output 10", (2, 10))]),
    "a shape of another size": Case(
        source((2, 12)) + layer("Reshape", "reshape_param { shape { dim: 0 dim: 4 dim: 5 } }"),
        [("Have size 2 follow from the rest: 3 in place of 5", (2, 4, 3))],
    ),
    "parts that do not fill": Case(source((2, 10)) + layer("Slice", "", "x", "y z w"), [("Slice at 3, 7", (2, 3))]),
    "slice points too far": Case(
        source((2, 9)) + layer("Slice", "slice_param { slice_point: 4 slice_point: 12 }", "x", "y z w"),
        [("Slice into 3 parts of 3", (2, 3))],
    ),
}
NONE = {
    "a misspelt number": SMALL + layer("Convolution", "convolution_param { num_outputs: 4 kernel_size: 1 }"),
    "a misspelt window": SMALL + layer("Convolution", "convolution_param { num_output: 4 kernel_sizes: 1 }"),
    "pixels of two kinds": source((2, 4, 8, 6), (2, 4, 6, 8)) + layer("Eltwise", "", "x xb"),
    "a branch that is smaller than the others": source((2, 3, 8, 8), (2, 4, 6, 6), (2, 5, 8, 8))
    + layer("Concat", "", "x xb xc"),
    "channels of data": source((2, 4, 8, 6), (2, 3, 8, 6)) + layer("Eltwise", "", "x xb"),
    "branches of which two are wrong": INCEPTION.replace("kernel_size: 1", "kernel_size: 5", 1).replace(
        "kernel_size: 1", "kernel_size: 6", 1
    )
    + layer("Concat", "include { phase: TRAIN }", "a b c"),
    "a wrong number that others depend on": source((2, 4, 8, 8), (2, 4, 8, 8))
    + layer("Convolution", "convolution_param { num_output: 4 kernel_size: 5 }", "xb", "b", "far")
    + layer("Silence", "", "b", "", "reader")
    + layer("Eltwise", "include { phase: TRAIN }", "x b"),
    "axes of two numbers": source((2, 4), (2, 4, 1)) + layer("Eltwise", "", "x xb"),
}


def shapes_of(graph: OpGraph) -> dict[object, NodeShapes]:
    return dict(SERVICE.infer(graph_layers(graph), Phase.TRAIN))


def told(graph: OpGraph) -> list[Diagnostic]:
    return diagnose(graph, registry=REGISTRY, shapes=shapes_of(graph))


def told_of(graph: OpGraph) -> list[Diagnostic]:
    node = graph.named("it")[0].id
    return [each for each in told(graph) if each.node == node and each.severity == "error"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_fix_that_is_offered_mends_the_shapes_and_can_be_undone(case: Case) -> None:
    graph = OpGraph.parse(case.net)
    (told,) = told_of(graph)
    assert told.code == "shape" and told.severity == "error"
    assert len(told.fixes) == len(case.fixes), [fix.label for fix in told.fixes]
    before = bytes(graph)
    for fix, (label, expected) in zip(told.fixes, case.fixes, strict=True):
        assert fix.label.startswith(label), fix.label
        with graph.change(fix.label) as change:
            fix.apply(graph)
        after = bytes(graph)
        assert after != before and not graph.problems
        assert_consistent(graph)
        shapes = shapes_of(graph)[graph.named("it")[0].id]
        if expected:
            assert shapes.error is None and shapes.tops[0] == expected, shapes
        change.undo()
        assert bytes(graph) == before
        change.redo()
        assert bytes(graph) == after
        change.undo()


def test_a_new_convolution_is_whole_after_both_fixes() -> None:
    graph = OpGraph.parse(IMAGE + layer("Convolution"))
    for _step in range(2):
        (told,) = told_of(graph)
        with graph.change("fix"):
            told.fixes[0].apply(graph)
    assert shapes_of(graph)[graph.named("it")[0].id].tops == ((2, 3, 5, 4),)


def test_a_stochastic_window_is_not_padded() -> None:
    (told,) = told_of(OpGraph.parse(SMALL + pool("pool: STOCHASTIC kernel_size: 9")))
    assert not any(fix.label.startswith("Pad") for fix in told.fixes) and len(told.fixes) == 2


@pytest.mark.parametrize("net", NONE.values(), ids=NONE)
def test_where_nothing_sensible_helps_nothing_is_offered(net: str) -> None:
    (told,) = told_of(OpGraph.parse(net))
    assert told.code == "shape" and told.fixes == ()


def test_a_layer_of_one_phase_only_is_not_given_a_crop_that_both_have() -> None:
    net = SKIP + layer("Concat", "include { phase: TRAIN }", "x xb")
    (told,) = told_of(OpGraph.parse(net))
    assert told.fixes == ()


@pytest.mark.parametrize(
    ("net", "label", "bottoms"),
    [
        (source((2, 3), (2,)) + layer("SoftmaxWithLoss"), "Read 'xb'", ("x", "xb")),
        (
            source((2,), name="label") + source((2, 3)) + source((2, 3), name="other") + layer("Accuracy"),
            "Read 'label'",
            ("x", "label"),
        ),
        (source((2, 3), (2, 3)) + layer("Eltwise", "", ""), "Read 'xb' and 'x'", ("xb", "x")),
        (layer("ReLU", "", "", "y") + source((2, 3)), "", ()),
    ],
)
def test_missing_bottoms_read_what_is_called_like_the_port_or_else_what_nobody_reads(
    net: str, label: str, bottoms: tuple[str, ...]
) -> None:
    graph = OpGraph.parse(net)
    told = next(each for each in told_of(graph) if each.code == "bottoms-count")
    if not label:
        assert told.fix is None
        return
    assert told.fix is not None and told.fix.label == label
    before = bytes(graph)
    with graph.change(label) as change:
        told.fix.apply(graph)
    assert graph.named("it")[0].bottoms == bottoms
    assert_consistent(graph)
    assert not [each for each in told_of(graph) if each.code == "bottoms-count"]
    change.undo()
    assert bytes(graph) == before


def random_join(rng: random.Random) -> str:
    """A net with branches of random windows that a Concat or an Eltwise joins."""
    net, ends = source((1, 4, rng.randint(6, 20), rng.randint(6, 20))), []
    for branch in range(rng.randint(2, 4)):
        blob = "x"
        for depth in range(rng.randint(1, 3)):
            name = f"b{branch}{depth}"
            window = f"kernel_size: {rng.choice((1, 2, 3, 5))} stride: {rng.choice((1, 1, 2))}"
            if rng.random() < 0.3:
                net += layer("Pooling", f"pooling_param {{ {window} }}", blob, name, name)
            else:
                pad = rng.choice((0, 1, 2))
                fields = f"convolution_param {{ num_output: 4 {window} pad: {pad} }}"
                net += layer("Convolution", fields, blob, name, name) + layer("ReLU", "", name, name, f"r{name}")
            blob = name
        ends.append(blob)
    return net + layer(rng.choice(("Concat", "Eltwise")), "", " ".join(ends))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_offered_for_a_join_solves_it(seed: int) -> None:
    rng, offered = random.Random(seed), 0
    for _ in range(40):
        graph = OpGraph.parse(random_join(rng))
        before = {each.node for each in told(graph) if each.severity == "error"}
        for found in told_of(graph):
            for fix in found.fixes:
                offered += 1
                with graph.change(fix.label) as change:
                    fix.apply(graph)
                assert {each.node for each in told(graph) if each.severity == "error"} < before, (fix.label, graph.text)
                change.undo()
    assert offered > 10
