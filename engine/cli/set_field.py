"""``netcanvas set``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from engine.cli.output import Output
from engine.cli.reading import read_graph
from engine.errors import CheckError, SchemaError
from engine.files import atomic_write
from engine.graph import Node, NodeId, OpGraph
from engine.graph import Path as FieldPath
from engine.paths import search_folders
from engine.prototxt import quote
from engine.registry import default_registry
from engine.schema import FieldInfo, Schema, convert

__all__ = ["run"]

_TEXT = ("string", "bytes")


def run(options: argparse.Namespace) -> int:
    """Set one field of one layer, and change nothing else of the file; return the exit code."""
    path: Path = options.file
    graph = read_graph(path)
    read = bytes(graph)
    schema = default_registry(search_folders(path.parent), trusted=False).schema()
    node = _find(graph, options.layer, options.phase)
    field, info = _field(schema, node, options.field)
    before = graph.value(node.id, field)
    text = _written(info, options.value)
    with graph.change():
        graph.set_field(node.id, field, text)
        _check(graph, schema, node.id, field)
    if bytes(graph) != read:
        atomic_write(path, bytes(graph))
    line, _ = graph.place(node.id, field)
    name = ".".join(map(str, field))
    change = f"{before or 'not set'} -> {graph.value(node.id, field)}"
    Output(quiet=options.quiet).note(f"{path}:{line}: {node.title}: {name}: {change}")
    return 0


def _find(graph: OpGraph, name: str, phase: str | None) -> Node:
    """Return the layer of a name; where several have it, the one of the phase."""
    found = [node for node in graph.named(name) if not node.virtual]
    if phase is not None:
        found = [node for node in found if phase.upper() in node.phases]
    if not found:
        where = f" in phase {phase.upper()}" if phase else ""
        names = ", ".join(dict.fromkeys(f"'{node.name}'" for node in graph.nodes() if node.name and not node.virtual))
        raise CheckError(f"No layer is called '{name}'{where}.", next_step=f"The layers are {names}." if names else "")
    if len(found) > 1:
        places = " and ".join(f"line {node.line}" for node in found)
        raise CheckError(f"{len(found)} layers are called '{name}', on {places}.", next_step="Choose one with --phase.")
    return found[0]


def _field(schema: Schema, node: Node, written: str) -> tuple[FieldPath, FieldInfo]:
    """Return the path that was written, below the type's own parameters where it leads nowhere from the layer."""
    path = tuple(int(word) if word.isdecimal() else word for word in re.split(r"[.\[\]]+", written.rstrip("]")))
    message = "LayerParameter" if node.version == 2 else "V1LayerParameter"
    starts: list[FieldPath] = [(), *((name,) for name in schema.param_fields_for(node.type))]
    if node.version == 0:
        starts = [("layer",), ()]
    for start in starts:
        if isinstance(path[0], str) and (info := schema.find_field(message, (*start, *path))) is not None:
            return (*start, *path), info
    raise SchemaError(
        f"{node.heading} ({node.type}): there is no field '{written}'.",
        next_step="Write its path, such as convolution_param.num_output or param.0.lr_mult.",
    )


def _written(info: FieldInfo, value: str) -> str:
    """Return a value as the file has it: texts get their quotes."""
    if info.kind not in _TEXT or re.fullmatch(r"""(["']).*\1""", value, re.DOTALL):
        return value
    return quote(value)


def _check(graph: OpGraph, schema: Schema, node: NodeId, field: FieldPath) -> None:
    """Refuse a value that the schema does not allow."""
    slot = graph.field(node, field)
    if slot is None:
        return
    message = "LayerParameter" if graph.node(node).version == 2 else "V1LayerParameter"
    first = graph.place(node, field)[0]
    last = first + slot.text.count("\n")
    for problem in convert(graph.message(node), message, schema=schema).problems:
        if first <= problem.line <= last:
            raise SchemaError(problem.text, next_step=problem.next_step)
