"""Caffe's ``transform_param`` on whole batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.batches import FloatArray
from engine.data.datum import Pixels
from engine.errors import DataError, FileFormatError, MissingDataError
from engine.files import read_blob
from engine.paths import resolve

__all__ = ["Transform", "read_mean"]


class Transform:
    """Crop, mirror, mean and scale, in Caffe's order: ``(pixel - mean) * scale``.

    The mean of a pixel is the one of its place in the whole image, before cropping. A crop is taken at random in TRAIN
    and from the centre in TEST; mirroring is random in both phases (Caffe's ``DataTransformer``).

    Parameters
    ----------
    param : TransformationParameter
    shape : tuple of int
        Channels, height and width of an untransformed image.
    train : bool
        Whether the phase is TRAIN.
    owner : str
        What the messages name, such as ``Layer 'mnist' (Data)``.
    mean : ndarray, shape (channels, height, width), optional
        Contents of ``mean_file``, see :func:`read_mean`.

    Raises
    ------
    DataError
        If the settings contradict each other or do not fit the images.
    """

    def __init__(
        self, param: Any, shape: tuple[int, int, int], *, train: bool, owner: str, mean: FloatArray | None = None
    ) -> None:
        self.owner = owner
        self.image_shape = shape
        self.scale = np.float32(param.scale)
        self.mirror = bool(param.mirror)
        self.crop = int(param.crop_size)
        self.random_crop = train and self.crop > 0
        self._check(param, mean)
        self._mean = mean if mean is not None else self._mean_of_values(param)
        self._mean_has_places = mean is not None

    @property
    def is_random(self) -> bool:
        """Whether the transform draws random numbers."""
        return self.mirror or self.random_crop

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """Channels, height and width after the transform."""
        channels, height, width = self.image_shape
        return (channels, self.crop, self.crop) if self.crop else (channels, height, width)

    def apply(self, pixels: Pixels, out: FloatArray, rng: np.random.Generator | None) -> None:
        """Transform a batch.

        Parameters
        ----------
        pixels : ndarray of uint8 or float32, shape (records, *image_shape)
        out : ndarray of float32, shape (records, *output_shape)
            Receives the result.
        rng : Generator or None
            Source of crops and mirroring; needed where :attr:`is_random`.
        """
        if rng is not None and self.is_random:
            self._apply_at_random(pixels, out, rng)
        else:
            self._centre(pixels, out)
        if self.scale != 1:
            out *= self.scale

    def _centre(self, pixels: Pixels, out: FloatArray) -> None:
        mean = self._mean
        if self.crop:
            top, left = ((side - self.crop) // 2 for side in self.image_shape[1:])
            pixels = self._cut(pixels, top, left)
            mean = self._cut(mean, top, left) if self._mean_has_places else mean
        _subtract(pixels, mean, out)

    def _apply_at_random(self, pixels: Pixels, out: FloatArray, rng: np.random.Generator) -> None:
        count = len(pixels)
        _, height, width = self.image_shape
        if self.random_crop:
            tops = rng.integers(0, height - self.crop + 1, count).tolist()
            lefts = rng.integers(0, width - self.crop + 1, count).tolist()
        else:
            crop_height, crop_width = (self.crop, self.crop) if self.crop else (height, width)
            tops = [(height - crop_height) // 2] * count
            lefts = [(width - crop_width) // 2] * count
        flips = rng.integers(0, 2, count).tolist() if self.mirror else [0] * count
        mean = self._mean
        for index, (top, left, flip) in enumerate(zip(tops, lefts, flips, strict=True)):
            image = self._cut(pixels[index], top, left) if self.crop else pixels[index]
            if self.crop and self._mean_has_places:
                mean = self._cut(self._mean, top, left)
            _subtract(image, mean, out[index, :, :, ::-1] if flip else out[index])

    def _cut(self, images: Any, top: int, left: int) -> Any:
        return images[..., top : top + self.crop, left : left + self.crop]

    def _mean_of_values(self, param: Any) -> FloatArray | None:
        if not param.mean_value:
            return None
        return np.array(param.mean_value, dtype=np.float32).reshape(-1, 1, 1)

    def _check(self, param: Any, mean: FloatArray | None) -> None:
        channels, height, width = self.image_shape
        if param.mean_file and param.mean_value:
            raise DataError(
                f"{self.owner}: expected mean_file or mean_value, got both.", next_step="Remove one of them."
            )
        if len(param.mean_value) not in (0, 1, channels):
            raise DataError(
                f"{self.owner}: expected one mean_value or one for each of {channels} channels, "
                f"got {len(param.mean_value)}."
            )
        if self.crop > min(height, width):
            raise DataError(
                f"{self.owner}: expected a crop_size of at most {min(height, width)}, got {self.crop}; images are "
                f"{height} high and {width} wide.",
                next_step="Lower crop_size or write larger images into the database.",
            )
        if mean is not None and mean.shape != self.image_shape:
            raise DataError(
                f"{self.owner}: expected a mean of shape {self.image_shape} as the images have, got {mean.shape} from "
                f"'{param.mean_file}'.",
                next_step="Compute the mean of this database.",
            )


def _subtract(images: Pixels, mean: FloatArray | None, out: FloatArray) -> None:
    if mean is None:
        np.copyto(out, images)
    else:
        np.subtract(images, mean, out=out, dtype=np.float32)


def read_mean(written: str, folders: Sequence[Path], owner: str) -> FloatArray:
    """Read a ``mean_file``.

    Parameters
    ----------
    written : str
        Path as the net spells it: a serialized ``BlobProto``.
    folders : sequence of Path
        Folders to look in.
    owner : str
        What the messages name.

    Returns
    -------
    ndarray of float32, shape (channels, height, width)

    Raises
    ------
    DataError
        If the file is missing, or holds a blob that is no image.
    FileFormatError
        If it holds something else; the message names the owner.
    """
    found = resolve(written, folders)
    if not found.found:
        tried = ", ".join(f"'{path}'" for path in found.tried)
        raise MissingDataError(f"{owner}: mean_file '{written}' was not found; tried {tried}.")
    try:
        array = read_blob(found.path).astype(np.float32, copy=False)
    except FileFormatError as error:
        raise FileFormatError(f"{owner}: mean_file: {error.message}", next_step=error.next_step) from error
    if array.ndim < 3 or array.size != math.prod(array.shape[-3:]):
        raise DataError(
            f"{owner}: expected the mean of one image in '{found.path}', got a blob of shape {array.shape}.",
            next_step="Write it with compute_image_mean.",
        )
    return array.reshape(array.shape[-3:])
