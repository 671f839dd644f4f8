"""Batches from image files that a list names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.data.batches import Batch, random_stream
from engine.data.decoding import DecodePool
from engine.data.image_batches import ImageBatches
from engine.data.images import Bytes, read_image
from engine.data.lists import ImageList, find_listed, read_image_list
from engine.data.prefetched import PrefetchedSource
from engine.errors import DataError

__all__ = ["ImageListSource"]

_AHEAD = 4  # batches
_ORDER, _SKIP = 2**31, 2**31 + 1  # counters of random streams beyond any number of a batch


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
        reader = _ListedImages(
            listed, image_data_param.root_folder, bool(image_data_param.is_color), height, width, tuple(folders), owner
        )
        maker = _ListMaker(reader, images, bool(image_data_param.shuffle))
        if image_data_param.rand_skip:
            maker.index = int(random_stream(seed, _SKIP).integers(image_data_param.rand_skip))
            if maker.index >= len(listed.paths):
                raise DataError(
                    f"{owner}: expected more images in '{listed.file}' than the {maker.index} to skip, "
                    f"got {len(listed.paths)}.",
                    next_step="Lower rand_skip to the number of images at most.",
                )
        super().__init__(maker, _AHEAD, owner)


@dataclass(frozen=True, slots=True)
class _ListedImages:
    """Reads the images of a list by their place in it."""

    listed: ImageList
    root: str
    color: bool
    height: int
    width: int
    folders: tuple[Path, ...]
    owner: str

    def name(self, index: int) -> str:
        return f"'{self.listed.paths[index]}', {self.listed.file}:{self.listed.lines[index]}"

    def read(self, index: int) -> Bytes:
        line = int(self.listed.lines[index])
        path = find_listed(self.root + self.listed.paths[index], self.listed.file, line, self.folders, self.owner)
        try:
            return read_image(path, color=self.color, height=self.height, width=self.width)
        except DataError as error:
            raise DataError(
                f"{self.owner}: {error.message[:-1]}; listed in {self.listed.file}:{line}.", next_step=error.next_step
            ) from error


class _ListMaker:
    """What the background thread works with.

    The order of a pass is a function of the seed and of the number of the pass.
    """

    def __init__(self, reader: _ListedImages, images: ImageBatches, shuffle: bool) -> None:
        self._reader = reader
        self._images = images
        self._shuffle = shuffle
        self._count = len(reader.listed.paths)
        self.index = 0
        self._enter(0)
        self._pool = DecodePool()

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of a batch of images like the next one, without moving."""
        shape = self._images.shape_for(self._reader.read(int(self._order[self.index])))
        return shape, shape[:1]

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""
        places = self._take(self._images.size)
        pixels = self._pool.map(self._reader.read, places.tolist())
        names = [self._reader.name(place) for place in places]
        images = self._images.transform(pixels, names, None if used is None else used.arrays[0])
        return Batch((images, self._reader.listed.labels[places].astype(np.float32)), self.position())

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""
        return {"pass": self._pass, "index": self.index, "batch": self._images.batch, "seed": self._images.seed}

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""
        self._images.seed, self._images.batch = int(state["seed"]), int(state["batch"])
        self._enter(int(state["pass"]))
        self.index = int(state["index"]) % self._count

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def _take(self, count: int) -> npt.NDArray[np.intp]:
        taken: list[npt.NDArray[np.intp]] = []
        while count:
            part = self._order[self.index : self.index + count]
            taken.append(part)
            count -= len(part)
            self.index += len(part)
            if self.index == self._count:
                self._enter(self._pass + 1)
                self.index = 0
        return np.concatenate(taken)

    def _enter(self, number: int) -> None:
        self._pass = number
        random = random_stream(self._images.seed, _ORDER, number)
        self._order = random.permutation(self._count) if self._shuffle else np.arange(self._count)
