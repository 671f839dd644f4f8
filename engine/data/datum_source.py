"""Batches from a database of ``Datum`` records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.batches import Batch, random_stream
from engine.data.datum import DatumDecoder, Pixels
from engine.data.lmdb_reader import LmdbReader
from engine.data.prefetch import Prefetcher
from engine.data.transform import Transform, read_mean
from engine.errors import DataError
from engine.paths import ResolvedPath, resolve

__all__ = ["DatumSource", "open_database"]

_LEVELDB_MARKS = ("CURRENT", "LOCK")


def open_database(written: str, folders: Sequence[Path], owner: str) -> LmdbReader:
    """Open the database a net names, whatever ``backend`` says: its kind is read from its files.

    Parameters
    ----------
    written : str
        Path as the net spells it.
    folders : sequence of Path
        Folders to look in.
    owner : str
        What the messages name, such as ``Layer 'mnist' (Data)``.

    Raises
    ------
    DataError
        If it is missing, of a kind that cannot be read, or empty.
    """
    found = resolve(written, folders)
    if not written or not found.found:
        raise _missing(written, found, owner)
    path = found.path
    if path.is_dir() and not (path / "data.mdb").exists():
        if all((path / mark).exists() for mark in _LEVELDB_MARKS):
            raise DataError(
                f"{owner}: expected an LMDB database, got the LevelDB database '{path}'; LevelDB cannot be read yet.",
                next_step="Convert it to LMDB and set backend: LMDB.",
            )
        raise DataError(
            f"{owner}: expected a database in '{path}', got a folder without data.mdb.",
            next_step="Name the folder that holds data.mdb.",
        )
    return LmdbReader(path)


class DatumSource:
    """Reads, decodes and transforms records in a background thread.

    Parameters
    ----------
    data_param : DataParameter
        ``source``, ``batch_size``, ``rand_skip`` and ``prefetch`` are used.
    transform_param : TransformationParameter
    train : bool
        Whether the phase is TRAIN.
    labels : bool
        Whether batches have labels as their second array.
    seed : int
        Seed of crops, mirroring and ``rand_skip``.
    folders : sequence of Path
        Folders in which relative paths are looked for.
    owner : str
        What the messages name.

    Raises
    ------
    DataError
        If a path is missing, a file is of another kind, or the settings do not fit the records.
    """

    def __init__(
        self,
        data_param: Any,
        transform_param: Any,
        *,
        train: bool,
        labels: bool,
        seed: int,
        folders: Sequence[Path],
        owner: str,
    ) -> None:
        if data_param.batch_size < 1:
            raise DataError(f"{owner}: expected a batch_size of at least 1, got {data_param.batch_size}.")
        reader = open_database(data_param.source, folders, owner)
        decoder = DatumDecoder(reader.path, _color(transform_param, owner))
        mean = read_mean(transform_param.mean_file, folders, owner) if transform_param.mean_file else None
        make_transform = partial(Transform, transform_param, train=train, owner=owner, mean=mean)
        self._maker = _BatchMaker(reader, decoder, make_transform, int(data_param.batch_size), labels, seed)
        self._shapes = self._maker.look_at_first()
        _check_memory(self._shapes[0], owner)
        if data_param.rand_skip:
            reader.skip(int(random_stream(seed).integers(data_param.rand_skip)))
        self._state = self._maker.position()
        self._depth, self._owner = int(data_param.prefetch), owner
        self._prefetcher: Prefetcher | None = None

    @property
    def path(self) -> Path:
        """The database that was found."""
        return self._maker.reader.path

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of the images and, where there are any, labels: of the last batch, or as the first record has it."""
        return self._shapes

    def next(self) -> Batch:
        """Return the next batch, starting over after the last record."""
        if self._prefetcher is None:
            self._prefetcher = Prefetcher(self._maker.make, self._depth, self._owner)
        batch = self._prefetcher.next()
        self._state = dict(batch.state)
        self._shapes = tuple(array.shape for array in batch.arrays)
        return batch

    def get_state(self) -> dict[str, Any]:
        """Return the position after the last batch that was handed out."""
        return dict(self._state)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a position that :meth:`get_state` returned."""
        self._stop()
        self._maker.go_to(state)
        self._state = self._maker.position()

    def close(self) -> None:
        """End the thread and let go of the database."""
        self._stop()
        self._maker.reader.close()

    def _stop(self) -> None:
        if self._prefetcher is not None:
            self._prefetcher.close()
            self._prefetcher = None


class _BatchMaker:
    """What the background thread works with; knows nothing of the source, so that a forgotten source is collected."""

    def __init__(
        self,
        reader: LmdbReader,
        decoder: DatumDecoder,
        make_transform: Callable[[tuple[int, int, int]], Transform],
        batch_size: int,
        labels: bool,
        seed: int,
    ) -> None:
        self.reader = reader
        self._decoder = decoder
        self._make_transform = make_transform
        self._transform: Transform | None = None
        self._batch_size = batch_size
        self._labels = labels
        self._seed = seed
        self._batch = 0

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of a batch of records like the first, without moving."""
        start = self.reader.get_state()
        pixels, _ = self._decoder.decode([self.reader.next()])
        self.reader.set_state(start)
        images = (self._batch_size, *self._transform_for(pixels).output_shape)
        return (images, (self._batch_size,)) if self._labels else (images,)

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""
        reader = self.reader
        pixels, labels = self._decoder.decode([reader.next() for _ in range(self._batch_size)])
        transform = self._transform_for(pixels)
        shape = (self._batch_size, *transform.output_shape)
        images = used.arrays[0] if used is not None and used.arrays[0].shape == shape else np.empty(shape, np.float32)
        transform.apply(pixels, images, random_stream(self._seed, self._batch) if transform.is_random else None)
        self._batch += 1
        return Batch((images, labels) if self._labels else (images,), self.position())

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""
        return {**self.reader.get_state(), "batch": self._batch, "seed": self._seed}

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""
        self.reader.set_state(state)
        self._seed, self._batch = int(state["seed"]), int(state["batch"])

    def _transform_for(self, pixels: Pixels) -> Transform:
        _, channels, height, width = pixels.shape
        if self._transform is None or self._transform.image_shape != (channels, height, width):
            self._transform = self._make_transform((channels, height, width))
        return self._transform


def _check_memory(shape: tuple[int, ...], owner: str) -> None:
    """Refuse a batch that cannot be held, before its records are collected one by one."""
    try:
        np.empty(shape, np.float32)  # takes nothing until it is written to
    except (MemoryError, ValueError) as error:
        raise DataError(
            f"{owner}: expected memory for a batch of shape {shape}, got less than that.",
            next_step="Lower batch_size or crop_size.",
        ) from error


def _missing(written: str, found: ResolvedPath, owner: str) -> DataError:
    if not written:
        step = "Name it there."
        return DataError(f"{owner}: expected the path of a database in data_param.source, got none.", next_step=step)
    tried = ", ".join(f"'{path}'" for path in found.tried)
    step = "Put the data there, or correct the path."
    return DataError(f"{owner}: database '{written}' was not found; tried {tried}.", next_step=step)


def _color(transform_param: Any, owner: str) -> bool | None:
    if transform_param.force_color and transform_param.force_gray:
        raise DataError(f"{owner}: expected force_color or force_gray, got both.", next_step="Remove one of them.")
    if transform_param.force_color:
        return True
    return False if transform_param.force_gray else None
