"""``netcanvas check``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from engine.cli.dialect import choose_schema
from engine.cli.measuring import assumed_of
from engine.cli.memory import check_memory, machine_memory
from engine.cli.output import Output
from engine.cli.reading import reading
from engine.cli.viewing import chosen_views
from engine.diagnostics import Diagnostic, SchemaMemo, check_fields, check_files, check_solver, diagnose, for_run
from engine.diagnostics.plugins import check_plugins, python_code
from engine.errors import DataError, FileFormatError, NetcanvasError, PrototxtError, SolverError, UnknownLayerTypeError
from engine.graph import NetState, NodeId, OpGraph, View
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.plugins import Declarations, ParamStrSchema, find_plugins, plugin_folders
from engine.plugins.provenance import is_missing
from engine.registry import default_registry
from engine.schema import FileKind, describe_kind, find_dialect, sniff
from engine.shapes import NodeShapes, ShapeService, graph_layers, join_shapes
from engine.solvers import check_settings

__all__ = ["run"]

Finding: TypeAlias = tuple[Path, Diagnostic]  # the file that is at fault, which may be the net that a solver names

_NETS = frozenset({FileKind.NET_TEXT, FileKind.TEXT})


def run(options: argparse.Namespace) -> int:
    """Print the faults of files; return 1 if one is an error."""
    dialect: str | None = options.dialect
    if dialect is not None:
        find_dialect(dialect)
    with InspectionClient() as client:
        views = chosen_views(options)
        check_net = partial(_check_net, client=client, options=options, views=views)
        check_file = partial(_check_file, check_net=check_net, dialect=dialect, together=options.files)
        findings = [finding for path in options.files for finding in check_file(path)]
    failed = any(each.severity == "error" for _, each in findings)
    if options.json:
        print(json.dumps([_as_json(path, each) for path, each in findings], indent=2))
    else:
        for path, each in findings:
            print(_line(path, each), flush=True)
        if not failed:
            plural = "s" if len(options.files) > 1 else ""
            Output(quiet=options.quiet).note(f"No errors in {len(options.files)} file{plural}.")
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
            return [(path, each) for each in check_net(data, path)]
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
    graph = OpGraph.parse(data)
    tree = graph.tree
    schema, guessed = choose_schema(tree, "SolverParameter", dialect, path=path)
    yield from _told_dialect(guessed)
    for fault in tree.problems:
        yield Diagnostic("syntax", "error", fault.message, fault.line, fault.column, next_step=fault.hint)
    told = {fault.line for fault in tree.problems}
    faults = for_run(check_fields(graph, "SolverParameter", schema))
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
    data: bytes, path: Path, *, client: InspectionClient, options: argparse.Namespace, views: Sequence[View]
) -> list[Diagnostic]:
    trusted, dialect = options.trust, options.dialect
    with reading(data, path.name) as progress:
        graph = OpGraph.parse(data, progress=progress)
    folder = path.parent
    folders = search_folders(folder)
    registry = default_registry(folders, trusted=trusted)
    service = ShapeService(registry=registry, client=client)
    schema, guessed = choose_schema(graph.tree, "NetParameter", dialect, registry.fragments, path)
    layers, memo = graph_layers(graph), SchemaMemo()
    assumed = assumed_of(path, graph, options)

    def infer(state: NetState, members: Container[Hashable]) -> dict[Hashable, NodeShapes]:
        return service.infer(
            layers,
            Phase[state.phase],
            base_dirs=folders,
            trusted=trusted,
            level=state.level,
            stages=sorted(state.stages),
            assumed=assumed,
            members=members,
        )

    told = partial(diagnose, graph, schema=schema, registry=registry, folder=folder, memo=memo)
    declared = Declarations(find_plugins(plugin_folders(), folders), plugin_folders(), folders)
    told = partial(told, param_schemas=_param_schemas(graph, declared), missing=_missing(graph, folders))
    beside = [*check_plugins(graph, declared)]
    without_data = {each.node for each in check_files(graph, [node.id for node in graph.nodes()], folder)}
    if not views:
        outcomes = (infer(state, graph.taking_part(state)) for state in reversed(graph.states))
        shapes = _joined(outcomes, without_data)
        beside += check_memory(graph, shapes, machine_memory())
        return [*_told_dialect(guessed), *for_run([*beside, *told(shapes=shapes)])]
    found: dict[Diagnostic, None] = {}
    for view in views:
        here = graph.look(view)
        shapes = _joined([infer(here.state, here)], without_data)
        found.update(dict.fromkeys([*told(shapes=shapes, view=here), *check_memory(graph, shapes, machine_memory())]))
    return [*_told_dialect(guessed), *for_run([*beside, *found])]


def _param_schemas(graph: OpGraph, declared: Declarations) -> dict[tuple[str, str], ParamStrSchema]:
    """Return what the ``param_str`` of Python layers may hold, where their plugins say so; no code runs for it."""
    named = {python_code(graph, node) for node in graph.nodes() if node.type == "Python" and not node.virtual}
    return {code: schema for code in named if (schema := declared.param_schema(*code)) is not None}


def _missing(graph: OpGraph, folders: Sequence[Path]) -> frozenset[str]:
    """Return the modules of Python layers that are nowhere; no code runs for it."""
    named = {python_code(graph, node)[0] for node in graph.nodes() if node.type == "Python" and not node.virtual}
    return frozenset(module for module in named if module and is_missing(module, plugin_folders(), folders))


def _joined(
    outcomes: Iterable[Mapping[Any, NodeShapes]], without_data: Container[NodeId | None]
) -> dict[NodeId, NodeShapes]:
    """Join the shapes of several nets of a file.

    Missing data and unknown types have rules of their own; without its data, a net itself may be right.
    """

    def is_excused(node: NodeId, error: Exception | None) -> bool:
        return isinstance(error, UnknownLayerTypeError) or (isinstance(error, DataError) and node in without_data)

    return join_shapes(
        {node: shapes for node, shapes in found.items() if not is_excused(node, shapes.error)} for found in outcomes
    )


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
