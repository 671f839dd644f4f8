"""Arrays as Caffe's files hold them: ``BlobProto`` and ``Datum`` messages.

Packed floats lie in these files as plain little-endian numbers, so that they are taken from the bytes as they are in
place of going through Python one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import DataError, FileFormatError
from engine.schema import load_schema
from engine.schema.wire import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    WireError,
    encode_length,
    encode_varint,
    iter_fields,
    iter_varints,
    signed,
)

__all__ = [
    "FloatArray",
    "StoredBlob",
    "array_to_datum",
    "blob_from_proto",
    "blob_to_proto",
    "datum_to_array",
    "decode_blob",
    "encode_blob",
]

FloatArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]

# Field numbers of BlobProto and BlobShape.
_LEGACY_AXES = (1, 2, 3, 4)
_DATA, _DIFF, _SHAPE, _DOUBLE_DATA, _DOUBLE_DIFF = 5, 6, 7, 8, 9
_DIM = 1
_WIRE_DTYPES: Mapping[int, np.dtype[Any]] = MappingProxyType(
    {
        _DATA: np.dtype("<f4"),
        _DIFF: np.dtype("<f4"),
        _DOUBLE_DATA: np.dtype("<f8"),
        _DOUBLE_DIFF: np.dtype("<f8"),
    }
)


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A blob read from a file.

    Attributes
    ----------
    data : ndarray of float32 or float64
        Values in the shape of the blob; read-only where they lie in the file's own bytes.
    legacy : bool
        Whether the shape was stored as the four numbers of old files, in which axes of size 1 may be missing in front.
    """

    data: FloatArray
    legacy: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape as stored."""
        return self.data.shape

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether the blob may fill one of that shape; old files write (500, 800) as (1, 1, 500, 800)."""
        if not self.legacy:
            return self.data.shape == shape
        return len(shape) <= len(_LEGACY_AXES) and self.data.shape == (1,) * (len(_LEGACY_AXES) - len(shape)) + shape


def decode_blob(data: memoryview) -> StoredBlob:
    """Read a serialized ``BlobProto``.

    Parameters
    ----------
    data : memoryview
        Stays in use by the result.

    Raises
    ------
    WireError
        If the bytes are damaged, or the number of values does not fit the shape.
    """
    pieces: dict[int, list[memoryview]] = {}
    legacy: dict[int, int] = {}
    dims: list[int] = []
    has_shape = False
    for number, wire_type, value in iter_fields(data):
        if number in _LEGACY_AXES and wire_type == VARINT and isinstance(value, int):
            legacy[number] = signed(value)
        elif isinstance(value, int):
            continue
        elif number == _SHAPE and wire_type == LENGTH:
            has_shape = True
            dims.extend(_decode_shape(value))
        elif number in _WIRE_DTYPES and wire_type in (LENGTH, FIXED32, FIXED64):
            pieces.setdefault(number, []).append(value)
    values = _values(pieces, _DOUBLE_DATA if _DOUBLE_DATA in pieces else _DATA)
    if legacy:
        shape = tuple(legacy.get(axis, 0) for axis in _LEGACY_AXES)
    else:
        shape = tuple(dims) if has_shape or values.size == 1 else (values.size,)
    return StoredBlob(_shaped(values, shape), bool(legacy))


def _decode_shape(data: memoryview) -> list[int]:
    dims: list[int] = []
    for number, _, value in iter_fields(data):
        if number == _DIM:
            dims.extend([signed(value)] if isinstance(value, int) else map(signed, iter_varints(value)))
    return dims


def _values(pieces: dict[int, list[memoryview]], number: int) -> FloatArray:
    parts = pieces.get(number, [])
    dtype = _WIRE_DTYPES[number]
    data = parts[0] if len(parts) == 1 else memoryview(b"".join(parts))
    if len(data) % dtype.itemsize:
        raise WireError(f"{len(data)} bytes are no whole number of {dtype.itemsize}-byte values")
    array: FloatArray = np.frombuffer(data, dtype=dtype)
    return array


def _shaped(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    if min(shape, default=0) < 0 or math.prod(shape) != values.size:
        raise WireError(f"a blob of shape {shape} holds {values.size} values")
    try:
        return values.reshape(shape)
    except ValueError as error:  # an axis of 0 beside one beyond what an array can have
        raise WireError(f"no blob can have shape {shape}") from error


def encode_blob(data: npt.NDArray[Any], diff: npt.NDArray[Any] | None = None) -> list[bytes | memoryview]:
    """Return the pieces of a serialized ``BlobProto``, the arrays' own memory among them where possible.

    Parameters
    ----------
    data : ndarray
        Float64 arrays are stored as ``double_data``, all others as float32 ``data``.
    diff : ndarray, optional
        Gradients of the same shape.
    """
    double = data.dtype == np.float64
    pieces: list[bytes | memoryview] = []
    arrays = {_DATA: data} if diff is None else {_DATA: data, _DIFF: diff}
    shape = b"".join(encode_varint(axis) for axis in data.shape)
    inner = encode_length(_DIM, len(shape)) + shape
    shape_field = encode_length(_SHAPE, len(inner)) + inner if shape else b""
    if double:
        pieces.append(shape_field)
        arrays = {_DOUBLE_DATA + number - _DATA: array for number, array in arrays.items()}
    for number, array in arrays.items():
        values = np.ascontiguousarray(array, dtype=_WIRE_DTYPES[number]).reshape(-1)
        if values.size:
            pieces += [encode_length(number, values.nbytes), values.view(np.uint8).data]
    if not double:
        pieces.append(shape_field)
    return pieces


def blob_to_proto(data: npt.ArrayLike, diff: npt.ArrayLike | None = None) -> Any:
    """Return an array as a ``BlobProto`` message; see :func:`encode_blob`."""
    gradient = None if diff is None else np.asarray(diff)
    return load_schema().message("BlobProto").FromString(b"".join(encode_blob(np.asarray(data), gradient)))


def blob_from_proto(proto: Any) -> FloatArray:
    """Return the values of a ``BlobProto`` message in its shape.

    Parameters
    ----------
    proto : BlobProto message
        With ``shape`` or the four numbers of old files, and ``data`` or ``double_data``.

    Returns
    -------
    ndarray of float32 or float64
        A writable copy.

    Raises
    ------
    FileFormatError
        If the number of values does not fit the shape.
    """
    return stored_blob_from_proto(proto).data.copy()


def stored_blob_from_proto(proto: Any) -> StoredBlob:
    """Return a ``BlobProto`` message as a stored blob; errors are those of :func:`blob_from_proto`."""
    try:
        return decode_blob(memoryview(proto.SerializeToString()))
    except WireError as error:
        raise FileFormatError(f"BlobProto: {error}.", next_step="Get the file again that it came from.") from error


def array_to_datum(array: npt.NDArray[Any], label: int = 0) -> Any:
    """Return an array as a ``Datum`` message.

    Parameters
    ----------
    array : ndarray, shape (channels, height, width)
        Bytes (uint8) are stored as ``data``, all else as float32 ``float_data``.
    label : int
        Class of the record.
    """
    if array.ndim != 3:
        raise DataError(f"Datum: expected an array of shape (channels, height, width), got {array.shape}.")
    datum = load_schema().message("Datum")()
    datum.channels, datum.height, datum.width = array.shape
    if array.dtype == np.uint8:
        datum.data = array.tobytes()
    else:
        datum.float_data.extend(np.asarray(array, dtype=np.float32).reshape(-1).tolist())
    datum.label = int(label)
    return datum


def datum_to_array(datum: Any) -> npt.NDArray[np.uint8] | npt.NDArray[np.float32]:
    """Return the values of a ``Datum`` message.

    Returns
    -------
    ndarray of uint8 or float32, shape (channels, height, width)

    Raises
    ------
    DataError
        If the record holds a compressed image, or another number of values than its shape says.
    """
    shape = (datum.channels, datum.height, datum.width)
    if datum.encoded:
        raise DataError("Datum: expected plain values, got a compressed image.", next_step="Read it with a Data layer.")
    values: npt.NDArray[Any]
    if datum.data or not len(datum.float_data):
        values = np.frombuffer(datum.data, dtype=np.uint8)
    else:
        values = np.fromiter(datum.float_data, dtype=np.float32, count=len(datum.float_data))
    if values.size != math.prod(shape):
        raise DataError(f"Datum: expected {shape} values, got {values.size}.", next_step="Write the database again.")
    return values.reshape(shape).copy()
