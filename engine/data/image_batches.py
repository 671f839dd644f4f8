"""From the images of a batch to the array that a layer's top takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.batches import FloatArray, random_stream
from engine.data.datum import Pixels
from engine.data.transform import Transform, read_mean
from engine.errors import DataError

__all__ = ["ImageBatches", "check_memory", "wants_color"]


class ImageBatches:
    """Transforms the images of one batch after another (Caffe's ``DataTransformer`` as its data layers use it).

    Images of a batch may differ in size where each is cropped. The random numbers of a batch belong to its number.

    Parameters
    ----------
    transform_param : TransformationParameter
    batch_size : int
    train : bool
        Whether the phase is TRAIN.
    seed : int
        Seed of crops and mirroring.
    folders : sequence of Path
        Folders in which ``mean_file`` is looked for.
    owner : str
        What the messages name.

    Raises
    ------
    DataError
        If ``mean_file`` cannot be had.

    Attributes
    ----------
    batch : int
        Number of the next batch.
    seed : int
    """

    def __init__(
        self, transform_param: Any, batch_size: int, *, train: bool, seed: int, folders: Sequence[Path], owner: str
    ) -> None:
        if batch_size < 1:
            raise DataError(f"{owner}: expected a batch_size of at least 1, got {batch_size}.")
        self.size = batch_size
        self.seed, self.batch = seed, 0
        self._param, self._train, self._owner = transform_param, train, owner
        self._mean = read_mean(transform_param.mean_file, folders, owner) if transform_param.mean_file else None
        self._last: Transform | None = None

    def shape_for(self, image: Pixels) -> tuple[int, int, int, int]:
        """Return the shape of a batch whose first image is the given one."""
        channels, height, width = image.shape
        shape = (self.size, *self._for((channels, height, width)).output_shape)
        check_memory(shape, self._owner)
        return shape

    def transform(self, images: Pixels | Sequence[Pixels], names: Sequence[str], used: FloatArray | None) -> FloatArray:
        """Transform the next batch.

        Parameters
        ----------
        images : ndarray of shape (batch_size, channels, height, width), or a sequence of (channels, height, width)
        names : sequence of str
            What each image is called in messages.
        used : ndarray or None
            Memory that may be taken for the result.

        Raises
        ------
        DataError
            If an image does not fit the settings, or the first of its batch.
        """
        first = self._for_image(images[0], names[0])
        shape = (self.size, *first.output_shape)
        out = used if used is not None and used.shape == shape else np.empty(shape, np.float32)
        rng = random_stream(self.seed, self.batch) if first.is_random else None
        if isinstance(images, np.ndarray):
            first.apply(images, out, rng)
        else:
            for index, (image, name) in enumerate(zip(images, names, strict=True)):
                transform = self._for_image(image, name)
                self._check_fits(image, images[0], transform.output_shape == shape[1:], name)
                transform.apply(image[np.newaxis], out[index : index + 1], rng)
        self.batch += 1
        return out

    @staticmethod
    def _check_fits(image: Pixels, first: Pixels, fits: bool, name: str) -> None:
        if not fits:
            raise DataError(
                f"{name}: expected shape {first.shape} as the first of its batch has, got {image.shape}.",
                next_step="Bring the images to one size, or set crop_size or a batch_size of 1.",
            )

    def _for_image(self, image: Pixels, name: str) -> Transform:
        channels, height, width = image.shape
        try:
            return self._for((channels, height, width))
        except DataError as error:
            raise DataError(f"{error.message[:-1]} ({name}).", next_step=error.next_step) from error

    def _for(self, shape: tuple[int, int, int]) -> Transform:
        if self._last is None or self._last.image_shape != shape:
            self._last = Transform(self._param, shape, train=self._train, owner=self._owner, mean=self._mean)
        return self._last


def check_memory(shape: tuple[int, ...], owner: str) -> None:
    """Refuse a batch that cannot be held, before its records are collected one by one."""
    try:
        np.empty(shape, np.float32)  # takes nothing until it is written to
    except (MemoryError, ValueError) as error:
        raise DataError(
            f"{owner}: expected memory for a batch of shape {shape}, got less than that.",
            next_step="Lower batch_size or crop_size.",
        ) from error


def wants_color(transform_param: Any, owner: str) -> bool | None:
    """Return whether encoded images are read in colour (True), in grey (False), or as they were stored (None)."""
    if transform_param.force_color and transform_param.force_gray:
        raise DataError(f"{owner}: expected force_color or force_gray, got both.", next_step="Remove one of them.")
    if transform_param.force_color:
        return True
    return False if transform_param.force_gray else None
