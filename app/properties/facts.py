"""What the header says about a layer: numbers and shapes as text."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from engine.cost import layer_cost, net_cost

if TYPE_CHECKING:
    from engine.graph import Node
    from engine.shapes import NodeShapes

__all__ = ["cost_rows", "count_text", "memory_text", "param_count", "param_text", "port_rows", "shape_text"]

_TIMES = "\u202f×\u202f"


def shape_text(shape: Sequence[int] | None) -> str:
    """Return a shape as ``64 × 1 × 28 × 28``; ``scalar`` for no dimensions, empty where it is not known."""
    if shape is None:
        return ""
    return _TIMES.join(str(size) for size in shape) if len(shape) else "scalar"


def count_text(count: int) -> str:
    """Return a number with thin spaces between groups of three digits."""
    return f"{count:,}".replace(",", "\u202f")


def param_count(shapes: NodeShapes | None) -> int | None:
    """Return how many parameters a layer has; None where that is not known."""
    if shapes is None or shapes.state == "unknown":
        return None
    return sum(prod(shape) for shape in shapes.params)


def param_text(shapes: NodeShapes | None) -> str:
    """Return the count of parameters and their shapes in one line; empty where it is not known."""
    count = param_count(shapes)
    if count is None or shapes is None:
        return ""
    parts = ", ".join(shape_text(shape) for shape in shapes.params)
    return f"{count_text(count)}  ({parts})" if parts else "none"


def port_rows(bottoms: Sequence[str], tops: Sequence[str], shapes: NodeShapes | None) -> list[tuple[str, str, str]]:
    """Return direction, blob and shape of each port, bottoms first."""
    rows = []
    known = shapes is not None and (shapes.state != "unknown" or bool(shapes.assumed))
    for direction, names, sizes in (
        ("in", bottoms, shapes.bottoms if shapes is not None else ()),
        ("out", tops, shapes.tops if shapes is not None and known else ()),
    ):
        for index, name in enumerate(names):
            size = sizes[index] if index < len(sizes) else None
            rows.append((direction, "not connected" if name == "?" else name, shape_text(size)))
    if shapes is not None and shapes.assumed:
        rows.append(("assumed", f"shape of '{shapes.assumed}'", "code not here" if shapes.absent else "data not here"))
    return rows


def cost_rows(node: Node, shapes: NodeShapes | None) -> list[tuple[str, str, str]]:
    """Return what a layer costs, as rows like those of :func:`port_rows`: work of a pass, and memory in training."""
    if shapes is None or shapes.state == "unknown":
        return []
    cost = layer_cost(node.type, shapes, node.in_place)
    rows = [("work", "multiply-adds", count_text(cost.multiply_adds))] if cost.multiply_adds else []
    memory = net_cost([cost]).training
    return [*rows, ("memory", "in training", memory_text(memory))] if memory else rows


def memory_text(count: float) -> str:
    """Return a number of bytes in three figures, with its unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g}\u202f{unit}"
        count /= 1024
    return f"{count:.3g}\u202fTB"
