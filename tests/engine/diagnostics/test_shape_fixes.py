"""Every fix that is offered for shapes mends them: held against the layers' own shapes, undone, and done again."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from engine.diagnostics import Diagnostic, diagnose
from engine.graph import OpGraph
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.registry import default_registry
from engine.shapes import NodeShapes, ShapeService
from tests.engine.graph.nets import assert_consistent

REGISTRY = default_registry()
SERVICE = ShapeService(registry=REGISTRY)


def source(*shapes: tuple[int, ...], name: str = "x") -> str:
    """A layer that gives blobs of these shapes: x, and xb, xc, ..."""
    tops = [name, *(f"{name}{letter}" for letter in "bcd"[: len(shapes) - 1])]
    dims = " ".join(f"shape {{ {' '.join(f'dim: {dim}' for dim in shape)} }}" for shape in shapes)
    named = " ".join(f'top: "{top}"' for top in tops)
    return f'layer {{ name: "in_{name}" type: "Input" {named} input_param {{ {dims} }} }}\n'


def layer(kind: str, param: str = "", bottoms: str = "x", tops: str = "y", name: str = "it") -> str:
    ports = " ".join([*(f'bottom: "{each}"' for each in bottoms.split()), *(f'top: "{each}"' for each in tops.split())])
    return f'layer {{ name: "{name}" type: "{kind}" {ports} {param} }}\n'


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
    "channels of data": source((2, 4, 8, 6), (2, 3, 8, 6)) + layer("Eltwise", "", "x xb"),
    "axes of two numbers": source((2, 4), (2, 4, 1)) + layer("Eltwise", "", "x xb"),
}


def shapes_of(graph: OpGraph) -> dict[object, NodeShapes]:
    return dict(SERVICE.infer(graph_layers(graph), Phase.TRAIN))


def told_of(graph: OpGraph) -> list[Diagnostic]:
    node = graph.named("it")[0].id
    told = diagnose(graph, registry=REGISTRY, shapes=shapes_of(graph))
    return [each for each in told if each.node == node and each.severity == "error"]


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
