"""What mends a field that the schema does not know, or a value of the wrong kind, where only one thing can be meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from engine.diagnostics.records import QuickFix
from engine.graph import NodeId, OpGraph, Path
from engine.prototxt import Message, Scalar, parse, quote
from engine.schema import Schema, SchemaProblem, closest_field, convert, load_schema, param_fields_for

__all__ = ["field_fix"]

_TEXTS = frozenset({FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES})


def field_fix(
    graph: OpGraph, problem: SchemaProblem, node: NodeId | None, path: Path, schema: Schema | None
) -> QuickFix | None:
    """Return the edit that mends a problem of the schema, if only one can be meant.

    An unknown field moves to the message of the layer that has it, or gets the name that it looks like; an unknown
    word becomes the one that it looks like; a text gets quotes, and a number or word loses them.
    """
    if not path:
        return None
    schema = schema or load_schema()
    value = graph.field(node, path)
    if problem.kind == "unknown_field":
        if not all(name.isascii() for name in path if isinstance(name, str)):
            return None  # protobuf fails on what is not UTF-8, and no field is called so
        return _moved(graph, node, path, schema) or _renamed(graph, problem, node, path, schema)
    if not isinstance(value, Scalar):
        return None
    field = schema.message(problem.message_type)().DESCRIPTOR.fields_by_name.get(problem.field)
    text = _corrected(field, value) if field is not None else ""
    if not text or not _is_sound(problem, text, schema):
        return None

    def correct(target: OpGraph) -> None:
        target.set_field(node, path, text)

    return QuickFix(f"Make it {text}", correct)


def _corrected(field: Any, value: Scalar) -> str:
    """Return the text that a value of the wrong kind is meant to be; empty where there is none."""
    if field.type in _TEXTS:
        return "" if value.kind == "string" else quote(value.text)
    bare = value.as_str().strip()
    if field.type != FieldDescriptor.TYPE_ENUM:
        return bare if value.kind == "string" else ""
    words = {word.name.lower(): word.name for word in field.enum_type.values}
    found = [bare.lower()] if bare.lower() in words else difflib.get_close_matches(bare.lower(), words, n=1, cutoff=0.7)
    return words[found[0]] if found else ""


def _is_sound(problem: SchemaProblem, text: str, schema: Schema) -> bool:
    """Whether the schema takes a text as the value of a field."""
    tree = parse(f"{problem.field}: {text}\n")
    return not tree.problems and not convert(tree.root, problem.message_type, schema=schema).problems


def _renamed(
    graph: OpGraph, problem: SchemaProblem, node: NodeId | None, path: Path, schema: Schema
) -> QuickFix | None:
    descriptor = schema.message(problem.message_type)().DESCRIPTOR
    name = closest_field(descriptor, problem.field)
    if not name:
        return None
    field = descriptor.fields_by_name[name]
    parent = path[:-2] if isinstance(path[-1], int) else path[:-1]
    if not _takes(graph, node, path, field) or (not field.is_repeated and graph.count(node, (*parent, name))):
        return None

    def rename(target: OpGraph) -> None:
        target.rename_field(node, path, name)

    return QuickFix(f"Write it as '{name}'", rename)


def _moved(graph: OpGraph, node: NodeId | None, path: Path, schema: Schema) -> QuickFix | None:
    """Return a fix that moves a field into the message that has one of its name; only a single one will do."""
    if node is None or graph.node(node).version == 0:
        return None
    name = path[-2] if isinstance(path[-1], int) else path[-1]
    here = path[0] if len(path) > 1 and isinstance(path[1], str) else ""
    found = []
    for outer, descriptor in _homes(graph, node, schema):
        field = descriptor.fields_by_name.get(name)
        inside = (outer, name) if outer else (name,)
        if field is None or outer == here or not _takes(graph, node, path, field):
            continue
        if field.is_repeated or not graph.count(node, inside):
            found.append((outer, inside))
    if len(found) != 1:
        return None
    ((outer, inside),) = found

    def move(target: OpGraph) -> None:
        target.relocate_field(node, path, inside)

    return QuickFix(f"Move it into {outer}" if outer else "Move it to the layer itself", move)


def _homes(graph: OpGraph, node: NodeId, schema: Schema) -> Iterator[tuple[str, Any]]:
    """Return the layer's message, and those in it that belong to its type, with the names of their fields."""
    layer = graph.node(node)
    descriptor = schema.message("LayerParameter" if layer.version > 1 else "V1LayerParameter")().DESCRIPTOR
    yield "", descriptor
    for outer in param_fields_for(schema.describe("LayerParameter"), layer.type):
        if outer in descriptor.fields_by_name:
            yield outer, descriptor.fields_by_name[outer].message_type


def _takes(graph: OpGraph, node: NodeId | None, path: Path, field: Any) -> bool:
    """Whether the value at a path is of the kind that a field holds: a message or not."""
    takes_message: bool = field.type == FieldDescriptor.TYPE_MESSAGE
    return isinstance(graph.field(node, path), Message) == takes_message
