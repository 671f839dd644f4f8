"""``netcanvas check``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from engine import prototxt
from engine.cli.dialect import choose_schema
from engine.cli.output import Output
from engine.diagnostics import Diagnostic, check_fields, check_solver, diagnose, for_run
from engine.errors import DataError, FileFormatError, NetcanvasError, PrototxtError, SolverError, UnknownLayerTypeError
from engine.graph import NodeId, OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.registry import LayerRegistry, default_registry
from engine.schema import FileKind, describe_kind, find_dialect, sniff
from engine.shapes import NodeShapes, ShapeService, graph_layers
from engine.solvers import check_settings

__all__ = ["run"]

Finding: TypeAlias = tuple[Path, Diagnostic]  # the file that is at fault, which may be the net that a solver names

_NETS = frozenset({FileKind.NET_TEXT, FileKind.TEXT})


def run(options: argparse.Namespace) -> int:
    """Print the faults of files; return 1 if one is an error."""
    dialect: str | None = options.dialect
    if dialect is not None:
        find_dialect(dialect)
    registry = default_registry()
    with InspectionClient() as client:
        service = ShapeService(registry=registry, client=client)
        check_net = partial(_check_net, registry=registry, service=service, trusted=options.trust, dialect=dialect)
        check_file = partial(_check_file, check_net=check_net, dialect=dialect, together=options.files)
        findings = [finding for path in options.files for finding in check_file(path)]
    failed = any(each.severity == "error" for _, each in findings)
    if options.json:
        print(json.dumps([_as_json(path, each) for path, each in findings], indent=2))
    else:
        for path, each in findings:
            print(_line(path, each), flush=True)
        if not failed:
            Output.note(f"No errors in {len(options.files)} file{'s' if len(options.files) > 1 else ''}.")
    return 1 if failed else 0


def _check_file(
    path: Path,
    check_net: Callable[[bytes, Path], list[Diagnostic]],
    dialect: str | None,
    together: Sequence[Path],
) -> list[Finding]:
    try:
        data = path.read_bytes()
        kind = sniff(data)
        if kind is FileKind.SOLVER_TEXT:
            return [(path, each) for each in _check_solver(data, path, dialect, together)]
        if kind in _NETS:
            return [(path, each) for each in check_net(data, path.parent)]
        looks_like, step = describe_kind(data)
        fault = f"Expected a net or solver in prototxt, but this looks like {looks_like}."
        return [(path, Diagnostic("file", "error", fault, next_step=step))]
    except OSError as error:
        fault = f"The file cannot be read: {error.strerror}."
        return [(path, Diagnostic("file", "error", fault, next_step="Check the path."))]
    except PrototxtError as error:
        place = Path(error.source) if error.source else path
        fault = error.message
        return [(place, Diagnostic("syntax", "error", fault, error.line, error.column, next_step=error.next_step))]
    except NetcanvasError as error:
        code = "file" if isinstance(error, FileFormatError) else "solver"
        return [(path, Diagnostic(code, "error", error.message, next_step=error.next_step))]


def _check_solver(data: bytes, path: Path, dialect: str | None, together: Sequence[Path]) -> Iterator[Diagnostic]:
    """Find faults of a solver's text; only where there are none, those of its settings and of the net it names."""
    tree = prototxt.parse(data)
    schema, guessed = choose_schema(tree, "SolverParameter", dialect)
    yield from _told_dialect(guessed)
    for fault in tree.problems:
        yield Diagnostic("syntax", "error", fault.message, fault.line, fault.column, next_step=fault.hint)
    told = {fault.line for fault in tree.problems}
    faults = for_run(check_fields(tree.root, "SolverParameter", schema))
    yield from (each for each in sorted(faults, key=lambda each: (each.line, each.column)) if each.line not in told)
    if tree.problems or faults:
        return
    strangers = check_solver(data, path, [each for each in together if _is_net(each)])
    yield from strangers
    try:
        check_settings(path)
    except SolverError as error:
        if error.message not in [each.message for each in strangers]:
            yield Diagnostic("solver", "error", error.message, next_step=error.next_step)


def _is_net(path: Path) -> bool:
    try:
        return sniff(path.read_bytes()) in _NETS
    except OSError:
        return False


def _check_net(
    data: bytes, folder: Path, *, registry: LayerRegistry, service: ShapeService, trusted: bool, dialect: str | None
) -> list[Diagnostic]:
    graph = OpGraph.parse(data)
    schema, guessed = choose_schema(graph.tree, "NetParameter", dialect)
    layers = graph_layers(graph)
    known: dict[NodeId, NodeShapes] = {}
    for phase in (Phase.TEST, Phase.TRAIN):
        found = service.infer(layers, phase, base_dirs=search_folders(folder), trusted=trusted)
        for node, shapes in cast(dict[NodeId, NodeShapes], found).items():
            # Missing data and unknown types have rules of their own; without its data, a net itself may be right.
            excused = isinstance(shapes.error, (DataError, UnknownLayerTypeError))
            if not excused and (shapes.error is not None or known.get(node, shapes).error is None):
                known[node] = shapes
    told = diagnose(graph, schema=schema, registry=registry, shapes=known, folder=folder)
    return [*_told_dialect(guessed), *for_run(told)]


def _told_dialect(guessed: str) -> Iterator[Diagnostic]:
    if guessed:
        yield Diagnostic("dialect", "info", guessed, next_step="Name another with --dialect.")


def _line(path: Path, each: Diagnostic) -> str:
    place = f"{path}:{each.line or 1}:{each.column or 1}"
    return f"{place}: {each.severity}: {each.message} {each.next_step}".rstrip() + f" [{each.code}]"


def _as_json(path: Path, each: Diagnostic) -> dict[str, Any]:
    return {
        "file": str(path),
        "line": each.line,
        "column": each.column,
        "severity": each.severity,
        "code": each.code,
        "message": each.message,
        "next_step": each.next_step,
    }
