"""From the lossless tree to protobuf messages.

The tree holds what a person wrote, whether it makes sense or not. Here it becomes values, equal to those that
protobuf's own reader gives for the same text, and what does not fit the schema becomes a list of problems with
their places.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from google.protobuf.descriptor import FieldDescriptor

from engine import prototxt
from engine.errors import SchemaError
from engine.prototxt import bad_escape
from engine.schema.catalogue import Schema, load_schema
from engine.schema.dialects import BVLC, dialects_with, find_dialect
from engine.schema.values import bare, parse_bool, parse_enum, parse_float, parse_integer, parse_string

__all__ = ["Conversion", "SchemaProblem", "closest_field", "convert", "to_message"]

_INTEGER_KINDS = {
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
}
_FLOAT_TYPES = frozenset({FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE})
_TEXT_TYPES = frozenset({FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES})

_ALIKE = 0.81
_PARAM_END = re.compile(r"_?par[am]+s?\Z")  # as it is written, and miswritten

ProblemKind = Literal["unknown_field", "unknown_word", "duplicate_field", "bad_value", "not_prototxt"]


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One place of a text that does not fit the schema.

    Attributes
    ----------
    kind : str
        ``unknown_field``, ``unknown_word`` (a word that the field's enum does not have), ``duplicate_field`` (a field
        that may be given once is given again), ``bad_value`` or ``not_prototxt`` (text that is not a field at all).
    message_type : str
        Message in whose text the problem lies.
    field : str
        Name of the field, empty for ``not_prototxt``.
    text : str
        One sentence.
    line, column : int
        1-based place.
    next_step : str
        What to do about it; may be empty.
    """

    kind: ProblemKind
    message_type: str
    field: str
    text: str
    line: int
    column: int
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A message and what of its text did not fit the schema.

    Attributes
    ----------
    message : protobuf message
        Holds all fields that fit; of a field that is given too often, the last one.
    problems : tuple of SchemaProblem
        In the order of the text.
    """

    message: Any
    problems: tuple[SchemaProblem, ...]


def convert(
    tree: prototxt.Message, type_name: str, *, schema: Schema | None = None, numbers: bool = True
) -> Conversion:
    """Read a message from the tree, collecting what does not fit.

    Parameters
    ----------
    tree : engine.prototxt.Message
        The whole document's root, or the braces of one field such as a ``layer``.
    type_name : str
        Message type to read, such as ``"NetParameter"``.
    schema : Schema, optional
        BVLC's when left out.
    numbers : bool
        Whether to take over the numbers of embedded blobs; they are sound, and many.
    """
    message = (schema or load_schema()).message(type_name)()
    problems: list[SchemaProblem] = []
    _fill(message, tree, problems, numbers)
    return Conversion(message, tuple(problems))


def to_message(tree: prototxt.Message, type_name: str, *, schema: Schema | None = None, strict: bool = False) -> Any:
    """Read a message from the tree.

    Parameters
    ----------
    tree, type_name, schema
        As for :func:`convert`.
    strict : bool
        Refuse, as Caffe does, what does not fit the schema, in place of leaving it out.

    Returns
    -------
    protobuf message

    Raises
    ------
    SchemaError
        If ``strict``, for the first problem in the text, with its line and column.
    """
    conversion = convert(tree, type_name, schema=schema)
    if strict and conversion.problems:
        raise as_error(conversion.problems[0])
    return conversion.message


def as_error(problem: SchemaProblem, source: str = "") -> SchemaError:
    """Return a problem as the error to raise; ``source`` is the name of the file."""
    text, step = problem.text, problem.next_step
    if problem.kind == "unknown_field":
        origins = [name for name in dialects_with(problem.message_type, problem.field) if name != BVLC]
        if origins:
            text = f"Field '{problem.field}' belongs to {find_dialect(origins[0]).title} and is not offered yet."
            step = "Remove it before a run."
    return SchemaError(text, line=problem.line, column=problem.column, source=source, next_step=step)


def _fill(message: Any, tree: prototxt.Message, problems: list[SchemaProblem], numbers: bool) -> None:
    """Set the fields of ``message`` from ``tree``; recursion ends with the nesting of the schema, not of the text."""
    descriptor = message.DESCRIPTOR
    fields = descriptor.fields_by_name
    seen: set[str] = set()
    for item in tree.items:
        if isinstance(item, prototxt.Note):
            continue
        if isinstance(item, prototxt.Junk):
            text = f"Expected a field of {descriptor.name}, got {item.junk.strip()[:40]}"
            problems.append(_problem("not_prototxt", descriptor, "", text, item))
            continue
        field = fields.get(item.name) if item.name.isascii() else None  # protobuf fails on what is not UTF-8
        if field is None:
            problems.append(_unknown_field(descriptor, item))
            continue
        if not field.is_repeated:
            if item.name in seen:
                text = f"Field '{item.name}' may be given only once in {descriptor.name}, and is given again"
                step = "Remove one of the two."
                problems.append(_problem("duplicate_field", descriptor, item.name, text, item, step))
            seen.add(item.name)
        _set_field(message, field, item, problems, numbers)


def _set_field(message: Any, field: Any, item: prototxt.Field, problems: list[SchemaProblem], numbers: bool) -> None:
    if isinstance(item.value, prototxt.ListValue) and not field.is_repeated:
        text = f"Field '{field.name}' takes one value, got a list"
        problems.append(_problem("bad_value", message.DESCRIPTOR, field.name, text, item))
        return
    for value in _values(item, whole=field.is_repeated and field.type in _FLOAT_TYPES):
        try:
            if isinstance(value, prototxt.Numbers):
                for some in value.values() if numbers else ():
                    getattr(message, field.name).extend(some.tolist())
            elif field.type == FieldDescriptor.TYPE_MESSAGE:
                _set_message(message, field, value, problems, numbers)
            else:
                _set_scalar(message, field, value)
        except ValueError as error:
            text = f"Field '{field.name}' of {message.DESCRIPTOR.name}: {error}"
            place = value if isinstance(value, prototxt.Scalar) else item
            is_word = field.type == FieldDescriptor.TYPE_ENUM and getattr(value, "kind", "") == "identifier"
            kind: ProblemKind = "unknown_word" if is_word else "bad_value"
            problems.append(_problem(kind, message.DESCRIPTOR, field.name, text, place))


def _values(item: prototxt.Field, *, whole: bool) -> Iterator[prototxt.Scalar | prototxt.Message]:
    """Return the values of a field one by one; numbers that are kept as one piece as a ``whole``, if asked for."""
    elements = item.value.elements if isinstance(item.value, prototxt.ListValue) else (item,)
    for element in elements:
        value = element.value
        if isinstance(value, prototxt.Numbers) and not whole:
            yield from (prototxt.Scalar(text, element) for text in value.texts())
        elif not isinstance(value, prototxt.ListValue):
            yield value


def _set_message(
    message: Any, field: Any, value: prototxt.Scalar | prototxt.Message, problems: list[SchemaProblem], numbers: bool
) -> None:
    if not isinstance(value, prototxt.Message):
        raise ValueError(f"expected {{ ... }}, got {value.text}")
    if field.is_repeated:
        _fill(getattr(message, field.name).add(), value, problems, numbers)
        return
    message.ClearField(field.name)
    part = getattr(message, field.name)
    part.SetInParent()
    _fill(part, value, problems, numbers)


def _set_scalar(message: Any, field: Any, value: prototxt.Scalar | prototxt.Message) -> None:
    if isinstance(value, prototxt.Message):
        raise ValueError("expected a value, got { ... }")
    parsed = _parse(field, value)
    if field.is_repeated:
        getattr(message, field.name).append(parsed)
    else:
        setattr(message, field.name, parsed)


def _parse(field: Any, value: prototxt.Scalar) -> Any:
    kind = field.type
    if kind in _TEXT_TYPES:
        if value.kind != "string":
            raise ValueError(f"expected text in quotes, got {value.text}")
        unknown = bad_escape(value.text)
        if unknown:
            raise ValueError(f"{unknown} means nothing in a text; a backslash itself is written \\\\")
        data = value.as_bytes()
        return data if kind == FieldDescriptor.TYPE_BYTES else parse_string(data)
    if value.kind == "string":
        raise ValueError(f"expected a value without quotes, got {value.text}")
    text = bare(value.text)
    if kind in _FLOAT_TYPES:
        return parse_float(text)
    if kind in _INTEGER_KINDS:
        return parse_integer(text, _INTEGER_KINDS[kind])
    if kind == FieldDescriptor.TYPE_BOOL:
        return parse_bool(text)
    return parse_enum(text, field.enum_type)


@lru_cache(maxsize=256)
def closest_field(descriptor: Any, name: str) -> str:
    """Return the field of a message that an unknown name looks like; empty where none does.

    Parameters
    ----------
    descriptor : google.protobuf.descriptor.Descriptor
    name : str
    """
    # All "..._param" look alike: only what comes before that tells a slip from a field of another Caffe.
    stems = {known.removesuffix("_param"): known for known in descriptor.fields_by_name}
    stem = _PARAM_END.sub("", name)
    swapped = [known for known in stems if len(known) == len(stem) and sorted(known) == sorted(stem)]
    closest = swapped or difflib.get_close_matches(stem, stems, n=1, cutoff=_ALIKE)
    return stems[closest[0]] if closest else ""


def _unknown_field(descriptor: Any, item: prototxt.Field) -> SchemaProblem:
    closest = closest_field(descriptor, item.name)
    step = f"Did you mean '{closest}'?" if closest else "Correct it, or remove it."
    text = f"{descriptor.name} has no field '{item.name}'."
    return _problem("unknown_field", descriptor, item.name, text, item, step)


def _problem(
    kind: ProblemKind,
    descriptor: Any,
    field: str,
    text: str,
    place: prototxt.Field | prototxt.Junk | prototxt.Scalar,
    next_step: str = "",
) -> SchemaProblem:
    sentence = text if text.endswith(".") else f"{text}."
    return SchemaProblem(kind, descriptor.name, field, sentence, place.line, place.column, next_step)
