"""Writing what a net computes to an HDF5 file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from engine.errors import DataError

__all__ = ["Hdf5Output"]

_NAMES = ("data", "label")
_AXES = 4
_CHUNK_BYTES = 1 << 20


class Hdf5Output:
    """A file with the data sets ``data`` and ``label`` (Caffe's ``HDF5OutputLayer``).

    The first rows make the file anew, and it looks as Caffe writes it: float32, four axes, those that are missing of
    size 1. Further rows are added at the end, where Caffe ends with an error. Between two calls the file is closed and
    whole, so that it can be read while the net runs, and stays when the process is killed.

    Parameters
    ----------
    file_name : str
        As the net spells it; relative to the working directory.
    owner : str
        What the messages name.

    Raises
    ------
    DataError
        If there is no name, or no folder in which the file could be written.

    Attributes
    ----------
    path : Path
    rows : int
        Number of rows written.
    """

    def __init__(self, file_name: str, owner: str) -> None:
        self.path = Path(file_name).expanduser().absolute()
        self.rows = 0
        self._owner = owner
        if not file_name:
            raise DataError(f"{owner}: expected the path of a file in hdf5_output_param.file_name, got none.")
        folder = self.path.parent
        if not folder.is_dir() or self.path.is_dir():
            got = f"the folder '{self.path}'" if self.path.is_dir() else f"'{self.path}' in a folder that is not there"
            raise DataError(f"{owner}: expected a file to write, got {got}.", next_step="Make the folder.")
        if not os.access(self.path if self.path.exists() else folder, os.W_OK):
            raise DataError(f"{owner}: '{self.path}' cannot be written.", next_step="Change its permissions.")

    def write(self, data: npt.NDArray[np.float32], labels: npt.NDArray[np.float32]) -> None:
        """Add rows.

        Parameters
        ----------
        data, labels : ndarray
            As many rows each, along the first axis; the other axes stay the same from call to call.

        Raises
        ------
        DataError
            If the rows do not fit those before them, or the file cannot be written.
        """
        arrays = dict(zip(_NAMES, map(_four_axes, (data, labels)), strict=True))
        try:
            with h5py.File(self.path, "r+" if self.rows else "w") as file:
                for name, values in arrays.items():
                    self._add(file, name, values)
        except (OSError, RuntimeError) as error:
            raise DataError(
                f"{self._owner}: '{self.path}' cannot be written: {error}.", next_step="Check the disk."
            ) from error
        self.rows += len(data)

    def _add(self, file: Any, name: str, values: npt.NDArray[np.float32]) -> None:
        if not self.rows:
            file.create_dataset(name, data=values, maxshape=(None, *values.shape[1:]), chunks=_chunks(values.shape))
            return
        dataset = file[name]
        if dataset.shape[1:] != values.shape[1:]:
            raise DataError(
                f"{self._owner}: expected '{name}' of shape {dataset.shape[1:]} in each row, as written before to "
                f"'{self.path}', got {values.shape[1:]}.",
                next_step="Keep the shapes of the bottoms, but for the batch size.",
            )
        dataset.resize(self.rows + len(values), axis=0)
        dataset[self.rows :] = values

    def go_to(self, rows: int) -> None:
        """Continue behind the first rows of a file that an earlier run wrote; without it, the file begins anew."""
        try:
            with h5py.File(self.path, "r") as file:
                there = min(len(file[name]) for name in _NAMES)
                growing = all(file[name].maxshape[0] is None for name in _NAMES)
        except (OSError, KeyError):
            there, growing = 0, False
        self.rows = rows if rows <= there and growing else 0


def _four_axes(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return values.reshape(*values.shape, *(1,) * (_AXES - values.ndim))


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a piece of the file: whole rows, about as many as were written at once."""
    row = tuple(max(1, size) for size in shape[1:])
    return (max(1, min(shape[0], _CHUNK_BYTES // (4 * math.prod(row)))), *row)
