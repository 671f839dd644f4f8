"""How a document is diagnosed: at once, or in slices between which a window stays alive."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.diagnostics.assumptions import check_assumed, offer_assumptions
from engine.diagnostics.data_fields import check_data_fields
from engine.diagnostics.fields import (
    FIELD_CODES,
    FIELD_NOT_OFFERED,
    check_files,
    check_net_fields,
    check_schema,
)
from engine.diagnostics.layers import (
    NOT_OFFERED,
    TypeRegistry,
    check_formats,
    check_layer,
    check_loss,
    one_of_a_kind,
)
from engine.diagnostics.learning import check_in_place, check_loss_weight, check_sharing, destroying
from engine.diagnostics.memo import SchemaMemo
from engine.diagnostics.param_strs import ParamSchemas, check_param_strs
from engine.diagnostics.plugins import check_modules
from engine.diagnostics.records import Diagnostic
from engine.diagnostics.shapes import UNSHAPED, check_shapes
from engine.diagnostics.views import within
from engine.diagnostics.wiring import check_wiring
from engine.errors import DataError
from engine.graph import GraphView, Node, NodeId, OpGraph
from engine.schema import Schema
from engine.shape_guesses import Guess

__all__ = ["Diagnosis", "diagnose", "for_run"]

_RANK = {"error": 0, "warning": 1, "info": 2}
# What a document may hold, shown and saved as it is, and a run refuses.
_REFUSED = frozenset({"field-unknown", "word-unknown", FIELD_NOT_OFFERED, "type-unknown", NOT_OFFERED})
_TOLD_ONCE = frozenset({FIELD_NOT_OFFERED, NOT_OFFERED})


def diagnose(
    graph: OpGraph,
    *,
    schema: Schema | None = None,
    registry: TypeRegistry | None = None,
    shapes: Mapping[NodeId, Any] | None = None,
    folder: Path | None = None,
    memo: SchemaMemo | None = None,
    view: GraphView | None = None,
    param_schemas: ParamSchemas | None = None,
    missing: Set[str] = frozenset(),
    guesses: Mapping[NodeId, Sequence[Guess]] | None = None,
) -> list[Diagnostic]:
    """Say what is wrong or doubtful, the worst first, then in document order.

    Fields, words and layer types that are not known are warnings: another Caffe may know them. See :func:`for_run`.

    Parameters
    ----------
    graph : OpGraph
        The document.
    schema : Schema, optional
        Fields and their values, of the document's dialect; BVLC's when left out.
    registry : TypeRegistry, optional
        Known layer types; without one, types and numbers of ports are not checked.
    shapes : mapping of NodeId to NodeShapes, optional
        What the shape service found; its errors are passed on.
    folder : Path, optional
        Folder of the document; with it, the files that the net names are looked for. Nothing is opened.
    memo : SchemaMemo, optional
        Keep one for each document: layers that no edit concerns are then not looked at again.
    view : GraphView, optional
        Tell only of this net of the document; of all without one.
    param_schemas : mapping, optional
        What the ``param_str`` of plugins' Python layers may hold, by module and class.
    missing : set of str, optional
        Modules of Python layers that were looked for and are nowhere.
    guesses : mapping of NodeId to sequence of Guess, optional
        What may be assumed of layers whose data are not there; that is then offered.
    """
    whole = Diagnosis(
        graph,
        schema=schema,
        registry=registry,
        shapes=shapes,
        folder=folder,
        memo=memo,
        view=view,
        param_schemas=param_schemas,
        missing=missing,
        guesses=guesses,
    )
    whole.work(math.inf)
    return whole.found


class Diagnosis:
    """A diagnosis that is made in slices; parameters are those of :func:`diagnose`.

    It tells of the document as it is when it begins: after an edit it must not go on, but be made anew, which costs
    only what was not looked at before if the two have the ``memo`` in common.

    Attributes
    ----------
    found : list of Diagnostic
        What :func:`diagnose` returns; complete when :meth:`work` has said so.
    """

    def __init__(
        self,
        graph: OpGraph,
        *,
        schema: Schema | None = None,
        registry: TypeRegistry | None = None,
        shapes: Mapping[NodeId, Any] | None = None,
        folder: Path | None = None,
        memo: SchemaMemo | None = None,
        view: GraphView | None = None,
        param_schemas: ParamSchemas | None = None,
        missing: Set[str] = frozenset(),
        guesses: Mapping[NodeId, Sequence[Guess]] | None = None,
    ) -> None:
        self.found: list[Diagnostic] = []
        self._graph = graph
        self._serial = graph.serial
        self._view = view
        self._shapes = shapes or {}
        known = memo or SchemaMemo()
        self._steps = _check(graph, schema, registry, shapes or {}, folder, known, param_schemas or {}, missing)
        self._guesses = guesses or {}

    @property
    def is_stale(self) -> bool:
        """Whether the document was edited since it began."""
        return self._graph.serial != self._serial

    def work(self, seconds: float) -> bool:
        """Go on for a while; return whether all is found.

        Raises
        ------
        RuntimeError
            If the document was edited since it began.
        """
        if self.is_stale:
            raise RuntimeError("the document was edited during its diagnosis")
        until = time.perf_counter() + seconds
        for each in self._steps:
            if each is not None:
                self.found.append(each)
            if time.perf_counter() > until:
                return False
        found = self.found if self._view is None else within(self.found, self._graph, self._view)
        self.found = sorted(offer_assumptions(self._graph, found, self._shapes, self._guesses), key=_rank)
        return True


def for_run(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Judge what was found as a run does: it refuses what is not known, so that this is an error and no warning."""
    judged = (replace(each, severity="error") if each.code in _REFUSED else each for each in found)
    return sorted(judged, key=_rank)


def _rank(found: Diagnostic) -> tuple[int, int, int]:
    return _RANK[found.severity], found.line, found.column


def _check(
    graph: OpGraph,
    schema: Schema | None,
    registry: TypeRegistry | None,
    shapes: Mapping[NodeId, Any],
    folder: Path | None,
    memo: SchemaMemo,
    param_schemas: ParamSchemas,
    missing: Set[str],
) -> Iterator[Diagnostic | None]:
    """Go through all rules; None between two layers, where a slice may end."""
    problems = graph.problems
    for problem in problems:
        node = graph.node_at(problem.line)
        yield Diagnostic("syntax", "error", problem.message, problem.line, problem.column, node, (), problem.hint)
    broken = {problem.line for problem in problems}
    known = frozenset(registry.types()) if registry is not None else frozenset()
    not_offered: list[Diagnostic] = []
    misshapen: set[NodeId] = set()
    yield from memo.take_in(graph, schema, registry, known, graph.states)
    for node in memo.due(graph):
        found = [*_check_node(graph, graph.node(node), schema, registry, known, memo)]
        memo.looked_at(node, sound=not found)
        sound = [each for each in found if not (each.code in FIELD_CODES and each.line in broken)]
        not_offered += (each for each in sound if each.code in _TOLD_ONCE)
        misshapen |= {node for each in found if each.code in UNSHAPED}
        yield from (each for each in sound if each.code not in _TOLD_ONCE)
        yield None
    yield from one_of_a_kind(graph, not_offered)
    if memo.old:
        yield from check_formats(graph, _first(graph, memo.old), _first(graph, memo.new))
    yield from check_loss(graph, None if memo.losses else _first(graph, memo.data))
    yield from (each for each in check_net_fields(graph, schema) if each.line not in broken)
    for each in check_files(graph, memo.files, folder) if folder is not None else ():
        yield each
        if each.node is not None and isinstance(getattr(shapes.get(each.node), "error", None), DataError):
            misshapen.add(each.node)  # it says the same, and a net without its data may be right
    yield from check_param_strs(graph, param_schemas)
    yield from check_modules(graph, missing, shapes)
    yield from check_shapes(graph, shapes, registry, misshapen)
    yield from check_assumed(graph, shapes)
    yield from check_sharing(graph, _in_order(graph, memo.sharing), shapes)
    yield from check_in_place(graph, _in_order(graph, destroying(memo.in_place, shapes)), shapes, memo.losses)


def _check_node(
    graph: OpGraph,
    node: Node,
    schema: Schema | None,
    registry: TypeRegistry | None,
    known: frozenset[str],
    memo: SchemaMemo,
) -> Iterator[Diagnostic]:
    yield from check_wiring(graph, node, memo.fed)
    unknown = False
    for each in check_layer(graph, node, registry, known):
        unknown = unknown or (each.code == "type-unknown" and node.version == 1)
        yield each
    yield from check_loss_weight(graph, node, memo.fed)
    yield from check_data_fields(graph, node)
    runs = registry is None or node.type in known
    for each in check_schema(graph, node.id, schema, memo.problems):
        if unknown and each.field == ("type",):
            continue  # the same of the old format's enum, in more words
        if runs or each.code != FIELD_NOT_OFFERED:  # of a type that is not offered, no field is either
            yield each


def _first(graph: OpGraph, nodes: Set[NodeId]) -> Node | None:
    """Return the node of some that stands first in the document, if there is any."""
    first = next((node for node in graph.node_ids() if node in nodes), None) if nodes else None
    return None if first is None else graph.node(first)


def _in_order(graph: OpGraph, nodes: Set[NodeId]) -> list[NodeId]:
    return sorted(nodes, key=lambda node: graph.node(node).ordinal)
