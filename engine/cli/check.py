"""``netcanvas check``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from engine import prototxt
from engine.cli.output import Output
from engine.diagnostics import Diagnostic, diagnose
from engine.errors import DataError, FileFormatError, NetcanvasError, PrototxtError, UnknownLayerTypeError
from engine.graph import NodeId, OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.registry import LayerRegistry, default_registry
from engine.schema import FileKind, convert, describe_kind, sniff
from engine.shapes import NodeShapes, ShapeService, graph_layers
from engine.solvers import check_settings

__all__ = ["run"]

Finding: TypeAlias = tuple[Path, Diagnostic]  # the file that is at fault, which may be the net that a solver names

_NETS = frozenset({FileKind.NET_TEXT, FileKind.TEXT})
_CODES = {"unknown_field": "field-unknown", "duplicate_field": "field-repeated", "bad_value": "field-value"}


def run(options: argparse.Namespace) -> int:
    """Print the faults of files; return 1 if one is an error."""
    registry = default_registry()
    with InspectionClient() as client:
        service = ShapeService(registry=registry, client=client)
        check_net = partial(_check_net, registry=registry, service=service, trusted=options.trust)
        findings = [finding for path in options.files for finding in _check_file(path, check_net)]
    failed = any(each.severity == "error" for _, each in findings)
    if options.json:
        print(json.dumps([_as_json(path, each) for path, each in findings], indent=2))
    else:
        for path, each in findings:
            print(_line(path, each), flush=True)
        if not failed:
            Output.note(f"No errors in {len(options.files)} file{'s' if len(options.files) > 1 else ''}.")
    return 1 if failed else 0


def _check_file(path: Path, check_net: Callable[[bytes, Path], list[Diagnostic]]) -> list[Finding]:
    try:
        data = path.read_bytes()
        kind = sniff(data)
        if kind is FileKind.SOLVER_TEXT:
            return [(path, each) for each in _check_solver(data, path)]
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


def _check_solver(data: bytes, path: Path) -> Iterator[Diagnostic]:
    """Find faults of a solver's text; only where there are none, those of its settings and of the net it names."""
    tree = prototxt.parse(data)
    conversion = convert(tree.root, "SolverParameter")
    for fault in tree.problems:
        yield Diagnostic("syntax", "error", fault.message, fault.line, fault.column, next_step=fault.hint)
    told = {fault.line for fault in tree.problems}
    for problem in conversion.problems:
        if problem.kind in _CODES and problem.line not in told:
            code = _CODES[problem.kind]
            yield Diagnostic(code, "error", problem.text, problem.line, problem.column, next_step=problem.next_step)
    if tree.problems or conversion.problems:
        return
    check_settings(path)
    if conversion.message.max_iter < 1:
        fault_text = f"Solver: expected a max_iter of 1 or more, got {conversion.message.max_iter}; it trains nothing."
        yield Diagnostic("solver", "warning", fault_text, next_step="Set max_iter to the iterations to train for.")


def _check_net(
    data: bytes, folder: Path, *, registry: LayerRegistry, service: ShapeService, trusted: bool
) -> list[Diagnostic]:
    graph = OpGraph.parse(data)
    layers = graph_layers(graph)
    faulty: dict[NodeId, NodeShapes] = {}
    for phase in Phase:
        found = service.infer(layers, phase, base_dirs=search_folders(folder), trusted=trusted)
        for node, shapes in found.items():
            # Missing data and unknown types have rules of their own; without its data, a net itself may be right.
            if shapes.error is not None and not isinstance(shapes.error, (DataError, UnknownLayerTypeError)):
                faulty.setdefault(cast(NodeId, node), shapes)
    return diagnose(graph, registry=registry, shapes=faulty, folder=folder)


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
