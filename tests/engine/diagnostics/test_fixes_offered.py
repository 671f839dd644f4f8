"""Every fix that is offered for what does not fit mends it, leaves nothing new behind, and can be undone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine.diagnostics import Diagnostic, diagnose
from engine.graph import OpGraph
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.registry import default_registry
from engine.shapes import ShapeService
from tests.engine.diagnostics.support import layer, source
from tests.engine.graph.nets import assert_consistent

REGISTRY = default_registry()
SERVICE = ShapeService(registry=REGISTRY)


def told(graph: OpGraph) -> list[Diagnostic]:
    shapes = SERVICE.infer(graph_layers(graph), Phase.TRAIN)
    return [each for each in diagnose(graph, registry=REGISTRY, shapes=shapes) if each.severity != "info"]


@dataclass(frozen=True)
class Case:
    """A net whose layer ``it`` is told under a code, and how the labels of its fixes begin."""

    code: str
    net: str
    fixes: tuple[str, ...]


CROP = source((2, 3, 9, 8), (2, 3, 5, 4))
SCORES = source((4, 10), (4, 10), (4,))
IMAGES = source((2, 5, 6, 6), (2,))
IP = layer("InnerProduct", "inner_product_param { num_output: 10 }", tops="scores", name="ip")
CASES = {
    "labels that look one-hot": Case(
        "label-count",
        SCORES + layer("SoftmaxWithLoss", "", "x xb", "loss"),
        ("Compare with 'xc'", "Take the index of the largest of 'xb'"),
    ),
    "labels and scores the wrong way round": Case(
        "shape", SCORES + layer("SoftmaxWithLoss", "", "xc x", "loss"), ("Swap 'xc' and 'x'",)
    ),
    "another blob has as many labels": Case(
        "label-count",
        source((4, 10), (7,), (4, 1)) + layer("Accuracy", "", "x xb", "acc"),
        ("Compare with 'xc'",),
    ),
    "the class axis": Case(
        "label-count",
        source((2, 6, 10), (2, 6)) + layer("SoftmaxWithLoss", "", "x xb", "loss"),
        ("Compare along axis 2, which has 10 classes",),
    ),
    "scores of every place for a label an image": Case(
        "label-count", IMAGES + layer("SoftmaxWithLoss", "", "x xb", "loss"), ("Pool 'x' over the whole",)
    ),
    "targets of another number": Case(
        "shape",
        source((4, 7), (4, 3))
        + layer("InnerProduct", "inner_product_param { num_output: 5 }", "x", "y", "ip")
        + layer("EuclideanLoss", "", "y xb", "loss"),
        ("Give 'ip' 3 outputs",),
    ),
    "maps of another size": Case(
        "shape",
        source((2, 1, 9, 9), (2, 1, 5, 5)) + layer("SigmoidCrossEntropyLoss", "", "x xb", "loss"),
        ("Crop 'x' to the size of 'xb'",),
    ),
    "an offset beyond the edge": Case(
        "shape", CROP + layer("Crop", "crop_param { offset: 5 }", "x xb"), ("Crop to the middle", "Crop to the first")
    ),
    "offsets of another number": Case(
        "shape",
        CROP + layer("Crop", "crop_param { offset: [1, 1, 1] }", "x xb"),
        ("Crop to the middle: offset 2", "Crop to the first"),
    ),
    "an axis that need not be cropped": Case(
        "shape",
        source((2, 3, 9, 8), (2, 6, 5, 4)) + layer("Crop", "crop_param { axis: 1 }", "x xb"),
        ("Crop from axis 2 on",),
    ),
    "the larger is the reference": Case("shape", CROP + layer("Crop", "", "xb x"), ("Crop 'x' to the size of 'xb'",)),
    "an axis of Crop beyond the last": Case(
        "shape", CROP + layer("Crop", "crop_param { axis: 7 }", "x xb"), ("Crop from axis 2 on",)
    ),
    "coefficients of another number": Case(
        "shape",
        source((2, 3), (2, 3)) + layer("Eltwise", "eltwise_param { coeff: 1 }", "x xb"),
        ("Remove coeff",),
    ),
    "coefficients of a product": Case(
        "shape",
        source((2, 3), (2, 3)) + layer("Eltwise", "eltwise_param { operation: PROD coeff: 1 coeff: 2 }", "x xb"),
        ("Make it a sum", "Remove coeff"),
    ),
    "a join with two axes": Case(
        "shape",
        source((2, 3), (2, 3)) + layer("Concat", "concat_param { axis: 1 concat_dim: 1 }", "x xb"),
        ("Remove concat_dim",),
    ),
    "a cut with two axes": Case(
        "shape",
        source((2, 4)) + layer("Slice", "slice_param { axis: 1 slice_dim: 1 }", "x", "y z"),
        ("Remove slice_dim",),
    ),
    "an even neighbourhood": Case(
        "shape",
        source((2, 4, 3, 3)) + layer("LRN", "lrn_param { local_size: 4 }"),
        ("Make local_size 5",),
    ),
    "a ratio that leaves nothing": Case(
        "shape", source((2, 4)) + layer("Dropout", "dropout_param { dropout_ratio: 1 }"), ("Make dropout_ratio 0.5",)
    ),
    "no copies": Case("shape", source((2, 4)) + layer("Tile", "tile_param { tiles: 0 }"), ("Make tiles 1",)),
    "a base that has no power": Case(
        "shape", source((2, 4)) + layer("Log", "log_param { base: 1 }"), ("Make base -1",)
    ),
    "an axis of Softmax beyond the last": Case(
        "shape", source((2, 4)) + layer("Softmax", "softmax_param { axis: 3 }"), ("Compute over axis 1",)
    ),
    "axes of Flatten the wrong way round": Case(
        "shape",
        source((2, 4, 3)) + layer("Flatten", "flatten_param { axis: 2 end_axis: 1 }"),
        ("Flatten up to the last",),
    ),
    "more places than values": Case(
        "shape", source((2, 4)) + layer("ArgMax", "argmax_param { top_k: 9 }"), ("Make top_k 4",)
    ),
    "a bottom without a wire": Case(
        "bottom-unwired", source((2, 4), (2, 4)) + layer("Power", "", "?"), ("Read 'xb'", "Read 'x'")
    ),
    "labels without a wire": Case(
        "bottom-unwired",
        source((2, 4)) + source((2,), name="label") + IP + layer("SoftmaxWithLoss", "", "scores ?", "loss"),
        ("Read 'label'",),
    ),
    "a blob called as its layer": Case(
        "bottom-unknown",
        source((2, 4)) + IP + layer("Power", "", "ip"),
        ("Read 'scores'",),
    ),
    "a type that its settings tell": Case(
        "type-missing",
        source((2, 4)) + layer("", "inner_product_param { num_output: 3 }"),
        ("Make it 'InnerProduct'",),
    ),
    "both kinds of rules": Case(
        "rule-both",
        source((2, 4)) + layer("Power", "include { phase: TRAIN } exclude { phase: TEST }"),
        ("Remove the exclude rules", "Remove the include rules"),
    ),
    "a net without a loss": Case(
        "loss-missing",
        'layer { name: "it" type: "DummyData" top: "x" top: "label" dummy_data_param { shape { dim: [2, 4] } '
        "shape { dim: 2 } } }\n" + IP,
        ("Add a SoftmaxWithLoss of 'scores' and 'label'",),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_fix_mends_what_it_is_offered_for(case: Case) -> None:
    graph = OpGraph.parse(case.net)
    before = told(graph)
    (found, *_) = [each for each in before if each.code == case.code]
    labels = [fix.label for fix in found.fixes]
    assert len(labels) == len(case.fixes), labels
    for fix, start in zip(found.fixes, case.fixes, strict=True):
        assert fix.label.startswith(start), labels
        with graph.change(fix.label) as change:
            fix.apply(graph)
        after = bytes(graph)
        assert not graph.problems
        assert_consistent(graph)
        left = {(each.code, each.node) for each in told(graph)}
        assert (found.code, found.node) not in left, fix.label
        assert left <= {(each.code, each.node) for each in before}, fix.label
        change.undo()
        assert bytes(graph) == case.net.encode()
        change.redo()
        assert bytes(graph) == after
        change.undo()
