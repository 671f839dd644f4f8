"""``netcanvas show``."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.blob import Shape
from engine.cli.dialect import choose_schema
from engine.cli.measuring import measure, memory_words, shape_words
from engine.cli.output import Output
from engine.cost import VALUE_BYTES, LayerCost, NetCost
from engine.graph import Node
from engine.shapes import NodeShapes

__all__ = ["run"]

_HEAD = ("layer", "type", "tops", "parameters", "multiply-adds", "memory")


def run(options: argparse.Namespace) -> int:
    """Print the layers of a net with shapes and costs; return the exit code."""
    path: Path = options.file
    net = measure(path, options)
    facts = [(node, net.shapes[node.id], net.costs[node.id]) for node in net.nodes]
    lines = _table([_HEAD, *(_row(*fact) for fact in facts)]) + _totals(net.total, len(net.nodes), str(net.phase))
    unknown = net.unknown
    schema, guessed = choose_schema(net.graph.tree, "NetParameter")
    if unknown:
        reason = net.shapes[unknown[0].id].reason
        lines.append(f"not counted, because shapes are not known: {len(unknown)} of {len(facts)} layers: {reason}")
        lines += [guessed] if guessed else []
    result = {
        "file": str(path),
        "name": net.graph.net_name,
        "phase": str(net.phase),
        "dialect": schema.dialect,
        "layers": [_as_json(*fact) for fact in facts],
        "total": asdict(net.total),
    }
    Output(as_json=options.json).result(lines, result)
    return 0


def _row(node: Node, shapes: NodeShapes, cost: LayerCost) -> tuple[str, ...]:
    tops = [f"{blob} {shape_words(shape)}" for blob, shape in zip(node.tops, shapes.tops, strict=False)]
    numbers = (f"{cost.parameters:,}", f"{cost.multiply_adds:,}", memory_words(VALUE_BYTES * cost.activations))
    return (node.name, node.type, ", ".join(tops), *("" if text in ("0", "0 B") else text for text in numbers))


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = []
    for row in rows:
        words = [text.ljust(width) for text, width in zip(row[:3], widths[:3], strict=True)]
        numbers = [text.rjust(width) for text, width in zip(row[3:], widths[3:], strict=True)]
        lines.append("  ".join(words + numbers).rstrip())
    return [*lines, ""]


def _totals(total: NetCost, layers: int, phase: str) -> list[str]:
    return [
        f"{layers} layers in phase {phase}",
        f"parameters: {total.parameters:,}",
        f"multiply-adds of a forward pass: {total.multiply_adds:,}",
        f"memory for inference: {memory_words(total.inference)} (weights {memory_words(total.weights)}, "
        f"blobs {memory_words(total.activations)})",
        f"memory for training: {memory_words(total.training)} (with gradients and the solver's history)",
    ]


def _as_json(node: Node, shapes: NodeShapes, cost: LayerCost) -> dict[str, Any]:
    return {
        "name": node.name,
        "type": node.type,
        "line": node.line,
        "bottoms": [_blob(*pair) for pair in zip(node.bottoms, shapes.bottoms, strict=False)],
        "tops": [_blob(*pair) for pair in zip(node.tops, shapes.tops, strict=False)],
        "parameter_shapes": [list(shape) for shape in shapes.params],
        "state": shapes.state,
        "reason": shapes.reason,
        **asdict(cost),
    }


def _blob(name: str, shape: Shape | None) -> dict[str, Any]:
    return {"name": name, "shape": None if shape is None else list(shape)}
