"""Batches from HDF5 files that a list names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from engine.data.batches import Batch, FloatArray, random_stream
from engine.errors import DataError
from engine.paths import resolve, search_folders

__all__ = ["Hdf5Source"]

_FILES, _ROWS = 0, 1
_NUMBERS = "biuf"  # kinds of dtype
_DAMAGED = (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError)  # what the library makes of bad files


class Hdf5Source:
    """Reads rows of several files as one endless sequence (Caffe's ``HDF5DataLayer``).

    Every top takes the data set of its own name. A batch goes on into the next file, and after the last file into the
    first. One file at a time is held in memory. With ``shuffle``, the order of files is drawn for every pass and the
    order of rows for every file.

    Parameters
    ----------
    hdf5_data_param : HDF5DataParameter
        ``source`` names a text file with one path a line.
    names : sequence of str
        Names of the tops.
    seed : int
        Seed of shuffling.
    folders : sequence of Path
        Folders in which relative paths are looked for; those inside the list are also looked for beside the list.
    owner : str
        What the messages name.

    Raises
    ------
    DataError
        If the list or a file is missing, a data set is absent, or numbers of rows or shapes differ.
    """

    def __init__(
        self, hdf5_data_param: Any, names: Sequence[str], *, seed: int, folders: Sequence[Path], owner: str
    ) -> None:
        self.batch_size = int(hdf5_data_param.batch_size)
        if self.batch_size < 1:
            raise DataError(f"{owner}: expected a batch_size of at least 1, got {self.batch_size}.")
        self._names = tuple(names)
        self._owner = owner
        self._shuffle = bool(hdf5_data_param.shuffle)
        self._seed = seed
        self._files = _read_list(hdf5_data_param.source, folders, owner)
        self._loaded: Path | None = None
        self._data: tuple[FloatArray, ...] = ()
        self._visit = 0
        self._row = 0
        self._row_shapes: tuple[tuple[int, ...], ...] | None = None
        self._enter(0)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were found, in the order of the list."""
        return self._files

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of every top."""
        return tuple((self.batch_size, *array.shape[1:]) for array in self._data)

    def next(self) -> Batch:
        """Return the next batch."""
        arrays = tuple(np.empty(shape, np.float32) for shape in self.shapes)
        filled = 0
        while filled < self.batch_size:
            rows = self._order[self._row : self._row + self.batch_size - filled]
            for array, data in zip(arrays, self._data, strict=True):
                np.take(data, rows, axis=0, out=array[filled : filled + len(rows)], mode="clip")
            filled += len(rows)
            self._row += len(rows)
            if self._row == len(self._order):
                self._enter(self._visit + 1)
        return Batch(arrays, self.get_state())

    def get_state(self) -> dict[str, Any]:
        """Return the position after the last batch: files entered so far, and row of the present one."""
        return {"visit": self._visit, "row": self._row, "seed": self._seed}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a position that :meth:`get_state` returned."""
        self._seed = int(state["seed"])
        self._enter(int(state["visit"]))
        self._row = int(state["row"]) % len(self._order)

    def close(self) -> None:
        """Let go of the rows in memory."""
        self._data = ()
        self._loaded = None

    def _enter(self, visit: int) -> None:
        """Go to the first row of the file that is read as number ``visit``."""
        epoch, index = divmod(visit, len(self._files))
        if self._shuffle:
            index = int(random_stream(self._seed, _FILES, epoch).permutation(len(self._files))[index])
        if self._files[index] != self._loaded:
            self._load(self._files[index])
        rows = len(self._data[0])
        self._order = random_stream(self._seed, _ROWS, visit).permutation(rows) if self._shuffle else np.arange(rows)
        self._visit, self._row = visit, 0

    def _load(self, path: Path) -> None:
        try:
            with h5py.File(path, "r") as file:
                data = tuple(self._read(file, path, name) for name in self._names)
        except _DAMAGED as error:
            raise DataError(
                f"{self._owner}: expected an HDF5 file, got '{path}', which cannot be read ({error}).",
                next_step="Copy or write the file again.",
            ) from error
        rows = {name: len(array) for name, array in zip(self._names, data, strict=True)}
        spelled = ", ".join(f"{count} in '{name}'" for name, count in rows.items())
        if len(set(rows.values())) > 1:
            raise DataError(f"{self._owner}: expected data sets with equally many rows in '{path}', got {spelled}.")
        if not all(rows.values()):
            raise DataError(f"{self._owner}: expected at least one row in '{path}', got {spelled}.")
        shapes = tuple(array.shape[1:] for array in data)
        if self._row_shapes is not None and shapes != self._row_shapes:
            raise DataError(
                f"{self._owner}: expected rows of shapes {self._row_shapes} in '{path}', as in the first file, "
                f"got {shapes}.",
                next_step="Give files of different shapes to layers of their own.",
            )
        self._row_shapes, self._data, self._loaded = shapes, data, path

    def _read(self, file: Any, path: Path, name: str) -> FloatArray:
        if name not in file or not isinstance(file[name], h5py.Dataset):
            present = ", ".join(f"'{key}'" for key in file) or "none"
            raise DataError(
                f"{self._owner}: expected a data set named '{name}' like the top in '{path}', got {present}.",
                next_step="Name the tops after the data sets.",
            )
        dataset = file[name]
        if dataset.ndim == 0:
            raise DataError(f"{self._owner}: expected rows in data set '{name}' of '{path}', got a single value.")
        if dataset.dtype.kind not in _NUMBERS:
            raise DataError(
                f"{self._owner}: expected numbers in data set '{name}' of '{path}', got elements of type "
                f"{dataset.dtype}.",
                next_step="Write integers or floating-point numbers.",
            )
        array: FloatArray = np.ascontiguousarray(dataset[()], dtype=np.float32)
        return array


def _read_list(written: str, folders: Sequence[Path], owner: str) -> tuple[Path, ...]:
    found = resolve(written, folders)
    if not written or not found.path.is_file():
        tried = ", ".join(f"'{path}'" for path in found.tried)
        raise DataError(
            f"{owner}: expected a text file that lists HDF5 files in hdf5_data_param.source, got '{written}'; "
            f"tried {tried}."
        )
    try:
        lines = found.path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{owner}: expected a text file that lists HDF5 files, got '{found.path}', which is not text.",
            next_step="Name a text file with the path of the HDF5 file in it.",
        ) from error
    search = tuple(dict.fromkeys((*folders, *search_folders(found.path.parent))))
    files: list[Path] = []
    for line in filter(None, map(str.strip, lines)):
        files += _resolve_line(line, search, found.path, owner)
    if not files:
        raise DataError(f"{owner}: expected paths of HDF5 files in '{found.path}', got an empty list.")
    return tuple(files)


def _resolve_line(line: str, search: Sequence[Path], source: Path, owner: str) -> list[Path]:
    """Find the file of one line; a line that is no path itself may hold several without blanks, as Caffe reads it."""
    whole = resolve(line, search)
    if whole.found:
        return [whole.path]
    parts = [resolve(part, search) for part in line.split()]
    if all(part.found for part in parts):
        return [part.path for part in parts]
    tried = ", ".join(f"'{path}'" for path in whole.tried)
    raise DataError(f"{owner}: '{line}', listed in '{source}', was not found; tried {tried}.")
