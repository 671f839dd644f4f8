"""Batches from image files that a list names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.batches import Batch
from engine.data.decoding import DecodePool
from engine.data.image_batches import ImageBatches
from engine.data.images import Bytes
from engine.data.lists import ImageList, read_image_list, read_listed
from engine.data.passes import Passes
from engine.data.prefetched import PrefetchedSource
from engine.errors import DataError

__all__ = ["ImageListSource"]

_AHEAD = 4  # batches


class ImageListSource(PrefetchedSource):
    """Reads, resizes and transforms listed images in background threads (Caffe's ``ImageDataLayer``).

    Parameters
    ----------
    image_data_param : ImageDataParameter
        ``source``, ``root_folder``, ``batch_size``, ``new_height``, ``new_width``, ``is_color``, ``shuffle`` and
        ``rand_skip`` are used.
    transform_param : TransformationParameter
        ``force_color`` and ``force_gray`` are of no effect; ``is_color`` tells.
    train : bool
        Whether the phase is TRAIN.
    seed : int
        Seed of the order, of crops, mirroring and ``rand_skip``.
    folders : sequence of Path
        Folders in which relative paths are looked for; those of images also beside the list.
    owner : str
        What the messages name.

    Raises
    ------
    DataError
        If a path is missing, the list or an image cannot be read, or the settings do not fit.
    """

    def __init__(
        self,
        image_data_param: Any,
        transform_param: Any,
        *,
        train: bool,
        seed: int,
        folders: Sequence[Path],
        owner: str,
    ) -> None:
        height, width = int(image_data_param.new_height), int(image_data_param.new_width)
        if bool(height) != bool(width):
            raise DataError(
                f"{owner}: expected new_height and new_width, or neither, got {height} and {width}.",
                next_step="Set both, in pixels.",
            )
        images = ImageBatches(
            transform_param, int(image_data_param.batch_size), train=train, seed=seed, folders=folders, owner=owner
        )
        listed = read_image_list(image_data_param.source, folders, owner)
        color = bool(image_data_param.is_color)
        reader = _ListedImages(listed, image_data_param.root_folder, color, (height, width), tuple(folders), owner)
        passes = Passes(len(listed.paths), shuffle=bool(image_data_param.shuffle), seed=seed)
        passes.skip(int(image_data_param.rand_skip), listed.file, owner)
        super().__init__(_ListMaker(reader, images, passes), _AHEAD, owner)


@dataclass(frozen=True, slots=True)
class _ListedImages:
    """Reads the images of a list by their place in it."""

    listed: ImageList
    root: str
    color: bool
    size: tuple[int, int]
    folders: tuple[Path, ...]
    owner: str

    def name(self, index: int) -> str:
        return f"'{self.listed.paths[index]}', {self.listed.file}:{self.listed.lines[index]}"

    def read(self, index: int) -> Bytes:
        line = int(self.listed.lines[index])
        written = self.root + self.listed.paths[index]
        return read_listed(written, self.listed.file, line, self.folders, self.owner, color=self.color, size=self.size)


class _ListMaker:
    """What the background thread works with."""

    def __init__(self, reader: _ListedImages, images: ImageBatches, passes: Passes) -> None:
        self._reader = reader
        self._images = images
        self._passes = passes
        self._pool = DecodePool()

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of a batch of images like the next one, without moving."""
        shape = self._images.shape_for(self._reader.read(self._passes.next))
        return shape, shape[:1]

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""
        places = self._passes.take(self._images.size)
        pixels = self._pool.map(self._reader.read, places.tolist())
        names = [self._reader.name(place) for place in places]
        images = self._images.transform(pixels, names, None if used is None else used.arrays[0])
        return Batch((images, self._reader.listed.labels[places].astype(np.float32)), self.position())

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""
        return {**self._passes.position(), "batch": self._images.batch, "seed": self._images.seed}

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""
        self._images.seed, self._images.batch = int(state["seed"]), int(state["batch"])
        self._passes.go_to(state, seed=self._images.seed)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()
