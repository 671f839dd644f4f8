"""What mends a layer that joins blobs whose shapes differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.blob import Shape
from engine.diagnostics.records import QuickFix
from engine.diagnostics.rewiring import insert_before
from engine.graph import Node, NodeId, OpGraph

__all__ = ["join_axis", "join_fixes"]

_CHANNELS = 1
_SPATIAL = 2  # the first spatial axis
#: Fields that say how many channels a layer has.
_COUNTED_BY = {
    "Convolution": "convolution_param",
    "Deconvolution": "convolution_param",
    "InnerProduct": "inner_product_param",
}
#: Layers with one bottom that leave its channels as they are.
_KEEPS_CHANNELS = frozenset(
    (
        "AbsVal",
        "BNLL",
        "BatchNorm",
        "Bias",
        "Dropout",
        "ELU",
        "Exp",
        "LRN",
        "Log",
        "MVN",
        "PReLU",
        "Pooling",
        "Power",
        "ReLU",
        "Scale",
        "Sigmoid",
        "Swish",
        "TanH",
        "Threshold",
    )
)


def join_fixes(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    """Return what may mend an Eltwise or Concat layer, the likeliest first.

    Parameters
    ----------
    graph : OpGraph
    node : Node
        The layer.
    bottoms : sequence of shapes
        Of its bottoms, all of them known.
    """
    joined = join_axis(graph, node, len(bottoms[0]))
    first = bottoms[0]
    place = next((at for at, shape in enumerate(bottoms) if _differ(first, shape) - {joined}), None)
    if place is None:
        return
    other = bottoms[place]
    if len(first) != len(other):
        return
    differ = {axis for shape in bottoms for axis in _differ(first, shape)} - {joined}
    if node.type == "Concat":
        yield from _other_axis(graph, node, bottoms)
    if differ == {_CHANNELS}:
        if _agree(bottoms, place, first, joined):
            yield from _same_channels(graph, node, place, first[_CHANNELS])
        if _agree(bottoms, 0, other, joined):
            yield from _same_channels(graph, node, 0, other[_CHANNELS])
    if len(first) == 4 and min(differ) >= _SPATIAL and not graph.count(node.id, ("include",)):
        smaller = all(size <= more for size, more in zip(first[_SPATIAL:], other[_SPATIAL:], strict=True))
        if _agree(bottoms, *((place, first) if smaller else (0, other)), joined):
            yield from _cropped(graph, node, place, first, other)


def join_axis(graph: OpGraph, node: Node, axes: int) -> int:
    """Return the axis along which shapes may differ; -1 for none."""
    if node.type != "Concat":
        return -1
    for name in ("concat_dim", "axis"):
        written = graph.value(node.id, ("concat_param", name))
        if written is not None:
            axis = int(written) if written.lstrip("-").isdigit() else _CHANNELS
            return axis + axes if axis < 0 else axis
    return _CHANNELS


def _agree(bottoms: Sequence[Shape], place: int, shape: Shape, joined: int) -> bool:
    """Whether all inputs fit, if one of them had another's shape but along the axis of the join."""
    inputs = [shape if at == place else each for at, each in enumerate(bottoms)]
    return all(_differ(inputs[0], each) <= {joined} for each in inputs)


def _differ(first: Shape, other: Shape) -> set[int]:
    """Return the axes at which two shapes differ; one beyond the last where they have other numbers of axes."""
    found = {axis for axis, (a, b) in enumerate(zip(first, other, strict=False)) if a != b}
    return found | ({max(len(first), len(other))} if len(first) != len(other) else set())


def _other_axis(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    """Offer to join along the one axis at which the shapes differ."""
    axes = {axis for shape in bottoms for axis in _differ(bottoms[0], shape)}
    if len(axes) != 1:
        return
    (axis,) = axes

    def turn(target: OpGraph) -> None:
        target.clear_field(node.id, ("concat_param", "concat_dim"))
        target.set_field(node.id, ("concat_param", "axis"), str(axis))

    yield QuickFix(f"Join along axis {axis}, where the shapes differ", turn)


def _same_channels(graph: OpGraph, node: Node, bottom: int, channels: int) -> Iterator[QuickFix]:
    """Offer to give the layer that makes a bottom as many channels as the others have."""
    maker = _maker(graph, node.id, bottom)
    if maker is None:
        return
    path = (_COUNTED_BY[graph.node(maker).type], "num_output")

    def count(target: OpGraph) -> None:
        target.set_field(maker, path, str(channels))

    yield QuickFix(f"Give '{graph.node(maker).name}' {channels} outputs, as the others have", count)


def _maker(graph: OpGraph, node: NodeId, bottom: int) -> NodeId | None:
    """Return the layer that decides how many channels a bottom has, if it is one that can be told."""
    seen: set[NodeId] = set()
    while node not in seen:
        seen.add(node)
        sources = {edge.source for edge in graph.edges_in(node) if edge.bottom == bottom}
        if len(sources) != 1:
            return None
        (node,) = sources
        above = graph.node(node)
        if above.type in _COUNTED_BY:
            written = graph.value(node, (_COUNTED_BY[above.type], "num_output"))
            return node if above.version and written is not None else None
        if above.type not in _KEEPS_CHANNELS or len(above.bottoms) != 1:
            return None
        bottom = 0
    return None


def _cropped(graph: OpGraph, node: Node, place: int, first: Shape, other: Shape) -> Iterator[QuickFix]:
    """Offer to cut the larger of two inputs to the middle of its size, as nets with skip connections do."""
    pairs = list(zip(first[_SPATIAL:], other[_SPATIAL:], strict=True))
    if all(a <= b for a, b in pairs):
        large, small = place, 0
    elif all(a >= b for a, b in pairs):
        large, small = 0, place
    else:
        return
    offsets = [abs(a - b) // 2 for a, b in pairs]
    written = offsets[:1] if len(set(offsets)) == 1 else offsets
    blob = node.bottoms[large]
    fields = f"crop_param {{ axis: {_SPATIAL} {' '.join(f'offset: {each}' for each in written)} }}"
    label = f"Crop '{blob}' to the size of '{node.bottoms[small]}'"
    yield insert_before(node, large, "Crop", [blob, node.bottoms[small]], fields, label)
