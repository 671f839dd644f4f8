"""Protobuf's wire format, as far as it is needed to walk large files without decoding them.

A weights file of hundreds of megabytes is a few thousand fields around a few large arrays. Walking its tags costs
nothing, and an array can be used where it lies.
Format: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "FIXED32",
    "FIXED64",
    "LENGTH",
    "VARINT",
    "WireError",
    "encode_length",
    "encode_varint",
    "iter_fields",
    "iter_varints",
    "signed",
]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
_VARINT_BITS = 70


class WireError(ValueError):
    """Bytes that are not a whole message; the text says at which offset."""


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return the varint at an offset and the offset after it."""
    value = shift = 0
    while shift < _VARINT_BITS:
        if at >= len(data):
            raise WireError(f"the data ends inside a number at offset {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise WireError(f"no number ends before offset {at}")


def iter_fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Yield number, wire type and value of each field of a message, in the order of the bytes.

    Parameters
    ----------
    data : memoryview
        Of unsigned bytes.

    Yields
    ------
    number : int
    wire_type : int
        ``VARINT``, ``FIXED64``, ``LENGTH`` or ``FIXED32``.
    value : int or memoryview
        The number of a varint; a view of the bytes of the others, without a copy.

    Raises
    ------
    WireError
        If the bytes are damaged, end too early, or hold groups, which Caffe's messages never do.
    """
    at = 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise WireError(f"no field has number 0, at offset {start}")
        if wire_type == VARINT:
            value, at = _varint(data, at)
            yield number, wire_type, value
            continue
        if wire_type == LENGTH:
            size, at = _varint(data, at)
        elif wire_type in _FIXED_SIZES:
            size = _FIXED_SIZES[wire_type]
        else:
            raise WireError(f"unknown wire type {wire_type} at offset {start}")
        if at + size > len(data):
            missing = at + size - len(data)
            raise WireError(f"the data ends {missing} bytes too early, inside field {number} at offset {start}")
        yield number, wire_type, data[at : at + size]
        at += size


def iter_varints(data: memoryview) -> Iterator[int]:
    """Yield the unsigned integers of a packed field."""
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def signed(value: int) -> int:
    """Return the signed 64-bit integer that a varint stands for."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def encode_varint(value: int) -> bytes:
    """Return an unsigned integer as a varint."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode_length(number: int, size: int) -> bytes:
    """Return the tag and length that precede ``size`` bytes of field ``number``."""
    return encode_varint(number << 3 | LENGTH) + encode_varint(size)
