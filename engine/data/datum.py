"""Caffe's ``Datum`` records, decoded a batch at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.data.decoding import DecodePool
from engine.data.images import decode_image
from engine.errors import DataError
from engine.schema import load_schema

__all__ = ["DatumDecoder", "Pixels", "name_record"]

Pixels = npt.NDArray[np.uint8] | npt.NDArray[np.float32]
Record = tuple[bytes, bytes | memoryview]


def name_record(key: bytes, path: Path) -> str:
    """Return what messages call a record."""
    return f"Record {key.decode('utf-8', 'backslashreplace')!r} of '{path}'"


@dataclass(frozen=True, slots=True)
class DatumDecoder:
    """Turns serialized ``Datum`` messages into arrays.

    Attributes
    ----------
    path : Path
        The database, for messages.
    color : bool or None
        For encoded images: True to decode in colour, False in grey, None as they were stored.
    pool : DecodePool, optional
        Threads that decode encoded images; without it the caller's does.
    """

    path: Path
    color: bool | None = None
    pool: DecodePool | None = None

    def decode(self, records: Sequence[Record]) -> tuple[Pixels | list[Pixels], npt.NDArray[np.float32]]:
        """Decode one batch.

        Returns
        -------
        pixels : ndarray of uint8 or float32, shape (records, channels, height, width)
            A list of arrays of shape (channels, height, width) where the records differ in kind or size.
        labels : ndarray of float32, shape (records,)

        Raises
        ------
        DataError
            If a record is no ``Datum`` or holds another amount of data than it states; the message names its key.
        """
        datums = [self._parse(key, value) for key, value in records]
        labels = np.array([datum.label for datum in datums], dtype=np.float32)
        first = datums[0]
        shape = (first.channels, first.height, first.width)
        size = len(first.data)
        for datum in datums:
            alike = (datum.channels, datum.height, datum.width) == shape and len(datum.data) == size
            if datum.encoded or not size or not alike:
                return self._decode_each(records, datums), labels
        self._check_size(records[0][0], shape, size)
        flat = np.frombuffer(b"".join([datum.data for datum in datums]), dtype=np.uint8)
        return flat.reshape(len(datums), *shape), labels

    def _parse(self, key: bytes, value: bytes | memoryview) -> Any:
        try:
            return load_schema().message("Datum").FromString(value)
        except Exception as error:
            raise DataError(
                f"{name_record(key, self.path)}: expected a Caffe Datum, got {len(value)} bytes that are none.",
                next_step="Write the database with convert_imageset or another tool that stores Datum messages.",
            ) from error

    def _decode_each(self, records: Sequence[Record], datums: Sequence[Any]) -> Pixels | list[Pixels]:
        """Decode records by themselves, joined where they are alike."""
        named = zip([key for key, _ in records], datums, strict=True)
        if self.pool is not None and datums[0].encoded and len(datums) > 1:
            arrays = self.pool.map(self._decode_one, named)
        else:
            arrays = [self._decode_one(each) for each in named]
        if len({(array.shape, array.dtype) for array in arrays}) == 1:
            return np.stack(arrays)  # type: ignore[return-value]  # all of one of the two types
        return arrays

    def _decode_one(self, named: tuple[bytes, Any]) -> Pixels:
        key, datum = named
        if datum.encoded:
            try:
                return decode_image(datum.data, color=self.color)
            except DataError as error:
                step = "Write the record again, or leave it out."
                raise DataError(f"{name_record(key, self.path)}: {error.message}", next_step=step) from error
        shape = (datum.channels, datum.height, datum.width)
        values: Pixels
        if datum.data:
            values = np.frombuffer(datum.data, dtype=np.uint8)
        else:
            values = np.array(datum.float_data, dtype=np.float32)
        self._check_size(key, shape, values.size)
        return values.reshape(shape)

    def _check_size(self, key: bytes, shape: tuple[int, int, int], size: int) -> None:
        spelled = " x ".join(map(str, shape))
        if min(shape) < 1:
            raise DataError(
                f"{name_record(key, self.path)}: expected an image with channels, height and width of 1 or "
                f"more, got {spelled}.",
                next_step="Write the database anew; this record holds no image.",
            )
        if size != math.prod(shape):
            raise DataError(
                f"{name_record(key, self.path)}: expected {spelled} values as it states, got {size}.",
                next_step="Write the database anew; this record was cut off or is damaged.",
            )
