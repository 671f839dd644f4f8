"""``netcanvas show``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.blob import Shape
from engine.cli.output import Output
from engine.cost import VALUE_BYTES, LayerCost, NetCost, layer_cost, net_cost
from engine.errors import FileFormatError
from engine.graph import Node, NodeId, OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.registry import default_registry
from engine.schema import FileKind, describe_kind, sniff
from engine.shapes import NodeShapes, ShapeService, graph_layers

__all__ = ["run"]

_HEAD = ("layer", "type", "tops", "parameters", "multiply-adds", "memory")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def run(options: argparse.Namespace) -> int:
    """Print the layers of a net with shapes and costs; return the exit code."""
    path: Path = options.file
    data = path.read_bytes()
    if sniff(data) not in (FileKind.NET_TEXT, FileKind.TEXT):
        looks_like, step = describe_kind(data)
        raise FileFormatError(f"Expected a net in prototxt, but '{path}' looks like {looks_like}.", next_step=step)
    graph = OpGraph.parse(data)
    phase = Phase[options.phase.upper()]
    shapes = _shapes(graph, phase, options, path.parent)
    nodes = [node for node in graph.nodes() if node.id in shapes]
    costs = [layer_cost(node.type, shapes[node.id], node.in_place) for node in nodes]
    total = net_cost(costs, _shared(graph, nodes, shapes))
    rows = [_row(node, shapes[node.id], cost) for node, cost in zip(nodes, costs, strict=True)]
    unknown = [node for node in nodes if shapes[node.id].state != "known"]
    lines = _table([_HEAD, *rows]) + _totals(total, len(nodes), str(phase))
    if unknown:
        reason = shapes[unknown[0].id].reason
        lines.append(f"not counted, because shapes are not known: {len(unknown)} of {len(nodes)} layers: {reason}")
    layers = [_as_json(node, shapes[node.id], cost) for node, cost in zip(nodes, costs, strict=True)]
    result = {"file": str(path), "name": graph.net_name, "phase": str(phase), "layers": layers, "total": asdict(total)}
    Output(as_json=options.json).result(lines, result)
    return 0


def _shapes(graph: OpGraph, phase: Phase, options: argparse.Namespace, folder: Path) -> Mapping[NodeId, NodeShapes]:
    stages = tuple(filter(None, options.stage.split(",")))
    with InspectionClient() as client:
        service = ShapeService(registry=default_registry(), client=client)
        found = service.infer(
            graph_layers(graph),
            phase,
            base_dirs=search_folders(folder),
            trusted=options.trust,
            level=options.level,
            stages=stages,
        )
    return {node: found[node] for node in graph.node_ids() if node in found}


def _shared(graph: OpGraph, nodes: list[Node], shapes: Mapping[NodeId, NodeShapes]) -> int:
    """Return how many values belong to parameters that an earlier layer has under the same name."""
    seen: set[str] = set()
    shared = 0
    for node in nodes:
        if not node.virtual:
            for param, shape in zip(graph.layer_message(node.id).param, shapes[node.id].params, strict=False):
                if param.name in seen:
                    shared += math.prod(shape)
                elif param.name:
                    seen.add(param.name)
    return shared


def _row(node: Node, shapes: NodeShapes, cost: LayerCost) -> tuple[str, ...]:
    tops = [f"{blob} {_shape(shape)}" for blob, shape in zip(node.tops, shapes.tops, strict=False)]
    numbers = (f"{cost.parameters:,}", f"{cost.multiply_adds:,}", _bytes(VALUE_BYTES * cost.activations))
    return (node.name, node.type, ", ".join(tops), *("" if text in ("0", "0 B") else text for text in numbers))


def _shape(shape: Shape | None) -> str:
    return "?" if shape is None else f"({' x '.join(map(str, shape))})"


def _bytes(count: float) -> str:
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}" if not unit else f"{count:.1f} {_UNITS[unit]}"


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
        f"memory for inference: {_bytes(total.inference)} (weights {_bytes(total.weights)}, "
        f"blobs {_bytes(total.activations)})",
        f"memory for training: {_bytes(total.training)} (with gradients and the solver's history)",
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
