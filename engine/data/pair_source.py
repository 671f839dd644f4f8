"""Batches of images with, for each, an image of labels."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.batches import Batch, FloatArray, random_stream
from engine.data.decoding import DecodePool
from engine.data.image_batches import check_memory
from engine.data.images import Bytes
from engine.data.lists import open_list, read_listed
from engine.data.passes import Passes
from engine.data.prefetched import PrefetchedSource
from engine.data.resizing import resize_nearest
from engine.data.transform import Transform, read_mean
from engine.errors import DataError

__all__ = ["ImagePairSource"]

_AHEAD = 4  # batches
_log = logging.getLogger(__name__)

Pair = tuple[Bytes, Bytes]


class ImagePairSource(PrefetchedSource):
    """Reads pairs of images in background threads (SegNet's ``DenseImageDataLayer``).

    Parameters
    ----------
    param : DenseImageDataParameter
        All fields are used but ``mean_file``, which the layer of that name does not look at either.
    transform_param : TransformationParameter
        Its mean and scale are for the images, after cropping; its own cropping and mirroring are refused.
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
        self, param: Any, transform_param: Any, *, train: bool, seed: int, folders: Sequence[Path], owner: str
    ) -> None:
        _check(param, transform_param, owner)
        if param.mean_file:
            _log.warning("%s: mean_file of dense_image_data_param is of no effect; set it in transform_param.", owner)
        file, pairs = _read_pairs(param.source, folders, owner)
        reader = _Pairs(file, pairs, param, tuple(folders), owner)
        mean = read_mean(transform_param.mean_file, folders, owner) if transform_param.mean_file else None
        passes = Passes(len(pairs), shuffle=bool(param.shuffle), seed=seed)
        passes.skip(int(param.rand_skip), file, owner)
        transforms = _Transforms(transform_param, train, owner, mean)
        super().__init__(_PairMaker(reader, transforms, passes, param, seed, owner), _AHEAD, owner)


def _check(param: Any, transform_param: Any, owner: str) -> None:
    for one, other in (("new_height", "new_width"), ("crop_height", "crop_width")):
        sizes = getattr(param, one), getattr(param, other)
        if bool(sizes[0]) != bool(sizes[1]):
            raise DataError(
                f"{owner}: expected {one} and {other}, or neither, got {sizes[0]} and {sizes[1]}.",
                next_step="Set both, in pixels.",
            )
    if param.batch_size < 1:
        raise DataError(f"{owner}: expected a batch_size of at least 1, got {param.batch_size}.")
    if param.label_divide_factor < 1:
        raise DataError(f"{owner}: expected a label_divide_factor of at least 1, got {param.label_divide_factor}.")
    if param.label_divide_factor > 1 and param.crop_height:
        raise DataError(
            f"{owner}: expected no crop with a label_divide_factor of {param.label_divide_factor}: a crop of the image "
            "is not one of its smaller labels.",
            next_step="Remove crop_height and crop_width.",
        )
    if transform_param.mirror or transform_param.crop_size:
        raise DataError(
            f"{owner}: expected no mirror and crop_size in transform_param, which would turn images and not labels.",
            next_step="Set mirror, crop_height and crop_width of dense_image_data_param.",
        )


def _read_pairs(written: str, folders: Sequence[Path], owner: str) -> tuple[Path, list[tuple[str, str, int]]]:
    """Return a list's path, and its pairs with their lines: words, the first of an image, the next of its labels."""
    file, text = open_list(written, folders, owner, "images", "dense_image_data_param.source")
    words = [(word, number) for number, line in enumerate(text.split("\n"), start=1) for word in line.split()]
    if not words or len(words) % 2:
        raise DataError(
            f"{owner}: expected an image and its label image in each line of '{file}', got {len(words)} paths.",
            next_step="Write both paths, with a blank between them and none in them.",
        )
    return file, [(image, label, line) for (image, line), (label, _) in zip(words[::2], words[1::2], strict=True)]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Reads the pairs of a list by their place in it."""

    file: Path
    pairs: list[tuple[str, str, int]]
    param: Any
    folders: tuple[Path, ...]
    owner: str

    def name(self, index: int) -> str:
        image, _, line = self.pairs[index]
        return f"'{image}', {self.file}:{line}"

    def read(self, index: int) -> Pair:
        """Return image and labels, shapes (channels, height, width) and (1, height, width)."""
        param = self.param
        image, label, line = self.pairs[index]
        size = int(param.new_height), int(param.new_width)
        pixels = self._read(image, line, color=bool(param.is_color), size=size)
        labels = self._read(label, line, color=False, size=(0, 0))
        factor = int(param.label_divide_factor)
        if param.new_height:
            labels = resize_nearest(labels[0], param.new_height // factor, param.new_width // factor)[np.newaxis]
        expected = (pixels.shape[1] // factor, pixels.shape[2] // factor)
        if labels.shape[1:] != expected:
            smaller = f" divided by label_divide_factor {factor}" if factor > 1 else ""
            raise DataError(
                f"{self.owner}: expected '{label}', {self.file}:{line}, to have the size of its image{smaller}, "
                f"{expected[0]} high and {expected[1]} wide, got {labels.shape[1]} and {labels.shape[2]}.",
                next_step="Bring both to one size, or set new_height and new_width.",
            )
        return pixels, labels

    def _read(self, written: str, line: int, *, color: bool, size: tuple[int, int]) -> Bytes:
        written = self.param.root_folder + written
        return read_listed(written, self.file, line, self.folders, self.owner, color=color, size=size)


class _Transforms:
    """Mean and scale, for images of any size."""

    def __init__(self, param: Any, train: bool, owner: str, mean: FloatArray | None) -> None:
        self._param, self._train, self._owner, self._mean = param, train, owner, mean
        self._last: Transform | None = None

    def apply(self, image: Bytes, out: FloatArray) -> None:
        channels, height, width = image.shape
        if self._last is None or self._last.image_shape != image.shape:
            shape = (channels, height, width)
            self._last = Transform(self._param, shape, train=self._train, owner=self._owner, mean=self._mean)
        self._last.apply(image[np.newaxis], out[np.newaxis], None)


class _PairMaker:
    """What the background thread works with.

    Crops and mirroring of a batch are a function of the seed and of the number of the batch.
    """

    def __init__(
        self, reader: _Pairs, transforms: _Transforms, passes: Passes, param: Any, seed: int, owner: str
    ) -> None:
        self._reader, self._transforms, self._passes, self._owner = reader, transforms, passes, owner
        self._size = int(param.batch_size)
        self._crop = (int(param.crop_height), int(param.crop_width))
        self._mirror = bool(param.mirror)
        self._seed, self._batch = seed, 0
        self._pool = DecodePool()

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of a batch of pairs like the next one, without moving."""
        place = self._passes.next
        pair = self._cut(self._reader.read(place), self._reader.name(place), None)
        shapes = [(self._size, *part.shape) for part in pair]
        for shape in shapes:
            check_memory(shape, self._owner)
        self._transforms.apply(pair[0], np.empty(pair[0].shape, np.float32))  # settings that do not fit are told now
        return tuple(shapes)

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""
        places = self._passes.take(self._size).tolist()
        pairs = self._pool.map(self._reader.read, places)
        rng = random_stream(self._seed, self._batch)
        names = [self._reader.name(place) for place in places]
        pairs = [self._cut(pair, name, rng) for pair, name in zip(pairs, names, strict=True)]
        shapes = [(self._size, *part.shape) for part in pairs[0]]
        fits = used is not None and [array.shape for array in used.arrays] == shapes
        images, labels = used.arrays if used is not None and fits else [np.empty(s, np.float32) for s in shapes]
        for place, (image, label) in enumerate(pairs):
            if image.shape != images.shape[1:]:
                raise DataError(
                    f"{self._owner}: {names[place]}: expected shape {images.shape[1:]} as the first of its batch has, "
                    f"got {image.shape}.",
                    next_step="Set new_height and new_width, a crop, or a batch_size of 1.",
                )
            self._transforms.apply(image, images[place])
            labels[place] = label
        self._batch += 1
        return Batch((images, labels), self.position())

    def _cut(self, pair: Pair, name: str, rng: np.random.Generator | None) -> Pair:
        """Mirror and crop both alike, at random; from the corner where there is no generator."""
        if self._mirror and rng is not None and rng.integers(2):
            pair = pair[0][:, :, ::-1], pair[1][:, :, ::-1]
        height, width = self._crop
        if not height:
            return pair
        spare = pair[0].shape[1] - height, pair[0].shape[2] - width
        if min(spare) < 0:
            raise DataError(
                f"{self._owner}: {name}: expected an image at least {height} high and {width} wide to crop, got "
                f"{pair[0].shape[1]} and {pair[0].shape[2]}.",
                next_step="Lower crop_height and crop_width.",
            )
        top, left = (0, 0) if rng is None else (int(rng.integers(each + 1)) for each in spare)
        image, label = (part[:, top : top + height, left : left + width] for part in pair)
        return image, label

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""
        return {**self._passes.position(), "batch": self._batch, "seed": self._seed}

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""
        self._seed, self._batch = int(state["seed"]), int(state["batch"])
        self._passes.go_to(state, seed=self._seed)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()
