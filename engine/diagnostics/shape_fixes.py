"""What mends a layer whose shapes do not fit: a kernel larger than its input, sizes that do not divide, axes too far.

Each fix is offered only where the numbers say that it helps; a person chooses among them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.blob import Shape
from engine.diagnostics.branch_fixes import branch_fixes
from engine.diagnostics.joining_fixes import join_fixes
from engine.diagnostics.label_fixes import label_fixes
from engine.diagnostics.records import QuickFix
from engine.diagnostics.setting_fixes import SETTING_FIXES
from engine.diagnostics.windows import Window, numbers, read_window, values_words, write_values
from engine.graph import Node, NodeId, OpGraph
from engine.ops import canonical_axis, convolved_size, deconvolved_size
from engine.prototxt import Field, Message

__all__ = ["shape_fixes"]

_AXIS = 1  # the default of convolution_param.axis and slice_param.axis
_V0 = 0


def shape_fixes(graph: OpGraph, node_id: NodeId, shapes: Mapping[NodeId, Any]) -> tuple[QuickFix, ...]:
    """Return what may mend a layer that was asked for its shapes and refused, the likeliest first.

    Parameters
    ----------
    graph : OpGraph
    node_id : NodeId
        The layer.
    shapes : mapping of NodeId to NodeShapes
        What is known of all.
    """
    node = graph.node(node_id)
    bottoms: Sequence[Shape | None] = getattr(shapes[node_id], "bottoms", ())
    known = [shape for shape in bottoms if shape is not None]
    if node.version == _V0 or not known or len(known) < len(bottoms):
        return ()
    makers = [_MAKERS[node.type]] if node.type in _MAKERS else []
    makers += SETTING_FIXES.get(node.type, ())
    found = [fix for make in makers for fix in make(graph, node, known)]
    return (*branch_fixes(graph, node, known, shapes), *found, *label_fixes(graph, node, known, shapes))


# Windows


def _smaller_kernel(graph: OpGraph, node: Node, window: Window) -> Iterator[QuickFix]:
    """Offer the largest kernel that fits."""
    fitting = [
        min(kernel, (size + 2 * pad - 1) // dilation + 1) for size, kernel, _stride, pad, dilation in window.axes()
    ]
    if min(fitting) < 1:
        return
    alone = (
        not graph.count(node.id, (window.param, "kernel_h"))
        and graph.count(node.id, (window.param, "kernel_size")) == 1
    )
    shown = [min(fitting)] if alone else fitting

    def shrink(target: OpGraph) -> None:
        write_values(target, node.id, window.param, "kernel_size", fitting, min)

    yield QuickFix(f"Make the kernel {values_words(shown)}, the largest that fits", shrink)


def _more_padding(graph: OpGraph, node: Node, window: Window) -> Iterator[QuickFix]:
    """Offer the least padding with which the kernel fits."""
    needed = [
        max(pad, math.ceil((dilation * (kernel - 1) + 1 - size) / 2))
        for size, kernel, _stride, pad, dilation in window.axes()
    ]
    apart = graph.count(node.id, (window.param, "pad_h")) or graph.count(node.id, (window.param, "pad")) > 1

    def widen(target: OpGraph) -> None:
        write_values(target, node.id, window.param, "pad", needed, max)

    yield QuickFix(f"Pad by {values_words(needed if apart else [max(needed)])}, so that the kernel fits", widen)


def _convolution(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    shape, param = bottoms[0], "convolution_param"
    axis = _axis(graph, node.id, (param, "axis"), len(shape))
    if axis is None:
        return
    yield from _first_values(graph, node, shape[axis], {"kernel_size": "3", "pad": "1"})
    window = read_window(graph, node, param, shape[axis + 1 :])
    if window is not None:
        if node.type == "Deconvolution":
            yield from _less_padding(node, window)
        elif any(convolved_size(*values) < 1 for values in window.axes()):
            yield from _smaller_kernel(graph, node, window)
            yield from _more_padding(graph, node, window)
    yield from _dividing_group(graph, node, shape[axis])


def _less_padding(node: Node, window: Window) -> Iterator[QuickFix]:
    """Offer the most padding that leaves something of a deconvolution."""
    if all(deconvolved_size(*values) > 0 for values in window.axes()):
        return
    most = [
        min(pad, (stride * (size - 1) + dilation * (kernel - 1)) // 2)
        for size, kernel, stride, pad, dilation in window.axes()
    ]

    def narrow(target: OpGraph) -> None:
        write_values(target, node.id, window.param, "pad", most, min)

    yield QuickFix(f"Pad by {min(most)}, the most that leaves an output", narrow)


def _first_values(graph: OpGraph, node: Node, channels: int, window: Mapping[str, str]) -> Iterator[QuickFix]:
    """Offer values for what a new layer has to be told: as many outputs as inputs, and a usual window."""
    param = "convolution_param"
    unset = not any(numbers(graph, node.id, (param, "num_output")))
    if unset and channels > 0 and not _is_misspelt(graph, node.id, param, "num_output"):

        def count(target: OpGraph) -> None:
            target.set_field(node.id, (param, "num_output"), str(channels))

        yield QuickFix(f"Make num_output {channels}, as many as it reads", count)
    has_kernel = any(graph.count(node.id, (param, name)) for name in ("kernel_size", "kernel_h", "kernel_w"))
    if not has_kernel and not _is_misspelt(graph, node.id, param, "kernel_size"):

        def give(target: OpGraph) -> None:
            for name, value in window.items():
                if not target.count(node.id, (param, name)):
                    target.set_field(node.id, (param, name), value)

        yield QuickFix("Make the kernel 3, and pad by 1", give)


def _is_misspelt(graph: OpGraph, node: NodeId, param: str, name: str) -> bool:
    """Whether a field stands there under a name that looks like the one meant: that name is to be mended then."""
    value = graph.field(node, (param,))
    written = [item.name for item in value.items if isinstance(item, Field)] if isinstance(value, Message) else []
    return bool(difflib.get_close_matches(name, written, n=1, cutoff=0.8))


def _dividing_group(graph: OpGraph, node: Node, channels: int) -> Iterator[QuickFix]:
    """Offer the largest group that divides inputs and outputs, and the next number of outputs that a group divides."""
    param = "convolution_param"
    groups, outputs = (numbers(graph, node.id, (param, name)) for name in ("group", "num_output"))
    group, count = (groups or [1])[-1], (outputs or [0])[-1]
    if group < 2 or count < 1 or not (channels % group or count % group):
        return
    if not channels % group:
        more = math.ceil(count / group) * group

        def grow(target: OpGraph) -> None:
            target.set_field(node.id, (param, "num_output"), str(more))

        yield QuickFix(f"Make num_output {more}, a multiple of group {group}", grow)
    common = math.gcd(channels, count)
    fitting = max(size for size in range(1, group + 1) if common % size == 0)

    def split(target: OpGraph) -> None:
        target.set_field(node.id, (param, "group"), str(fitting))

    yield QuickFix(f"Make group {fitting}, which divides {channels} inputs and {count} outputs", split)


def _pooling(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    param, shape = "pooling_param", bottoms[0]
    if len(shape) != 4 or graph.value(node.id, (param, "global_pooling")) == "true":
        return
    sides = ("kernel_size", "kernel_h", "kernel_w")
    if not any(graph.count(node.id, (param, name)) for name in sides):

        def halve(target: OpGraph) -> None:
            target.set_field(node.id, (param, "kernel_size"), "2")
            if not any(target.count(node.id, (param, name)) for name in ("stride", "stride_h", "stride_w")):
                target.set_field(node.id, (param, "stride"), "2")

        yield QuickFix("Make the kernel 2 and the stride 2, which halves the size", halve)
        yield _whole_input(node)
        return
    window = read_window(graph, node, param, shape[2:])
    if window is None or all(kernel <= size + 2 * pad for size, kernel, _s, pad, _d in window.axes()):
        return
    yield from _smaller_kernel(graph, node, window)
    yield _whole_input(node)
    if graph.value(node.id, (param, "pool")) != "STOCHASTIC":
        yield from _more_padding(graph, node, window)


def _whole_input(node: Node) -> QuickFix:
    param = "pooling_param"

    def pool_all(target: OpGraph) -> None:
        for name in ("kernel_size", "stride", "pad"):
            stem = name.partition("_")[0]
            for each in (name, f"{stem}_h", f"{stem}_w"):
                target.clear_field(node.id, (param, each))
        target.set_field(node.id, (param, "global_pooling"), "true")

    return QuickFix("Pool over the whole input", pool_all)


# Axes and sizes


def _axis(graph: OpGraph, node: NodeId, path: tuple[str, ...], axes: int, default: int = _AXIS) -> int | None:
    written = numbers(graph, node, path)
    try:
        return canonical_axis(written[-1] if written else default, axes)
    except ValueError:
        return None


def _inner_product(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    param, axes = "inner_product_param", len(bottoms[0])
    unset = not any(numbers(graph, node.id, (param, "num_output")))
    if unset and not _is_misspelt(graph, node.id, param, "num_output"):

        def count(target: OpGraph) -> None:
            target.set_field(node.id, (param, "num_output"), "10")

        yield QuickFix("Make num_output 10", count)
    if axes and _axis(graph, node.id, (param, "axis"), axes) is None:
        last = axes - 1

        def turn(target: OpGraph) -> None:
            target.set_field(node.id, (param, "axis"), str(last))

        yield QuickFix(f"Multiply from axis {last} on, the last of its input", turn)


def _reshape(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    """Offer to have a size follow from the rest, where the whole shape is replaced."""
    path = ("reshape_param", "shape", "dim")
    dims, shape = numbers(graph, node.id, path), bottoms[0]
    partly = any(graph.count(node.id, ("reshape_param", name)) for name in ("axis", "num_axes"))
    if partly or not dims or -1 in dims or any(dim == 0 and at >= len(shape) for at, dim in enumerate(dims)):
        return
    sizes, whole = [shape[at] if dim == 0 else dim for at, dim in enumerate(dims)], math.prod(shape)
    if math.prod(sizes) == whole:
        return
    for place in reversed(range(len(dims))):
        rest = math.prod(sizes[:place] + sizes[place + 1 :])
        if dims[place] and rest and whole % rest == 0:

            def follow(target: OpGraph, place: int = place) -> None:
                target.set_field(node.id, (*path, place), "-1")

            yield QuickFix(f"Have size {place} follow from the rest: {whole // rest} in place of {dims[place]}", follow)
            return


def _slice(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> Iterator[QuickFix]:
    """Offer to slice into parts that are as equal as can be."""
    param, shape, parts = "slice_param", bottoms[0], len(node.tops)
    name = "slice_dim" if graph.count(node.id, (param, "slice_dim")) else "axis"
    axis = _axis(graph, node.id, (param, name), len(shape))
    both = graph.count(node.id, (param, "axis")) and graph.count(node.id, (param, "slice_dim"))
    if axis is None or both or parts < 2 or shape[axis] < parts:
        return
    whole = shape[axis]
    points = [] if whole % parts == 0 else [round(whole * part / parts) for part in range(1, parts)]

    def cut(target: OpGraph) -> None:
        target.clear_field(node.id, (param, "slice_point"))
        for point in points:
            target.append_field(node.id, (param, "slice_point"), str(point))

    words = f"at {', '.join(map(str, points))}" if points else f"into {parts} parts of {whole // parts}"
    yield QuickFix(f"Slice {words}", cut)


_MAKERS: Mapping[str, Callable[[OpGraph, Node, Sequence[Shape]], Iterator[QuickFix]]] = {
    "Concat": join_fixes,
    "Convolution": _convolution,
    "Deconvolution": _convolution,
    "Eltwise": join_fixes,
    "InnerProduct": _inner_product,
    "Pooling": _pooling,
    "Reshape": _reshape,
    "Slice": _slice,
}
