"""Caffe's ``Datum`` records, decoded a batch at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.data.images import decode_image
from engine.errors import DataError
from engine.schema import load_schema

__all__ = ["DatumDecoder", "Pixels"]

Pixels = npt.NDArray[np.uint8] | npt.NDArray[np.float32]
Record = tuple[bytes, memoryview]


@dataclass(frozen=True, slots=True)
class DatumDecoder:
    """Turns serialized ``Datum`` messages into arrays.

    Attributes
    ----------
    path : Path
        The database, for messages.
    color : bool or None
        For encoded images: True to decode in colour, False in grey, None as they were stored.
    """

    path: Path
    color: bool | None = None

    def decode(self, records: Sequence[Record]) -> tuple[Pixels, npt.NDArray[np.float32]]:
        """Decode one batch.

        Returns
        -------
        pixels : ndarray of uint8 or float32, shape (records, channels, height, width)
        labels : ndarray of float32, shape (records,)

        Raises
        ------
        DataError
            If a record is no ``Datum``, holds another amount of data than it states, or has another shape than the
            first one of the batch; the message names its key.
        """
        datums = [self._parse(key, value) for key, value in records]
        labels = np.array([datum.label for datum in datums], dtype=np.float32)
        first = datums[0]
        if first.encoded or not first.data:
            return self._decode_each(records, datums), labels
        shape = (first.channels, first.height, first.width)
        size = len(first.data)
        for datum in datums:
            if (datum.channels, datum.height, datum.width) != shape or len(datum.data) != size or datum.encoded:
                return self._decode_each(records, datums), labels
        self._check_size(records[0][0], shape, size)
        flat = np.frombuffer(b"".join([datum.data for datum in datums]), dtype=np.uint8)
        return flat.reshape(len(datums), *shape), labels

    def _parse(self, key: bytes, value: memoryview) -> Any:
        try:
            return load_schema().message("Datum").FromString(value)
        except Exception as error:
            raise DataError(
                f"Record {_spell(key)} of '{self.path}': expected a Caffe Datum, got {len(value)} bytes that are none.",
                next_step="Write the database with convert_imageset or another tool that stores Datum messages.",
            ) from error

    def _decode_each(self, records: Sequence[Record], datums: Sequence[Any]) -> Pixels:
        """Decode records that differ in kind, refusing those that differ in shape."""
        arrays: list[Pixels] = []
        for (key, _), datum in zip(records, datums, strict=True):
            array = self._decode_one(key, datum)
            if arrays and array.shape != arrays[0].shape:
                raise DataError(
                    f"Record {_spell(key)} of '{self.path}': expected shape {arrays[0].shape} as in the rest of its "
                    f"batch, got {array.shape}.",
                    next_step="Resize the images when writing the database, or set crop_size and batch_size 1.",
                )
            arrays.append(array)
        if all(array.dtype == np.uint8 for array in arrays):
            return np.stack(arrays).astype(np.uint8, copy=False)
        return np.stack(arrays).astype(np.float32, copy=False)

    def _decode_one(self, key: bytes, datum: Any) -> Pixels:
        if datum.encoded:
            try:
                return decode_image(datum.data, color=self.color)
            except DataError as error:
                raise DataError(f"Record {_spell(key)} of '{self.path}': {error.message}") from error
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
                f"Record {_spell(key)} of '{self.path}': expected an image with channels, height and width of 1 or "
                f"more, got {spelled}.",
                next_step="Write the database anew; this record holds no image.",
            )
        if size != math.prod(shape):
            raise DataError(
                f"Record {_spell(key)} of '{self.path}': expected {spelled} values as it states, got {size}."
            )


def _spell(key: bytes) -> str:
    return repr(key.decode("utf-8", "backslashreplace"))
