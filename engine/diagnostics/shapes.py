"""Rules about what the layers themselves said when their shapes were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any

from engine.diagnostics.ports import surplus
from engine.diagnostics.records import Diagnostic
from engine.diagnostics.shape_fixes import shape_fixes
from engine.errors import LayerError, ShapeError, SurplusError
from engine.graph import Node, NodeId, OpGraph, Path
from engine.prototxt import Message

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
        path = path or _path(graph, node, error)
        line, column = graph.place(node_id, path)
        fixes = shape_fixes(graph, node_id, shapes)
        fix = fixes[0] if fixes else None
        yield Diagnostic(code, "error", message, line, column, node_id, path, step, fix, more_fixes=fixes[1:])


def _path(graph: OpGraph, node: Node, error: Any) -> Path:
    """Return the path of the field that an error is about: the first that it names, else one of several ports."""
    if node.virtual or not isinstance(error, LayerError):
        return ()
    words = set(re.findall(r"\w+", error.detail))
    for field in graph.message(node.id):
        if isinstance(field.value, Message):
            for inner in field.value:
                if inner.name in words and graph.count(node.id, (field.name, inner.name)) == 1:
                    return (field.name, inner.name)
    what, _, index = error.port.partition(" ")
    ports = {"bottom": node.bottoms, "top": node.tops}.get(what, ())
    return (what, int(index)) if index.isdigit() and int(index) < len(ports) and len(ports) > 1 else ()


def _labels(node: Node, error: Any, registry: Any) -> Path:
    """Return the path of the bottom whose labels are at fault; nothing where it is something else."""
    _, _, index = getattr(error, "port", "").partition("bottom ")
    info = getattr(registry, "info", lambda _: None)(node.type)
    ports = getattr(info, "bottoms", ())
    if not isinstance(error, ShapeError) or not index.isdigit() or int(index) >= len(ports):
        return ()
    return ("bottom", int(index)) if ports[int(index)].startswith("label") else ()
