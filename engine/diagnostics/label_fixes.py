"""What mends a loss or an accuracy whose labels or targets do not fit its scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from engine.blob import Shape
from engine.diagnostics.joining_fixes import join_fixes
from engine.diagnostics.records import QuickFix
from engine.diagnostics.rewiring import insert_before, read_blob, swap_inputs
from engine.graph import Node, NodeId, OpGraph
from engine.ops import canonical_axis

__all__ = ["label_fixes"]

_MOST_BLOBS = 2
#: Where layers that compare scores with the index of a class have their class axis.
_AXES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Accuracy": ("accuracy_param", "axis"),
        "InfogainLoss": ("infogain_loss_param", "axis"),
        "SoftmaxWithLoss": ("softmax_param", "axis"),
    }
)
#: Layers that compare two blobs value by value.
_ALIKE = frozenset({"EuclideanLoss", "SigmoidCrossEntropyLoss"})


def label_fixes(
    graph: OpGraph, node: Node, bottoms: Sequence[Shape], shapes: Mapping[NodeId, Any]
) -> Iterator[QuickFix]:
    """Return what may mend such a layer, the likeliest first.

    Parameters
    ----------
    graph : OpGraph
    node : Node
        The layer.
    bottoms : sequence of shapes
        Of its bottoms, all of them known.
    shapes : mapping of NodeId to NodeShapes
        What is known of all.
    """
    if len(bottoms) < 2:
        return
    scores, labels = bottoms[:2]
    if node.type in _ALIKE:
        yield from _other_labels(graph, node, math.prod(scores), shapes)
        yield from join_fixes(graph, node, bottoms[:2])
    elif node.type in _AXES:
        axis, swapped = (_class_axis(graph, node, shape) for shape in (scores, labels))
        if swapped is not None and labels[swapped] > 1 and math.prod(scores) == _positions(labels, swapped):
            yield swap_inputs(node, f"Swap '{node.bottoms[0]}' and '{node.bottoms[1]}'")
        elif axis is not None:
            yield from _class_fixes(graph, node, (scores, labels), axis, shapes)


def _class_fixes(
    graph: OpGraph, node: Node, bottoms: tuple[Shape, Shape], axis: int, shapes: Mapping[NodeId, Any]
) -> Iterator[QuickFix]:
    scores, labels = bottoms
    have = math.prod(labels)
    yield from _other_labels(graph, node, _positions(scores, axis), shapes)
    if labels == scores and scores[axis] > 1:
        fields = f"argmax_param {{ axis: {axis} }}"
        yield _insertion(graph, node, 1, "ArgMax", fields, f"Take the index of the largest of '{node.bottoms[1]}'")
    for other in range(1, len(scores)):  # the first is that of the items
        if other != axis and _positions(scores, other) == have and scores[other] > 1:

            def turn(target: OpGraph, other: int = other) -> None:
                target.set_field(node.id, _AXES[node.type], str(other))

            yield QuickFix(f"Compare along axis {other}, which has {scores[other]} classes", turn)
    if len(scores) == 4 and axis == 1 and have == scores[0]:
        fields = "pooling_param { pool: AVE global_pooling: true }"
        label = f"Pool '{node.bottoms[0]}' over the whole of each image"
        yield _insertion(graph, node, 0, "Pooling", fields, label)


def _class_axis(graph: OpGraph, node: Node, scores: Shape) -> int | None:
    written = graph.value(node.id, _AXES[node.type]) or "1"
    try:
        return canonical_axis(int(written, 0), len(scores))
    except ValueError:
        return None


def _positions(scores: Shape, axis: int) -> int:
    """Return how many labels scores have room for."""
    return math.prod(scores[:axis]) * math.prod(scores[axis + 1 :])


def _other_labels(graph: OpGraph, node: Node, count: int, shapes: Mapping[NodeId, Any]) -> Iterator[QuickFix]:
    """Offer blobs that come from data and have as many values as labels are wanted; those called so come first."""
    found: dict[str, bool] = {}
    for above in graph.nodes():
        if above.ordinal >= node.ordinal or above.bottoms or not above.phases >= node.phases:
            continue
        known = getattr(shapes.get(above.id), "tops", ())
        for blob, shape in zip(above.tops, known, strict=False):
            if shape is not None and math.prod(shape) == count and blob not in node.bottoms:
                found[blob] = "label" in blob.lower() or "target" in blob.lower()
    for blob in sorted(found, key=lambda each: not found[each])[:_MOST_BLOBS]:
        yield read_blob(node, 1, blob, f"Compare with '{blob}'")


def _insertion(graph: OpGraph, node: Node, bottom: int, kind: str, fields: str, label: str) -> QuickFix:
    """Return a fix that puts a layer before a bottom, in the same phases."""
    rules = [field.text.strip() for field in graph.message(node.id) if field.name in ("include", "exclude")]
    return insert_before(node, bottom, kind, [node.bottoms[bottom]], "\n".join([fields, *rules]), label)
