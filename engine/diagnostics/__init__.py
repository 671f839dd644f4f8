"""What is wrong with a document, told live: ``diagnose(graph)``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from engine.diagnostics.fields import FIELD_CODES, check_files, check_net_fields, check_schema
from engine.diagnostics.layers import (
    NOT_OFFERED,
    TypeRegistry,
    check_formats,
    check_layer,
    check_loss,
    one_of_a_type,
)
from engine.diagnostics.memo import SchemaMemo
from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.diagnostics.wiring import check_wiring
from engine.graph import Node, NodeId, OpGraph
from engine.schema import Schema

__all__ = ["Diagnostic", "QuickFix", "SchemaMemo", "Severity", "TypeRegistry", "diagnose"]

_NEWEST = 2
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
        Keep one for each document: layers that no edit concerns are then not looked at again.
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
    problems = graph.problems
    for problem in problems:
        node = graph.node_at(problem.line)
        yield Diagnostic("syntax", "error", problem.message, problem.line, problem.column, node, (), problem.hint)
    broken = {problem.line for problem in problems}
    known = frozenset(registry.types()) if registry is not None else frozenset()
    not_offered: list[Diagnostic] = []
    for node in memo.due(graph, schema, registry, known, graph.states):
        found = [*_check_node(graph, graph.node(node), schema, registry, known, memo)]
        (memo.noted.add if found else memo.noted.discard)(node)
        not_offered += (each for each in found if each.code == NOT_OFFERED)
        told = (each for each in found if each.code != NOT_OFFERED)
        yield from (each for each in told if not (each.code in FIELD_CODES and each.line in broken))
    yield from one_of_a_type(graph, not_offered)
    if memo.old:
        yield from check_formats(_first(graph, memo.old), _first(graph, memo.new))
    yield from check_loss(None if memo.losses else _first(graph, memo.data))
    yield from (each for each in check_net_fields(graph, schema) if each.line not in broken)
    if folder is not None:
        yield from check_files(graph, memo.files, folder)
    for node, outcome in shapes.items():
        error = getattr(outcome, "error", None)
        if error is not None and node in graph:
            message = getattr(error, "message", str(error))
            step = getattr(error, "next_step", "")
            yield Diagnostic("shape", "error", message, graph.node(node).line, 1, node, (), step)


def _check_node(
    graph: OpGraph,
    node: Node,
    schema: Schema | None,
    registry: TypeRegistry | None,
    known: frozenset[str],
    memo: SchemaMemo,
) -> Iterator[Diagnostic]:
    yield from check_wiring(graph, node, memo.fed)
    yield from check_layer(graph, node, registry, known)
    yield from check_schema(graph, node.id, schema, memo.problems)


def _first(graph: OpGraph, nodes: Set[NodeId]) -> Node | None:
    """Return the node of some that stands first in the document, if there is any."""
    first = next((node for node in graph.node_ids() if node in nodes), None) if nodes else None
    return None if first is None else graph.node(first)
