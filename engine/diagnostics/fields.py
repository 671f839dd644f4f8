"""Rules about fields: the schema's, and whether the files that they name are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

from engine.diagnostics.dialects import name_origin
from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.graph import Node, NodeId, OpGraph, Path
from engine.paths import resolve, search_folders
from engine.prototxt import Element, Field, ListValue, Message, Scalar
from engine.schema import Schema, SchemaProblem, convert

__all__ = ["FIELD_CODES", "LayerProblems", "check_files", "check_net_fields", "check_schema", "names_files"]

_SEVERITY: dict[str, Severity] = {
    "unknown_field": "error",
    "bad_value": "error",
    "duplicate_field": "error",
}
_CODES = {"unknown_field": "field-unknown", "bad_value": "field-value", "duplicate_field": "field-repeated"}
#: The codes of what the schema does not know or allow.
FIELD_CODES = frozenset(_CODES.values())
# Fields that name a file or folder which a run reads.
_FILES: tuple[Path, ...] = (
    ("data_param", "source"),
    ("data_param", "mean_file"),
    ("hdf5_data_param", "source"),
    ("image_data_param", "source"),
    ("image_data_param", "mean_file"),
    ("window_data_param", "source"),
    ("window_data_param", "mean_file"),
    ("transform_param", "mean_file"),
    ("infogain_loss_param", "source"),
)


class LayerProblems:
    """Remembers what the schema says about layers whose text has not changed since."""

    def __init__(self) -> None:
        self._held: dict[Field, tuple[str, list[tuple[SchemaProblem, Path]]]] = {}

    def problems(self, field: Field, type_name: str, schema: Schema | None) -> list[tuple[SchemaProblem, Path]]:
        """Return the problems of a layer with the paths of their fields; lines count from the layer's first."""
        held = self._held.get(field)
        if held is not None and held[0] == field.text:
            return held[1]
        message = field.message
        assert message is not None
        # What is no field at all is told by the parser.
        found = [each for each in convert(message, type_name, schema=schema).problems if each.kind in _CODES]
        located = [(_moved(each, 1 - field.line), _path(message, each)) for each in found]
        self._held[field] = (field.text, located)
        return located


def check_schema(graph: OpGraph, node: NodeId, schema: Schema | None, memo: LayerProblems) -> Iterator[Diagnostic]:
    """Find unknown fields of a layer, values of the wrong kind, and fields given too often."""
    held = graph.message(node).owner
    if not isinstance(held, Field):
        return  # the net's own inputs
    type_name = "LayerParameter" if held.name == "layer" else "V1LayerParameter"
    problems = memo.problems(held, type_name, schema)
    if problems:
        title = graph.node(node).heading
        for problem, path in problems:
            yield _diagnostic(_moved(problem, held.line - 1), node, path, f"{title}: ")


def check_net_fields(graph: OpGraph, schema: Schema | None) -> Iterator[Diagnostic]:
    """Find the same in the net's own fields."""
    top = Message("", graph.tree)
    top.items = [item for item in graph.tree.root.items if item.key is None]
    for problem in convert(top, "NetParameter", schema=schema).problems:
        if problem.kind in _CODES:
            yield _diagnostic(problem, None, _path(top, problem), "")


def names_files(graph: OpGraph, node: Node) -> bool:
    """Whether a layer has a field that names a file."""
    return next(_files(graph, node), None) is not None


def check_files(graph: OpGraph, nodes: Iterable[NodeId], folder: FilePath) -> Iterator[Diagnostic]:
    """Find files and data bases that are not where the net says; nothing is opened."""
    folders = search_folders(folder)
    for node in map(graph.node, nodes):
        for path, value in _files(graph, node):
            found = resolve(value.as_str(), folders)
            if not found.found:
                yield Diagnostic(
                    "file-missing",
                    "warning",
                    f"{node.heading}: '{found.written}' is not there; tried {found.path}"
                    + (f" and {len(found.tried) - 1} more folders." if len(found.tried) > 1 else "."),
                    value.line,
                    value.column,
                    node.id,
                    path,
                    "Put the data there, or correct the path.",
                )


def _files(graph: OpGraph, node: Node) -> Iterator[tuple[Path, Scalar]]:
    """Go through the fields of a layer that name a file which a run reads."""
    if node.virtual or (node.bottoms and node.type != "InfogainLoss"):
        return
    for path in _FILES:
        value = graph.field(node.id, path)
        if isinstance(value, Scalar) and value.kind == "string":
            yield path, value


def _diagnostic(problem: SchemaProblem, node: NodeId | None, path: Path, title: str) -> Diagnostic:
    fix = None
    if problem.kind == "unknown_field":
        problem = name_origin(problem)
    if problem.kind == "duplicate_field" and path:

        def remove(target: OpGraph) -> None:
            target.clear_field(node, (*path[:-1], problem.field, 0) if isinstance(path[-1], str) else path)

        fix = QuickFix("Remove the first of the two", remove)
    text = problem.text
    return Diagnostic(
        _CODES[problem.kind],
        _SEVERITY[problem.kind],
        f"{title}{text[:1].lower() + text[1:] if title and text.startswith('Field') else text}",
        problem.line,
        problem.column,
        node,
        path,
        problem.next_step,
        fix,
    )


def _moved(problem: SchemaProblem, lines: int) -> SchemaProblem:
    return SchemaProblem(
        problem.kind,
        problem.message_type,
        problem.field,
        problem.text,
        problem.line + lines,
        problem.column,
        problem.next_step,
    )


def _path(message: Message, problem: SchemaProblem) -> Path:
    """Return the path of the field that stands at a problem's place."""
    work: list[tuple[Message, Path]] = [(message, ())]
    while work:
        here, path = work.pop()
        counts: dict[str, int] = {}
        for field in here:
            for slot in field.value.elements if isinstance(field.value, ListValue) else (field,):
                place = counts[field.name] = counts.get(field.name, -1) + 1
                step = (field.name, place) if place or len(here.fields(field.name)) > 1 else (field.name,)
                if field.name == problem.field and (problem.line, problem.column) in _places(field, slot):
                    return (*path, *step)
                if isinstance(slot.value, Message):
                    work.append((slot.value, (*path, *step)))
    return ()


def _places(field: Field, slot: Field | Element) -> Iterator[tuple[int, int]]:
    yield field.line, field.column
    value: Any = slot.value
    if isinstance(value, Scalar):
        yield value.line, value.column
