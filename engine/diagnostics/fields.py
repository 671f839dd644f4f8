"""Rules about fields: the schema's, and whether the files that they name are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any, TypeAlias

from engine.diagnostics.dialects import name_origin, only_in_dialect
from engine.diagnostics.field_fixes import field_fix
from engine.diagnostics.file_fixes import file_fixes
from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, NodeId, OpGraph, Path
from engine.paths import resolve, search_folders
from engine.prototxt import Element, Field, ListValue, Message, Scalar
from engine.schema import Schema, SchemaProblem, convert

__all__ = [
    "FIELD_CODES",
    "FIELD_NOT_OFFERED",
    "LayerProblems",
    "check_fields",
    "check_files",
    "check_net_fields",
    "check_schema",
    "names_files",
]

_CODES = {
    "unknown_field": "field-unknown",
    "unknown_word": "word-unknown",
    "bad_value": "field-value",
    "duplicate_field": "field-repeated",
}
#: Code of what the dialect of the document knows, and our layers do not.
FIELD_NOT_OFFERED = "field-not-offered"
#: The codes of what the schema does not know or allow.
FIELD_CODES = frozenset({*_CODES.values(), FIELD_NOT_OFFERED})
# What another Caffe may understand is kept and doubtful; what none would is wrong.
_WARNED = frozenset({"field-unknown", "word-unknown", FIELD_NOT_OFFERED})
# Messages of no schema nest as deep; what lies deeper in a broken text has no problem of the schema.
_DEEPEST = 16
# Of so many problems of a layer, or of the net, fixes are sought; in a broken text there may be thousands.
_MOST_FIXED = 50
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
    ("layer", "source"),  # of the oldest format
    ("layer", "meanfile"),
)


_Coded: TypeAlias = tuple[str, SchemaProblem]  # a problem with the code that it is told under


class LayerProblems:
    """Remembers what the schema says about layers whose text has not changed since."""

    def __init__(self) -> None:
        self._held: dict[Field, tuple[str, list[tuple[_Coded, Path]]]] = {}

    def problems(self, field: Field, type_name: str, schema: Schema | None) -> list[tuple[_Coded, Path]]:
        """Return the problems of a layer with the paths of their fields; lines count from the layer's first."""
        held = self._held.get(field)
        if held is not None and held[0] == field.text:
            return held[1]
        message = field.message
        assert message is not None
        found = _problems(message, type_name, schema)
        paths = _paths(message, [each for _, each in found])
        moved = [(code, _moved(each, 1 - field.line)) for code, each in found]
        located = list(zip(moved, paths, strict=True))
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
        for place, ((code, problem), path) in enumerate(problems):
            located = _moved(problem, held.line - 1)
            fix = _fix(graph, code, located, node, path, schema) if place < _MOST_FIXED else None
            yield _diagnostic(code, located, node, path, f"{title}: ", fix)


def check_net_fields(graph: OpGraph, schema: Schema | None) -> Iterator[Diagnostic]:
    """Find the same in the net's own fields."""
    top = Message("", graph.tree)
    top.items = [item for item in graph.tree.root.items if item.key is None]
    for place, (code, problem, path) in enumerate(_located(top, "NetParameter", schema)):
        fix = _fix(graph, code, problem, None, path, schema) if place < _MOST_FIXED else None
        yield _diagnostic(code, problem, None, path, "", fix)


def check_fields(graph: OpGraph, type_name: str, schema: Schema | None) -> Iterator[Diagnostic]:
    """Find the same in a text that is no net but one message, such as a solver."""
    for place, (code, problem, path) in enumerate(_located(graph.tree.root, type_name, schema)):
        fix = _fix(graph, code, problem, None, path, schema) if place < _MOST_FIXED else None
        yield _diagnostic(code, problem, None, path, "", fix)


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
                fixes = file_fixes(node, path, found.written, folders)
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
                    fixes[0] if fixes else None,
                    more_fixes=fixes[1:],
                )


def _files(graph: OpGraph, node: Node) -> Iterator[tuple[Path, Scalar]]:
    """Go through the fields of a layer that name a file which a run reads."""
    if node.virtual or (node.bottoms and node.type != "InfogainLoss"):
        return
    for path in _FILES:
        value = graph.field(node.id, path)
        if isinstance(value, Scalar) and value.kind == "string":
            yield path, value


def _problems(message: Message, type_name: str, schema: Schema | None) -> list[_Coded]:
    if schema is not None and schema.fragments and type_name == "LayerParameter":
        kind = message.get("type")
        written = kind.value if kind is not None else None
        schema = schema.for_layer(written.as_str() if isinstance(written, Scalar) else "")
    # What is no field at all is told by the parser.
    found = convert(message, type_name, schema=schema, numbers=False).problems
    coded = [(_CODES[each.kind], each) for each in found if each.kind in _CODES]
    return coded + [(FIELD_NOT_OFFERED, each) for each in only_in_dialect(message, type_name, schema)]


def _located(message: Message, type_name: str, schema: Schema | None) -> Iterator[tuple[str, SchemaProblem, Path]]:
    """Return the problems of a message with their codes and the paths of their fields."""
    found = _problems(message, type_name, schema)
    paths = _paths(message, [problem for _, problem in found])
    for (code, problem), path in zip(found, paths, strict=True):
        yield code, problem, path


def _fix(
    graph: OpGraph, code: str, problem: SchemaProblem, node: NodeId | None, path: Path, schema: Schema | None
) -> QuickFix | None:
    if code != "field-repeated":
        known_elsewhere = code == FIELD_NOT_OFFERED or (code == "field-unknown" and name_origin(problem) is not problem)
        return None if known_elsewhere else field_fix(graph, problem, node, path, schema)
    if not path:
        return None

    def remove(target: OpGraph) -> None:
        target.clear_field(node, (*path[:-1], problem.field, 0) if isinstance(path[-1], str) else path)

    return QuickFix("Remove the first of the two", remove)


def _diagnostic(
    code: str, problem: SchemaProblem, node: NodeId | None, path: Path, title: str, fix: QuickFix | None
) -> Diagnostic:
    if code == "field-unknown":
        problem = name_origin(problem)
    text = problem.text
    step = problem.next_step or "Correct the value, or remove the field."
    if fix is not None and fix.label.startswith("Move it"):
        step = f"{fix.label}."
    return Diagnostic(
        code,
        "warning" if code in _WARNED else "error",
        f"{title}{text[:1].lower() + text[1:] if title and text.startswith(('Field', 'A ')) else text}",
        problem.line,
        problem.column,
        node,
        path,
        step,
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


def _paths(message: Message, problems: Sequence[SchemaProblem]) -> list[Path]:
    """Return the paths of the fields that stand at the problems' places."""
    names = {problem.field for problem in problems}
    found: dict[tuple[str, int, int], Path] = {}
    work: list[tuple[Message, Path]] = [(message, ())] if problems else []
    while work:
        here, path = work.pop()
        counts: dict[str, int] = {}
        several = _repeated(here)
        for field in here:
            for slot in field.value.elements if isinstance(field.value, ListValue) else (field,):
                place = counts[field.name] = counts.get(field.name, -1) + 1
                step = (field.name, place) if place or field.name in several else (field.name,)
                if field.name in names:
                    for line, column in _places(field, slot):
                        found.setdefault((field.name, line, column), (*path, *step))
                if isinstance(slot.value, Message) and len(path) < _DEEPEST:
                    work.append((slot.value, (*path, *step)))
    return [found.get((problem.field, problem.line, problem.column), ()) for problem in problems]


def _repeated(message: Message) -> set[str]:
    """Return the names of the fields that are written more than once."""
    return {name for name, count in Counter(field.name for field in message).items() if count > 1}


def _places(field: Field, slot: Field | Element) -> Iterator[tuple[int, int]]:
    yield field.line, field.column
    value: Any = slot.value
    if isinstance(value, Scalar):
        yield value.line, value.column
