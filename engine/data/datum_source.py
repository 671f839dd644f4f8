"""Batches from a database of ``Datum`` records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.data.batches import Batch, random_stream
from engine.data.databases import RecordReader, open_database
from engine.data.datum import DatumDecoder, name_record
from engine.data.decoding import DecodePool
from engine.data.image_batches import ImageBatches, wants_color
from engine.data.prefetched import PrefetchedSource

__all__ = ["DatumSource"]


class DatumSource(PrefetchedSource):
    """Reads, decodes and transforms records in a background thread (Caffe's ``DataLayer``).

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
        color = wants_color(transform_param, owner)
        images = ImageBatches(
            transform_param, int(data_param.batch_size), train=train, seed=seed, folders=folders, owner=owner
        )
        reader = open_database(data_param.source, folders, owner)
        self.path = reader.path
        if data_param.rand_skip:
            reader.skip(int(random_stream(seed).integers(data_param.rand_skip)))
        maker = _DatumMaker(reader, DatumDecoder(reader.path, color, DecodePool()), images, labels, owner)
        super().__init__(maker, int(data_param.prefetch), owner)


class _DatumMaker:
    """What the background thread works with; knows nothing of the source, so that a forgotten source is collected."""

    def __init__(
        self, reader: RecordReader, decoder: DatumDecoder, images: ImageBatches, labels: bool, owner: str
    ) -> None:
        self._reader = reader
        self._decoder = decoder
        self._images = images
        self._labels = labels
        self._owner = owner

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of a batch of records like the next one, without moving."""
        start = self._reader.get_state()
        pixels, _ = self._decoder.decode([self._reader.next()])
        self._reader.set_state(start)
        images = self._images.shape_for(pixels[0])
        return (images, images[:1]) if self._labels else (images,)

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""
        records = [self._reader.next() for _ in range(self._images.size)]
        pixels, labels = self._decoder.decode(records)
        names = [name_record(key, self._reader.path) for key, _ in records]
        images = self._images.transform(pixels, names, None if used is None else used.arrays[0])
        return Batch((images, labels) if self._labels else (images,), self.position())

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""
        return {**self._reader.get_state(), "batch": self._images.batch, "seed": self._images.seed}

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""
        self._reader.set_state(state)
        self._images.seed, self._images.batch = int(state["seed"]), int(state["batch"])

    def close(self) -> None:
        """Let go of the database and end the threads."""
        if self._decoder.pool is not None:
            self._decoder.pool.close()
        self._reader.close()
