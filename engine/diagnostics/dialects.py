"""Telling a slip from what another Caffe knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.prototxt import Message
from engine.schema import (
    BVLC,
    Schema,
    SchemaProblem,
    convert,
    dialects_with,
    dialects_with_type,
    find_dialect,
    load_schema,
)

__all__ = ["name_origin", "name_type", "only_in_dialect", "origin_of_type"]


def only_in_dialect(message: Message, type_name: str, schema: Schema | None) -> list[SchemaProblem]:
    """Return what a document may say in its dialect and our layers, which know BVLC's fields, do not understand.

    Parameters
    ----------
    message : engine.prototxt.Message
    type_name : str
        What it is read as, such as ``"LayerParameter"``.
    schema : Schema or None
        That of the document's dialect; None is BVLC's.
    """
    if schema is None or schema.dialect == BVLC:
        return []
    base = load_schema(fragments=schema.fragments)
    told = {(each.line, each.column) for each in convert(message, type_name, schema=schema, numbers=False).problems}
    title = find_dialect(schema.dialect).title
    found = []
    for each in convert(message, type_name, schema=base, numbers=False).problems:
        if (each.line, each.column) not in told:
            what = f"Field '{each.field}' of {title}"
            if each.kind != "unknown_field":
                what = f"A value that {title} has for field '{each.field}'"
            found.append(replace(each, text=f"{what} is not offered yet.", next_step="Remove it before a run."))
    return found


def name_origin(problem: SchemaProblem) -> SchemaProblem:
    """Say of an unknown field whose Caffe has it; a field that none has is told as before."""
    names = dialects_with(problem.message_type, problem.field)
    if not names:
        return problem
    text = f"Field '{problem.field}' belongs to {find_dialect(names[0]).title}."
    step = f"Choose {_either(names)} as the dialect of the document, or remove the field."
    return replace(problem, text=text, next_step=step)


def origin_of_type(layer_type: str) -> str:
    """Return whose Caffe has a layer type that is not offered, such as ``SSD's Caffe``; empty where none is known."""
    names = dialects_with_type(layer_type)
    return find_dialect(names[0]).title if names else ""


def name_type(layer_type: str) -> str:
    """Return a layer type with whose it is."""
    origin = origin_of_type(layer_type)
    return f"layer type '{layer_type}' of {origin}" if origin else f"Caffe's layer type '{layer_type}'"


def _either(names: Sequence[str]) -> str:
    """Join dialects: ``ssd, intel or nvidia``."""
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])
