"""What mends a layer that one of its settings keeps from fitting: an offset, an axis, a number out of its range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from engine.blob import Shape
from engine.diagnostics.records import QuickFix
from engine.diagnostics.rewiring import swap_inputs
from engine.graph import Node, OpGraph, Path
from engine.ops import canonical_axis

__all__ = ["SETTING_FIXES"]

_SPATIAL = 2  # the default of crop_param.axis


def _set(node: Node, path: Path, value: str, label: str) -> QuickFix:
    def put(target: OpGraph) -> None:
        target.set_field(node.id, path, value)

    return QuickFix(label, put)


def _clear(node: Node, path: Path, label: str) -> QuickFix:
    def clear(target: OpGraph) -> None:
        target.clear_field(node.id, path)

    return QuickFix(label, clear)


def _number(graph: OpGraph, node: Node, path: Path, default: float) -> float | None:
    """Return the value of a field; None where it is no number."""
    written = graph.value(node.id, path)
    try:
        return default if written is None else float(written)
    except ValueError:
        return None


# Crop


def _crop(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    """Offer offsets that fit, the axes at which the sizes differ, and the two inputs in the other order."""
    if len(bottoms) != 2 or len(bottoms[1]) < len(bottoms[0]):
        return
    data, reference = bottoms
    written = _number(graph, node, ("crop_param", "axis"), _SPATIAL)
    try:
        axis = canonical_axis(int(written if written is not None else _SPATIAL), len(data))
    except ValueError:
        axis = _SPATIAL if len(data) > _SPATIAL else 0
        yield _set(node, ("crop_param", "axis"), str(axis), f"Crop from axis {axis} on")
        return
    if _fits(data, reference, axis):
        middle = [(have - size) // 2 for have, size in zip(data[axis:], reference[axis:], strict=False)]
        yield _offsets(node, middle, "Crop to the middle")
        if any(middle):
            yield _offsets(node, [0] * len(middle), "Crop to the first corner")
        return
    fitting = [at for at in range(axis + 1, len(data)) if _fits(data, reference, at)]
    if fitting:
        yield _set(node, ("crop_param", "axis"), str(fitting[0]), f"Crop from axis {fitting[0]} on")
    elif len(data) == len(reference) and _fits(reference, data, axis):
        yield swap_inputs(node, f"Crop '{node.bottoms[1]}' to the size of '{node.bottoms[0]}'")


def _fits(data: Shape, reference: Shape, axis: int) -> bool:
    return all(have >= size for have, size in zip(data[axis:], reference[axis:], strict=False))


def _offsets(node: Node, offsets: Sequence[int], label: str) -> QuickFix:
    written = offsets[:1] if len(set(offsets)) == 1 else offsets

    def put(target: OpGraph) -> None:
        target.clear_field(node.id, ("crop_param", "offset"))
        for offset in written:
            target.append_field(node.id, ("crop_param", "offset"), str(offset))

    return QuickFix(f"{label}: offset {' x '.join(map(str, written))}", put)


# Others


def _eltwise(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    param, kind = "eltwise_param", graph.value(node.id, ("eltwise_param", "operation")) or "SUM"
    if graph.count(node.id, (param, "coeff")):
        if kind not in ("SUM", "1") and graph.count(node.id, (param, "coeff")) == len(bottoms):
            yield _set(node, (param, "operation"), "SUM", "Make it a sum, which coeff is for")
        if kind not in ("SUM", "1") or graph.count(node.id, (param, "coeff")) != len(bottoms):
            yield _clear(node, (param, "coeff"), "Remove coeff")
    if any(node.in_place) and kind not in ("SUM", "1"):

        def detach(target: OpGraph) -> None:
            target.detach(node.id, 0)

        yield QuickFix("Give the top a name of its own", detach)


def _twice(param: str, old: str) -> Callable[[OpGraph, Node, Sequence[Shape]], Iterator[QuickFix]]:
    def make(graph: OpGraph, node: Node, _bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
        if graph.count(node.id, (param, "axis")) and graph.count(node.id, (param, old)):
            yield _clear(node, (param, old), f"Remove {old}")

    return make


def _axis_of(param: str, verb: str, default: int = 1) -> Callable[[OpGraph, Node, Sequence[Shape]], Iterator[QuickFix]]:
    """Return what offers the last axis to a layer whose axis its input has not."""

    def make(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
        written, axes = _number(graph, node, (param, "axis"), default), len(bottoms[0])
        if axes and written is not None and not -axes <= written < axes:
            yield _set(node, (param, "axis"), str(axes - 1), f"{verb} axis {axes - 1}, the last of its input")

    return make


def _local_size(graph: OpGraph, node: Node, _bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    size = _number(graph, node, ("lrn_param", "local_size"), 5)
    if size is not None and size >= 0 and size % 2 == 0:
        odd = int(size) + 1
        yield _set(node, ("lrn_param", "local_size"), str(odd), f"Make local_size {odd}, which is odd")


def _flatten(graph: OpGraph, node: Node, _bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    if graph.count(node.id, ("flatten_param", "end_axis")):
        yield _clear(node, ("flatten_param", "end_axis"), "Flatten up to the last axis")


def _top_k(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    shape, written = bottoms[0], graph.value(node.id, ("argmax_param", "axis"))
    axis = _number(graph, node, ("argmax_param", "axis"), 1)
    if not shape or axis is None or not -len(shape) <= axis < len(shape):
        if len(shape) > 1:
            yield _set(node, ("argmax_param", "axis"), "1", "Look along axis 1")
        return
    most = 1
    for size in shape[int(axis) :][:1] if written is not None else shape[1:]:
        most *= size
    asked = _number(graph, node, ("argmax_param", "top_k"), 1)
    if asked is not None and most:
        best = most if asked > most else 1
        yield _set(node, ("argmax_param", "top_k"), str(best), f"Make top_k {best}")


def _in_range(
    param: str, name: str, value: str, allowed: Callable[[float], bool]
) -> Callable[[OpGraph, Node, Sequence[Shape]], Iterator[QuickFix]]:
    """Return what offers a usual value for a number that is out of its range."""

    def make(graph: OpGraph, node: Node, _bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
        written = _number(graph, node, (param, name), float(value))
        if written is not None and not allowed(written):
            yield _set(node, (param, name), value, f"Make {name} {value}")

    return make


#: By type, what offers fixes for a layer that refused its settings; given the graph, the layer and its inputs' shapes.
SETTING_FIXES: Mapping[str, tuple[Callable[[OpGraph, Node, Sequence[Shape]], Iterator[QuickFix]], ...]] = (
    MappingProxyType(
        {
            "ArgMax": (_top_k,),
            "Concat": (_twice("concat_param", "concat_dim"),),
            "Crop": (_crop,),
            "Dropout": (_in_range("dropout_param", "dropout_ratio", "0.5", lambda ratio: 0 <= ratio < 1),),
            "Eltwise": (_eltwise,),
            "Exp": (_in_range("exp_param", "base", "-1", lambda base: base == -1 or base > 0),),
            "Flatten": (_axis_of("flatten_param", "Flatten from"), _flatten),
            "LRN": (_local_size,),
            "Log": (_in_range("log_param", "base", "-1", lambda base: base == -1 or (base > 0 and base != 1)),),
            "Slice": (_twice("slice_param", "slice_dim"),),
            "Softmax": (_axis_of("softmax_param", "Compute over"),),
            "Tile": (
                _axis_of("tile_param", "Repeat along"),
                _in_range("tile_param", "tiles", "1", lambda tiles: tiles >= 1),
            ),
        }
    )
)
