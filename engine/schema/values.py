"""Scalars of prototxt text as Python values, by the rules of protobuf's text format.

The rules are those of libprotobuf's C++ reader, which is what Caffe uses: hexadecimal and octal integers, an ``f``
after a floating-point number, ``inf`` and ``nan`` in any case, ``true``, ``True``, ``t`` and ``1``, enum values by
name or number. A value that the reader refuses raises :class:`ValueError` with one sentence of what was expected.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["bare", "parse_bool", "parse_enum", "parse_float", "parse_integer", "parse_string"]

_COMMENT = re.compile(r"#[^\n]*")
_INTEGER = re.compile(r"(-?)\s*(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))\Z")
_FLOAT = re.compile(r"(-?)\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fF]?\Z")
_SPECIAL_FLOAT = re.compile(r"(-?)\s*(inf|infinity|nan)\Z", re.IGNORECASE)
_RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint64": (0, (1 << 64) - 1),
}
_TRUE = frozenset({"true", "True", "t"})
_FALSE = frozenset({"false", "False", "f"})


def bare(text: str) -> str:
    """Return the text of a number or word without the comments that may follow its sign."""
    return _COMMENT.sub("", text) if "#" in text else text


def _integer(text: str) -> int | None:
    match = _INTEGER.match(text)
    if match is None:
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    if hexadecimal is not None:
        magnitude = int(hexadecimal, 16)
    elif octal is not None:
        magnitude = int(octal, 8)
    else:
        magnitude = int(decimal)
    return -magnitude if sign else magnitude


def parse_integer(text: str, kind: str) -> int:
    """Return the value of an integer as written.

    Parameters
    ----------
    text : str
    kind : str
        ``int32``, ``uint32``, ``int64`` or ``uint64``.
    """
    value = _integer(text)
    if value is None:
        raise ValueError(f"expected a whole number, got {text}")
    low, high = _RANGES[kind]
    if not low <= value <= high:
        raise ValueError(f"expected a whole number from {low} to {high}, got {text}")
    return value


def parse_float(text: str) -> float:
    """Return the value of a number as written; a whole number must be decimal."""
    special = _SPECIAL_FLOAT.match(text)
    if special is not None:
        return float(special[1] + special[2])
    match = _FLOAT.match(text)
    octal = match is not None and match[2][0] == "0" and match[2][1:2].isdecimal()
    if match is None or octal:
        raise ValueError(f"expected a decimal number, got {text}")
    return float(match[1] + match[2])


def parse_bool(text: str) -> bool:
    """Return the value of a truth value as written."""
    if text in _TRUE or _integer(text) == 1:
        return True
    if text in _FALSE or (_integer(text) == 0 and not text.startswith("-")):
        return False
    raise ValueError(f"expected true or false, got {text}")


def parse_enum(text: str, enum: Any) -> int:
    """Return the number of an enum value written as name or number.

    Parameters
    ----------
    text : str
    enum : google.protobuf.descriptor.EnumDescriptor
    """
    value = enum.values_by_name.get(text) if text.isascii() else None  # protobuf fails on what is not UTF-8
    if value is not None:
        return int(value.number)
    number = _integer(text)
    if number is not None and number in enum.values_by_number:
        return number
    names = ", ".join(value.name for value in enum.values)
    raise ValueError(f"expected one of {names}, got {text}")


def parse_string(data: bytes) -> str:
    """Return the text of a string literal's bytes.

    Bytes that are not UTF-8 are read as Latin-1: the message must hold text, and Caffe itself accepts such files.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
