"""Printing messages as prototxt.

The layout is the canonical one: fields by number, two spaces a level, one value a line. What a person wrote is never
printed by this module; the lossless tree does that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor

__all__ = ["format_float32", "quote", "to_text"]

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_FIRST_SCIENTIFIC = 9
_LAST_SCIENTIFIC = -5


def format_float32(value: float) -> str:
    """Return the shortest decimal text that reads back as the same float32.

    Parameters
    ----------
    value : float
        Rounded to float32 first.

    Returns
    -------
    str
        Such as ``0.01``, ``1``, ``1e-05``, ``inf``, ``-inf`` or ``nan``.
    """
    number = np.float32(value)
    if not np.isfinite(number):
        return "nan" if np.isnan(number) else ("inf" if number > 0 else "-inf")
    mantissa, exponent = np.format_float_scientific(number, unique=True, trim="-").split("e")
    if _LAST_SCIENTIFIC < int(exponent) < _FIRST_SCIENTIFIC:
        return np.format_float_positional(number, unique=True, trim="-")
    return f"{mantissa}e{int(exponent):+03d}"


def quote(value: str | bytes) -> str:
    """Return a string or bytes value as a double-quoted prototxt literal.

    Printable text stays as it is; bytes that are not printable ASCII become octal escapes.
    """
    if isinstance(value, bytes):
        return '"' + "".join(_quote_byte(byte) for byte in value) + '"'
    return '"' + "".join(_quote_character(character) for character in value) + '"'


def _quote_byte(byte: int) -> str:
    character = chr(byte)
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _quote_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8"))


def to_text(message: Any) -> str:
    """Return a message as canonical prototxt.

    Parameters
    ----------
    message : protobuf message
        Of any type of a :class:`~engine.schema.Schema`.

    Returns
    -------
    str
        Ends in a newline unless the message is empty. Reading it gives an equal message; fields that the schema does
        not know are not printed.
    """
    return "".join(f"{line}\n" for line in _lines(message, ""))


def _lines(message: Any, indent: str) -> Iterator[str]:
    for field, value in message.ListFields():
        values = value if field.is_repeated else (value,)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in values:
                yield f"{indent}{field.name} {{"
                yield from _lines(item, f"{indent}  ")
                yield f"{indent}}}"
        else:
            for item in values:
                yield f"{indent}{field.name}: {_scalar(field, item)}"


def _scalar(field: Any, value: Any) -> str:
    if field.type == FieldDescriptor.TYPE_FLOAT:
        return format_float32(value)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return str(field.enum_type.values_by_number[value].name)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return "true" if value else "false"
    if isinstance(value, str | bytes):
        return quote(value)
    return str(value)
