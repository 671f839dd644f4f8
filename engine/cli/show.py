"""``netcanvas show``."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.blob import Shape
from engine.cli.dialect import choose_schema
from engine.cli.measuring import Measured, assumed_words, measure, memory_words, shape_words
from engine.cli.output import Output
from engine.cli.tables import table
from engine.cost import VALUE_BYTES, LayerCost, NetCost
from engine.export.deploy import made_outputs
from engine.graph import DEPLOY, Node, View
from engine.node_shapes import NodeShapes, needs_assumption
from engine.paths import search_folders
from engine.registry import default_registry
from engine.shape_guesses import guesses_for
from engine.shapes import graph_layers

__all__ = ["run"]

_HEAD = ("layer", "type", "tops", "parameters", "multiply-adds", "memory")


def run(options: argparse.Namespace) -> int:
    """Print the layers of a net with shapes and costs; return the exit code."""
    path: Path = options.file
    net = measure(path, options)
    facts = [(node, net.shapes[node.id], net.costs[node.id]) for node in net.nodes]
    lines = [
        *table([_HEAD, *(_row(*fact) for fact in facts)], words=3),
        "",
        *_totals(net.total, len(net.nodes), net.view),
    ]
    lines += [*net.notes, *assumed_words(net.nodes, net.shapes)]
    made = made_outputs(net.graph, net.view) if net.view.show == DEPLOY else []
    if made:
        lines.append(f"as the file has it; netcanvas export --phase deploy also makes {' and '.join(made)}")
    unknown = net.unknown
    schema, guessed = choose_schema(net.graph.tree, "NetParameter", options.dialect, path=path)
    if unknown:
        reason = net.shapes[unknown[0].id].reason
        lines.append(f"not counted, because shapes are not known: {len(unknown)} of {len(facts)} layers: {reason}")
        lines += [*_likely(net, path), *([guessed] if guessed else [])]
    result = {
        "file": str(path),
        "name": net.graph.net_name,
        "phase": str(net.phase),
        "view": net.view.words,
        "dialect": schema.dialect,
        "layers": [_as_json(*fact) for fact in facts],
        "total": asdict(net.total),
        "notes": list(net.notes),
    }
    Output(quiet=options.quiet, as_json=options.json).result(lines, result)
    return 0


def _likely(net: Measured, path: Path) -> list[str]:
    """Return what could be assumed of data, or of code, that are not here, as options of the command line."""
    options = []
    specs = {spec.node_id: spec for spec in graph_layers(net.graph)}
    registry = default_registry(search_folders(path.parent), trusted=False)
    weights = path if net.notes else None
    for node in net.unknown:
        if node.id in specs and needs_assumption(net.shapes[node.id]):
            spec = specs[node.id]
            guesses = guesses_for(
                spec,
                net.graph.net_name,
                path,
                registry=registry,
                specs=list(specs.values()),
                weights=weights,
                bottoms=net.shapes[node.id].bottoms,
            )
            for blob, shape in guesses[0].shapes.items() if guesses else ():
                options.append(f"--input-shape {blob}={','.join(map(str, shape))}")
    return [f"to count with a shape that is only assumed: {' '.join(options)}"] if options else []


def _row(node: Node, shapes: NodeShapes, cost: LayerCost) -> tuple[str, ...]:
    tops = [f"{blob} {shape_words(shape)}" for blob, shape in zip(node.tops, shapes.tops, strict=False)]
    numbers = (f"{cost.parameters:,}", f"{cost.multiply_adds:,}", memory_words(VALUE_BYTES * cost.activations))
    return (node.name, node.type, ", ".join(tops), *("" if text in ("0", "0 B") else text for text in numbers))


def _totals(total: NetCost, layers: int, view: View) -> list[str]:
    return [
        f"{layers} layers {_in_words(view)}",
        f"parameters: {total.parameters:,}",
        f"multiply-adds of a forward pass: {total.multiply_adds:,}",
        f"memory for inference: {memory_words(total.inference)} (weights {memory_words(total.weights)}, "
        f"blobs {memory_words(total.activations)})",
        f"memory for training: {memory_words(total.training)} (with gradients and the solver's history)",
    ]


def _in_words(view: View) -> str:
    return f"of the {view.words} net" if view.show == DEPLOY else f"in phase {view.words}"


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
        "assumed": shapes.assumed,
        **asdict(cost),
    }


def _blob(name: str, shape: Shape | None) -> dict[str, Any]:
    return {"name": name, "shape": None if shape is None else list(shape)}
