"""Rules about fields: the schema's, and whether the files that they name are there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.graph import NodeId, OpGraph, Path
from engine.paths import resolve, search_folders
from engine.prototxt import Element, Field, ListValue, Message, Scalar
from engine.schema import Schema, SchemaProblem, convert

__all__ = ["SchemaMemo", "check_files", "check_schema"]

_SEVERITY: dict[str, Severity] = {
    "unknown_field": "warning",
    "bad_value": "error",
    "duplicate_field": "warning",
}
_CODES = {"unknown_field": "field-unknown", "bad_value": "field-value", "duplicate_field": "field-repeated"}
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


class SchemaMemo:
    """Remembers what the schema says about layers whose text has not changed since; one for each document."""

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

    def keep(self, fields: set[Field]) -> None:
        """Forget all but ``fields``."""
        for field in self._held.keys() - fields:
            del self._held[field]


def check_schema(graph: OpGraph, schema: Schema | None, memo: SchemaMemo) -> Iterator[Diagnostic]:
    """Find unknown fields, values of the wrong kind, and fields given too often."""
    seen: set[Field] = set()
    root = graph.tree.root
    top = Message("", graph.tree)
    for item in root:
        if item.key is None:
            top.items.append(item)
            continue
        seen.add(item)
        node = NodeId(item.key)
        type_name = "LayerParameter" if item.name == "layer" else "V1LayerParameter"
        title = graph.node(node).heading
        for problem, path in memo.problems(item, type_name, schema):
            yield _diagnostic(_moved(problem, item.line - 1), node, path, f"{title}: ")
    memo.keep(seen)
    for problem in convert(top, "NetParameter", schema=schema).problems:
        if problem.kind in _CODES:
            yield _diagnostic(problem, None, _path(top, problem), "")


def check_files(graph: OpGraph, folder: FilePath | None) -> Iterator[Diagnostic]:
    """Find files and data bases that are not where the net says; nothing is opened."""
    folders = search_folders(folder)
    for node in graph.nodes():
        if node.bottoms and node.type != "InfogainLoss":
            continue
        for path in _FILES:
            value = graph.field(node.id, path)
            if not isinstance(value, Scalar) or value.kind != "string" or node.virtual:
                continue
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


def _diagnostic(problem: SchemaProblem, node: NodeId | None, path: Path, title: str) -> Diagnostic:
    fix = None
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
