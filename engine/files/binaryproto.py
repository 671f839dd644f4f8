"""Single blobs in files (``.binaryproto``), such as mean images."""

from __future__ import annotations

import os
from pathlib import Path

import numpy.typing as npt

from engine.files.atomic import atomic_write
from engine.files.blobs import FloatArray, blob_to_proto, decode_blob
from engine.files.opening import damaged, map_file
from engine.schema import FileKind
from engine.schema.wire import WireError

__all__ = ["read_blob", "write_blob"]


def read_blob(path: str | os.PathLike[str]) -> FloatArray:
    """Read the blob of a file.

    Parameters
    ----------
    path : path
        A ``.binaryproto`` file, told by its content and not by its name.

    Returns
    -------
    ndarray of float32 or float64
        In the shape of the blob, usually (1, channels, height, width).

    Raises
    ------
    FileFormatError
        If the file cannot be read, is damaged or is of another kind; the message says what it looks like.
    """
    file = Path(path)
    try:
        return decode_blob(map_file(file, FileKind.BLOB)).data.copy()
    except WireError as error:
        raise damaged(file, FileKind.BLOB, error) from error


def write_blob(path: str | os.PathLike[str], data: npt.ArrayLike) -> None:
    """Write an array as a file of one blob, wholly or not at all; float64 stays float64, all else becomes float32."""
    atomic_write(path, blob_to_proto(data).SerializeToString())
