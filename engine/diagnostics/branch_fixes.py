"""What mends a layer that joins branches of other sizes: one setting of one layer up a branch, where that is enough."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.blob import Shape
from engine.diagnostics.joining_fixes import join_axis
from engine.diagnostics.records import QuickFix
from engine.diagnostics.windows import Window, read_window, values_words, write_values
from engine.graph import Node, NodeId, OpGraph
from engine.ops import PoolingWindow, convolved_size, deconvolved_size

__all__ = ["branch_fixes"]

_SPATIAL = 2  # the first spatial axis
_MOST_OFFERED = 3
#: So many windows up a branch are looked at: what is further up has more to it than one wrong number.
_DEEPEST = 6
_STRIDES = (1, 2, 4)
_LARGEST_KERNEL = 11
_PARAMS = {"Convolution": "convolution_param", "Deconvolution": "convolution_param", "Pooling": "pooling_param"}
#: Layers with one bottom that leave the size of a map as it is.
_KEEP_SIZE = frozenset(
    (
        "AbsVal",
        "BNLL",
        "BatchNorm",
        "Bias",
        "Clip",
        "Dropout",
        "ELU",
        "Exp",
        "LRN",
        "Log",
        "MVN",
        "PReLU",
        "Power",
        "ReLU",
        "Scale",
        "Sigmoid",
        "Softmax",
        "Split",
        "Swish",
        "TanH",
        "Threshold",
    )
)


@dataclass(frozen=True, slots=True)
class _Step:
    """A layer of a branch that changes the size of its map."""

    node: Node
    window: Window
    floor: bool = False

    def output(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return the size of the map that it makes of one of another size; 0 or less where it cannot."""
        window = replace(self.window, sizes=tuple(sizes))
        if self.node.type != "Pooling":
            size = deconvolved_size if self.node.type == "Deconvolution" else convolved_size
            return tuple(size(*axis) for axis in window.axes())
        padded = any(window.pad)
        found = [
            PoolingWindow(kernel, stride, pad).output_size(size, floor=self.floor, padded=padded)
            for size, kernel, stride, pad, _dilation in window.axes()
        ]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Change:
    """One setting of a step that is another, and how likely that is meant: less is likelier."""

    step: _Step
    field: str
    rank: tuple[int, ...]


def branch_fixes(
    graph: OpGraph, node: Node, bottoms: Sequence[Shape], shapes: Mapping[NodeId, Any]
) -> tuple[QuickFix, ...]:
    """Return changes of one layer, each of which alone gives all inputs of a join the same size, the likeliest first.

    A layer is changed only if nothing but the branch reads what it makes. A pad or a rounding is likelier to be wrong
    than a stride, and a stride than a kernel, which weights that were trained depend on.

    Parameters
    ----------
    graph : OpGraph
    node : Node
        A Concat or Eltwise layer that refused its inputs.
    bottoms : sequence of shapes
        Of its inputs, all of them known.
    shapes : mapping of NodeId to NodeShapes
        What is known of all.
    """
    if node.type not in ("Concat", "Eltwise") or not _differ_in_size_only(graph, node, bottoms):
        return ()
    found: list[tuple[tuple[int, ...], QuickFix]] = []
    for place in range(len(bottoms)):
        others = {shape[_SPATIAL:] for at, shape in enumerate(bottoms) if at != place}
        if len(others) == 1:
            (target,) = others
            found += _of_branch(graph, _branch(graph, node.id, place, shapes), target)
    found.sort(key=lambda each: each[0])
    return tuple(fix for _rank, fix in found[:_MOST_OFFERED])


def _differ_in_size_only(graph: OpGraph, node: Node, bottoms: Sequence[Shape]) -> bool:
    axis = join_axis(graph, node, len(bottoms[0]))
    if len(bottoms) < 2 or axis >= _SPATIAL or any(len(shape) != _SPATIAL + 2 for shape in bottoms):
        return False
    heads = {tuple(size for at, size in enumerate(shape[:_SPATIAL]) if at != axis) for shape in bottoms}
    return len(heads) == 1 and len({shape[_SPATIAL:] for shape in bottoms}) > 1


def _branch(graph: OpGraph, node: NodeId, bottom: int, shapes: Mapping[NodeId, Any]) -> list[_Step]:
    """Return what changes the size on the way to a bottom, the nearest first, as far up as nothing else reads it."""
    steps: list[_Step] = []
    while len(steps) < _DEEPEST:
        edges = [edge for edge in graph.edges_in(node) if edge.bottom == bottom]
        sources = {edge.source for edge in edges}
        if len(sources) != 1:
            break
        (source,) = sources
        above = graph.node(source)
        readers = {(edge.target, edge.bottom) for edge in graph.edges_out(source)}
        if len(readers) != 1 or len(above.bottoms) != 1 or above.version == 0:
            break
        node, bottom = source, 0
        if above.type in _KEEP_SIZE:
            continue
        step = _step(graph, above, shapes)
        if step is None:
            break
        steps.append(step)
    return steps


def _step(graph: OpGraph, node: Node, shapes: Mapping[NodeId, Any]) -> _Step | None:
    param = _PARAMS.get(node.type)
    known: Sequence[Shape | None] = getattr(shapes.get(node.id), "bottoms", ())
    shape = known[0] if known else None
    if param is None or shape is None or len(shape) != _SPATIAL + 2:
        return None
    if any(graph.count(node.id, (param, name)) for name in ("global_pooling", "axis", "ceil_mode")):
        return None
    window = read_window(graph, node, param, shape[_SPATIAL:])
    floor = graph.value(node.id, (param, "round_mode")) in ("FLOOR", "1")
    return None if window is None else _Step(node, window, floor)


def _of_branch(
    graph: OpGraph, steps: Sequence[_Step], target: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], QuickFix]]:
    """Go through the changes of the layers of a branch that give it a size."""
    for place, step in enumerate(steps):
        for change in _changes(graph, step):
            sizes = change.step.output(step.window.sizes)
            for below in reversed(steps[:place]):
                sizes = below.output(sizes) if min(sizes) > 0 else sizes
            if sizes == target:
                yield (*change.rank[:2], place, *change.rank[2:]), _fix(step, change, target)


def _changes(graph: OpGraph, step: _Step) -> Iterator[_Change]:
    """Go through all values that a setting of a step may have in place of its own, one setting at a time."""
    window, pools = step.window, step.node.type == "Pooling"
    own = {"pad": window.pad, "stride": window.stride, "kernel_size": window.kernel}
    values = {
        "pad": range(min(window.kernel) if pools else max(window.kernel)),
        "stride": _STRIDES,
        "kernel_size": range(max(window.pad) + 1 if pools else 1, _LARGEST_KERNEL + 1),
    }
    for rank, (field, choices) in enumerate(values.items()):
        name = field.removesuffix("_size")
        for value in choices:
            axes = (value,) * len(window.sizes)
            if axes == own[field]:
                continue
            changed = replace(step, window=_with(window, name, axes))
            pairs = zip(window.sizes, changed.window.stride, strict=True)
            keeps = changed.output(window.sizes) == tuple(math.ceil(size / stride) for size, stride in pairs)
            if field != "pad" and not keeps:
                continue  # of the numbers that happen to fit, nobody means one that cuts the edges off
            yield _Change(changed, field, (2 * rank, int(not keeps), abs(value - own[field][0])))
    if pools and graph.value(step.node.id, ("pooling_param", "pool")) != "STOCHASTIC":
        yield _Change(replace(step, floor=not step.floor), "round_mode", (1, 0, 0))


def _with(window: Window, name: str, axes: tuple[int, ...]) -> Window:
    if name == "pad":
        return replace(window, pad=axes)
    return replace(window, stride=axes) if name == "stride" else replace(window, kernel=axes)


def _fix(step: _Step, change: _Change, target: tuple[int, ...]) -> QuickFix:
    name, new = step.node.name, change.step
    so = f", so that all are {' x '.join(map(str, target))}"
    if change.field == "round_mode":
        words = "down" if new.floor else "up"
        return QuickFix(f"Have '{name}' round its size {words}{so}", partial(_round, step.node.id, new.floor))
    before, after = (
        {"pad": each.pad, "stride": each.stride, "kernel_size": each.kernel}[change.field]
        for each in (step.window, new.window)
    )
    what = {"pad": "pad", "stride": "stride", "kernel_size": "kernel"}[change.field]
    label = f"Make the {what} of '{name}' {values_words(after)} in place of {values_words(before)}{so}"
    return QuickFix(label, partial(_write, step.node.id, step.window.param, change.field, after))


def _round(node: NodeId, down: bool, graph: OpGraph) -> None:
    graph.set_field(node, ("pooling_param", "round_mode"), "FLOOR" if down else "CEIL")


def _write(node: NodeId, param: str, field: str, values: Sequence[int], graph: OpGraph) -> None:
    write_values(graph, node, param, field, values, max)
