"""Rules about what the layers themselves said when their shapes were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from engine.diagnostics.ports import surplus
from engine.diagnostics.records import Diagnostic
from engine.errors import ShapeError, SurplusError
from engine.graph import Node, NodeId, OpGraph, Path

__all__ = ["UNSHAPED", "check_shapes"]

#: Codes of what is told in better words than a layer that was not set up for it has.
UNSHAPED = frozenset({"bottoms-count", "tops-count", "type-missing", "type-not-offered", "type-unknown"})


def check_shapes(
    graph: OpGraph, shapes: Mapping[NodeId, Any], registry: Any, told: Set[NodeId] = frozenset()
) -> Iterator[Diagnostic]:
    """Pass on the faults of layers; labels that do not fit their scores have a code of their own.

    Of layers that are ``told`` of already, as :data:`UNSHAPED` has it, nothing is passed on.
    """
    for node_id, outcome in shapes.items():
        if node_id in graph:
            for warning in getattr(outcome, "warnings", ()):
                yield Diagnostic("plugin-patches", "warning", warning, graph.node(node_id).line, 1, node_id)
        error = getattr(outcome, "error", None)
        if error is None or node_id not in graph or node_id in told:
            continue
        node = graph.node(node_id)
        if isinstance(error, SurplusError) and graph.count(node_id, (error.field,)) > error.most:
            yield surplus(graph, node, error.field, error.most, error.message)
            continue
        message, step = getattr(error, "message", str(error)), getattr(error, "next_step", "")
        path = _labels(node, error, registry)
        code = "label-count" if path else "shape"
        line, column = graph.place(node_id, path) if path else (node.line, 1)
        yield Diagnostic(code, "error", message, line, column, node_id, path, step)


def _labels(node: Node, error: Any, registry: Any) -> Path:
    """Return the path of the bottom whose labels are at fault; nothing where it is something else."""
    _, _, index = getattr(error, "port", "").partition("bottom ")
    info = getattr(registry, "info", lambda _: None)(node.type)
    ports = getattr(info, "bottoms", ())
    if not isinstance(error, ShapeError) or not index.isdigit() or int(index) >= len(ports):
        return ()
    return ("bottom", int(index)) if ports[int(index)].startswith("label") else ()
