"""The window of a filter or a pooling, as the text of a layer has it: read, and written in the way it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.graph import Node, NodeId, OpGraph

__all__ = ["Window", "numbers", "read_window", "values_words", "write_values"]


@dataclass(frozen=True, slots=True)
class Window:
    """The fields of a filter or pooling window, a value for each spatial axis."""

    param: str
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]

    def axes(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Return size, kernel, stride, pad and dilation of each axis."""
        return zip(self.sizes, self.kernel, self.stride, self.pad, self.dilation, strict=True)


def read_window(graph: OpGraph, node: Node, param: str, sizes: Sequence[int]) -> Window | None:
    """Read a window; None where a field is missing or cannot be understood."""
    axes = len(sizes)
    found = [
        _spread(graph, node.id, param, name, axes, default)
        for name, default in (("kernel_size", None), ("stride", 1), ("pad", 0), ("dilation", 1))
    ]
    if not axes or any(values is None or min(values) < 0 for values in found):
        return None
    kernel, stride, pad, dilation = (tuple(values or ()) for values in found)
    return Window(param, tuple(sizes), kernel, stride, pad, dilation) if min(kernel + stride + dilation) > 0 else None


def _spread(
    graph: OpGraph, node: NodeId, param: str, name: str, axes: int, default: int | None
) -> tuple[int, ...] | None:
    stem = name.partition("_")[0]
    pair = [numbers(graph, node, (param, f"{stem}_{side}")) for side in "hw"]
    if any(pair):
        return tuple(values[-1] for values in pair if values) if all(pair) and axes == 2 else None
    values = numbers(graph, node, (param, name))
    if not values:
        return None if default is None else (default,) * axes
    return tuple(values) * axes if len(values) == 1 else tuple(values) if len(values) == axes else None


def numbers(graph: OpGraph, node: NodeId, path: tuple[str, ...]) -> list[int]:
    """Return the values of a repeated field as numbers; nothing where one is none."""
    texts = [graph.value(node, (*path, index)) for index in range(graph.count(node, path))]
    try:
        return [int(text or "", 0) for text in texts]
    except ValueError:
        return []


def write_values(
    graph: OpGraph, node: NodeId, param: str, name: str, values: Sequence[int], one: Callable[[Sequence[int]], int]
) -> None:
    """Write a value for each axis in the way that the field is written; ``one`` chooses where there is a single one."""
    stem = name.partition("_")[0]
    if graph.count(node, (param, f"{stem}_h")):
        for side, value in zip("hw", values, strict=True):
            graph.set_field(node, (param, f"{stem}_{side}"), str(value))
    elif graph.count(node, (param, name)) > 1:
        for index, value in enumerate(values):
            graph.set_field(node, (param, name, index), str(value))
    else:
        graph.set_field(node, (param, name), str(one(values)))


def values_words(values: Sequence[int]) -> str:
    """Return a value for each axis as people read it; one where all are the same."""
    return str(values[0]) if len(set(values)) == 1 else " x ".join(map(str, values))
