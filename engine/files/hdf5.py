"""What Caffe's HDF5 files have in common: opening them, values and texts in them, and writing them whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import FileFormatError
from engine.files.blobs import FloatArray

__all__ = [
    "hdf5_image",
    "is_dataset",
    "is_group",
    "is_hdf5",
    "open_hdf5",
    "put_text",
    "read_floats",
    "read_integer",
    "read_text",
]

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def _h5py() -> Any:
    """Import h5py when a file of its kind is at hand: the editor starts without it."""
    import h5py

    return h5py


def is_group(item: object) -> bool:
    """Whether an item of an HDF5 file is a group."""
    return isinstance(item, _h5py().Group)


def is_dataset(item: object) -> bool:
    """Whether an item of an HDF5 file is a data set."""
    return isinstance(item, _h5py().Dataset)


def is_hdf5(path: Path) -> bool:
    """Whether a file begins as HDF5 files do; False where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError:
        return False


@contextlib.contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """Open a file for reading.

    Raises
    ------
    FileFormatError
        If the file is damaged, where it is opened or inside the block.
    """
    try:
        with _h5py().File(path, "r") as file:
            yield file
    except (OSError, KeyError, RuntimeError) as error:
        raise FileFormatError(
            f"'{path}' is no HDF5 file, or it is damaged: {error}.",
            next_step="Download or copy it again, and compare its size with the original's.",
        ) from error


@contextlib.contextmanager
def hdf5_image() -> Iterator[tuple[Any, list[bytes]]]:
    """Make a file in memory, so that it can be written to the disk wholly or not at all.

    Yields
    ------
    file : h5py.File
    image : list of bytes
        Holds the content of the file once the block has ended.
    """
    image: list[bytes] = []
    with _h5py().File("image.h5", "w", driver="core", backing_store=False) as file:
        yield file, image
        file.flush()
        image.append(file.id.get_file_image())


def read_floats(dataset: Any) -> FloatArray:
    """Return the values of a data set as float64 if that is what it holds, else as float32."""
    values: npt.NDArray[Any] = np.asarray(dataset[()])
    return values if values.dtype == np.float64 else values.astype(np.float32, copy=False)


def read_integer(file: Any, name: str, default: int = 0) -> int:
    """Return a whole number, which Caffe stores as a data set of shape (1,)."""
    return int(np.asarray(file[name]).reshape(-1)[0]) if name in file else default


def read_text(file: Any, name: str) -> str:
    """Return a text, or an empty one where there is none."""
    if name not in file:
        return ""
    value = np.asarray(file[name]).reshape(-1)[0]
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def put_text(file: Any, name: str, text: bytes) -> None:
    """Store a text as Caffe does: of fixed length, with a zero at its end."""
    h5py = _h5py()
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(text) + 1)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    dataset = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    value: npt.NDArray[Any] = np.array(text, dtype=f"S{len(text) + 1}")
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, value, mtype=kind)
