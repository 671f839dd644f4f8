"""What is wrong with a document, told live: ``diagnose(graph)``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.diagnostics.fields import SchemaMemo, check_files, check_schema
from engine.diagnostics.layers import TypeRegistry, check_formats, check_layers, check_loss
from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.diagnostics.wiring import check_wiring
from engine.graph import NodeId, OpGraph
from engine.schema import Schema

__all__ = ["Diagnostic", "QuickFix", "SchemaMemo", "Severity", "TypeRegistry", "diagnose"]

_RANK = {"error": 0, "warning": 1, "info": 2}


def diagnose(
    graph: OpGraph,
    *,
    schema: Schema | None = None,
    registry: TypeRegistry | None = None,
    shapes: Mapping[NodeId, Any] | None = None,
    folder: Path | None = None,
    memo: SchemaMemo | None = None,
) -> list[Diagnostic]:
    """Say what is wrong or doubtful, the worst first, then in document order.

    Parameters
    ----------
    graph : OpGraph
        The document.
    schema : Schema, optional
        Fields and their values; BVLC's when left out.
    registry : TypeRegistry, optional
        Known layer types; without one, types and numbers of ports are not checked.
    shapes : mapping of NodeId to NodeShapes, optional
        What the shape service found; its errors are passed on.
    folder : Path, optional
        Folder of the document; with it, the files that the net names are looked for. Nothing is opened.
    memo : SchemaMemo, optional
        Keep one for each document: layers whose text is unchanged are then not read again.
    """
    found = list(_check(graph, schema, registry, shapes or {}, folder, memo or SchemaMemo()))
    return sorted(found, key=lambda each: (_RANK[each.severity], each.line, each.column))


def _check(
    graph: OpGraph,
    schema: Schema | None,
    registry: TypeRegistry | None,
    shapes: Mapping[NodeId, Any],
    folder: Path | None,
    memo: SchemaMemo,
) -> Iterator[Diagnostic]:
    for problem in graph.problems:
        node = graph.node_at(problem.line)
        yield Diagnostic("syntax", "error", problem.message, problem.line, problem.column, node, (), problem.hint)
    yield from check_wiring(graph)
    yield from check_layers(graph, registry)
    yield from check_formats(graph)
    yield from check_loss(graph)
    broken = {problem.line for problem in graph.problems}
    yield from (each for each in check_schema(graph, schema, memo) if each.line not in broken)
    if folder is not None:
        yield from check_files(graph, folder)
    for node, outcome in shapes.items():
        error = getattr(outcome, "error", None)
        if error is not None and node in graph:
            message = getattr(error, "message", str(error))
            step = getattr(error, "next_step", "")
            yield Diagnostic("shape", "error", message, graph.node(node).line, 1, node, (), step)
