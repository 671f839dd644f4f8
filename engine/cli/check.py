"""``netcanvas check``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from engine.cli.output import Output
from engine.diagnostics import Diagnostic, diagnose
from engine.errors import DataError, FileFormatError, NetcanvasError, PrototxtError, UnknownLayerTypeError
from engine.graph import NodeId, OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.registry import LayerRegistry, default_registry
from engine.schema import FileKind, describe_kind, sniff
from engine.shapes import NodeShapes, ShapeService, graph_layers
from engine.solvers import check_settings

__all__ = ["run"]

_NETS = frozenset({FileKind.NET_TEXT, FileKind.TEXT})


def run(options: argparse.Namespace) -> int:
    """Print the faults of files; return 1 if one is an error."""
    failed = False
    report: list[dict[str, Any]] = []
    registry = default_registry()
    with InspectionClient() as client:
        service = ShapeService(registry=registry, client=client)
        check_net = partial(_check_net, registry=registry, service=service, trusted=options.trust)
        results = [(path, _check_file(path, check_net)) for path in options.files]
    for path, found in results:
        failed |= any(each.severity == "error" for each in found)
        if options.json:
            report += [_as_json(path, each) for each in found]
        else:
            for each in found:
                print(_line(path, each))
    if options.json:
        print(json.dumps(report))
    elif not failed:
        Output.note(f"No errors in {len(options.files)} file{'s' if len(options.files) > 1 else ''}.")
    return 1 if failed else 0


def _check_file(path: Path, check_net: Callable[[bytes, Path], list[Diagnostic]]) -> list[Diagnostic]:
    try:
        data = path.read_bytes()
        kind = sniff(data)
        if kind is FileKind.SOLVER_TEXT:
            check_settings(path)
            return []
        if kind in _NETS:
            return check_net(data, path.parent)
        looks_like, step = describe_kind(data)
        raise FileFormatError(
            f"Expected a net or solver in prototxt, but this looks like {looks_like}.", next_step=step
        )
    except OSError as error:
        return [Diagnostic("file", "error", f"It cannot be read: {error.strerror}.", next_step="Check the path.")]
    except PrototxtError as error:
        return [Diagnostic("syntax", "error", error.message, error.line, error.column, next_step=error.next_step)]
    except NetcanvasError as error:
        code = "file" if isinstance(error, FileFormatError) else "solver"
        return [Diagnostic(code, "error", error.message, next_step=error.next_step)]


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
    return f"{place}: {each.severity} {each.code} {each.message} {each.next_step}".rstrip()


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
