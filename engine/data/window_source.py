"""Batches of windows cut from images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.batches import Batch, FloatArray, random_stream
from engine.data.image_batches import check_memory
from engine.data.images import Bytes, decode_image
from engine.data.lists import find_listed
from engine.data.prefetched import PrefetchedSource
from engine.data.transform import read_mean
from engine.data.window_crop import WindowCrop, cut_window
from engine.data.window_file import WindowList, Windows, read_windows
from engine.errors import DataError

__all__ = ["WindowSource"]

_AHEAD = 4  # batches
_DRAWS = 2**32


class WindowSource(PrefetchedSource):
    """Samples windows with and without objects and brings them to one size (Caffe's ``WindowDataLayer``).

    Of each batch, ``batch_size * fg_fraction`` windows, rounded down, show objects; they come last. What lies outside
    an image is 0 in the result. ``scale`` is read from ``window_data_param``; ``crop_size``, ``mirror``, ``mean_file``
    and ``mean_value`` from ``transform_param``.

    Parameters
    ----------
    window_data_param : WindowDataParameter
    transform_param : TransformationParameter
    seed : int
        Seed of the sampling and of mirroring.
    folders : sequence of Path
        Folders in which relative paths are looked for; those of images also beside the window file.
    owner : str
        What the messages name.

    Raises
    ------
    DataError
        If a file is missing, the window file has another form, or the settings do not fit.
    """

    def __init__(
        self, window_data_param: Any, transform_param: Any, *, seed: int, folders: Sequence[Path], owner: str
    ) -> None:
        param = window_data_param
        crop = int(transform_param.crop_size)
        if crop < 1 or param.batch_size < 1:
            name, value = ("transform_param.crop_size", crop) if crop < 1 else ("batch_size", param.batch_size)
            raise DataError(f"{owner}: expected a {name} of at least 1, got {value}.", next_step="Set it.")
        if not 0 <= param.fg_fraction <= 1:
            raise DataError(f"{owner}: expected a fg_fraction from 0 to 1, got {param.fg_fraction:g}.")
        if param.crop_mode not in ("warp", "square"):
            raise DataError(f"{owner}: expected crop_mode 'warp' or 'square', got '{param.crop_mode}'.")
        if 2 * param.context_pad >= crop:
            raise DataError(
                f"{owner}: expected a context_pad of less than half of crop_size {crop}, got {param.context_pad}."
            )
        mean = _Mean.read(transform_param, crop, folders, owner)
        listed = read_windows(
            param.source, folders, owner, fg_threshold=param.fg_threshold, bg_threshold=param.bg_threshold
        )
        check_memory((int(param.batch_size), 3, crop, crop), owner)
        images = _Images(listed, param.root_folder, bool(param.cache_images), tuple(folders), owner)
        how = WindowCrop(crop, int(param.context_pad), param.crop_mode == "square")
        objects = int(np.float32(param.batch_size) * np.float32(param.fg_fraction))
        maker = _WindowMaker(
            images, how, mean, np.float32(param.scale), bool(transform_param.mirror), int(param.batch_size), objects
        )
        maker.seed = seed
        super().__init__(maker, _AHEAD, owner)


@dataclass(frozen=True, slots=True)
class _Mean:
    """What is subtracted: values of a square of the crop's size, or one for each channel; nothing where None."""

    values: FloatArray | None

    @classmethod
    def read(cls, param: Any, crop: int, folders: Sequence[Path], owner: str) -> _Mean:
        if param.mean_file and param.mean_value:
            raise DataError(f"{owner}: expected mean_file or mean_value, got both.", next_step="Remove one of them.")
        if param.mean_value:
            if len(param.mean_value) not in (1, 3):
                raise DataError(f"{owner}: expected one mean_value or 3, got {len(param.mean_value)}.")
            return cls(np.array(param.mean_value, np.float32).reshape(-1, 1, 1))
        if not param.mean_file:
            return cls(None)
        mean = read_mean(param.mean_file, folders, owner)
        channels, height, width = mean.shape
        start = (width - crop) // 2  # in both directions, as Caffe has it
        if channels != 3 or start < 0 or start + crop > height:
            raise DataError(
                f"{owner}: expected a mean of 3 channels that holds a square of {crop} pixels, got shape {mean.shape} "
                f"from '{param.mean_file}'."
            )
        return cls(mean[:, start : start + crop, start : start + crop])

    def under(self, top: int, left: int, height: int, width: int) -> FloatArray | None:
        """Return what lies under a part of the crop."""
        if self.values is None or self.values.shape[1:] == (1, 1):
            return self.values
        return self.values[:, top : top + height, left : left + width]


class _Images:
    """The images of a window file, by their place in it."""

    def __init__(self, listed: WindowList, root: str, cache: bool, folders: tuple[Path, ...], owner: str) -> None:
        self.listed = listed
        self.owner = owner
        self._root, self._folders = root, folders
        self._cache: dict[int, bytes] | None = {} if cache else None

    def read(self, index: int) -> Bytes:
        """Return an image in colour, shape (height, width, 3)."""
        data = self._bytes(index)
        try:
            return decode_image(data, color=True).transpose(1, 2, 0)
        except DataError as error:
            raise self._unreadable(index, error.message) from error

    def _bytes(self, index: int) -> bytes:
        if self._cache is not None and index in self._cache:
            return self._cache[index]
        line = self.listed.lines[index]
        path = find_listed(self._root + self.listed.paths[index], self.listed.file, line, self._folders, self.owner)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise self._unreadable(index, f"it cannot be read: {error.strerror or error}.") from error
        if self._cache is not None:
            self._cache[index] = data
        return data

    def _unreadable(self, index: int, why: str) -> DataError:
        return DataError(
            f"{self.owner}: image '{self.listed.paths[index]}', {self.listed.file}:{self.listed.lines[index]}: {why}",
            next_step="Replace the file.",
        )


class _WindowMaker:
    """What the background thread works with."""

    def __init__(
        self,
        images: _Images,
        how: WindowCrop,
        mean: _Mean,
        scale: np.float32,
        mirror: bool,
        batch_size: int,
        objects: int,
    ) -> None:
        self._images, self._how, self._mean, self._scale, self._mirror = images, how, mean, scale, mirror
        self._shape = (batch_size, 3, how.size, how.size)
        self._objects = objects
        self._batch = 0
        self.seed = 0

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes, after a look at the first image."""
        self._images.read(0)
        return self._shape, self._shape[:1]

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""
        random = random_stream(self.seed, self._batch)
        out = used.arrays[0] if used is not None else np.empty(self._shape, np.float32)
        out[...] = 0
        labels = np.empty(self._shape[0], np.float32)
        background = self._shape[0] - self._objects
        for index in range(self._shape[0]):
            listed = self._images.listed
            windows = listed.background if index < background else listed.foreground
            chosen = int(random.integers(_DRAWS)) % len(windows)
            flip = self._mirror and bool(random.integers(2))
            self._fill(out[index], windows, chosen, flip)
            labels[index] = windows.label[chosen]
        self._batch += 1
        return Batch((out, labels), self.position())

    def _fill(self, out: FloatArray, windows: Windows, chosen: int, flip: bool) -> None:
        image = self._images.read(int(windows.image[chosen]))
        x1, y1, x2, y2 = windows.box[chosen].tolist()
        try:
            cut, top, left = cut_window(image, (x1, y1, x2, y2), self._how, flip=flip)
        except ValueError as error:
            listed = self._images.listed
            raise DataError(
                f"{self._images.owner}: window ({x1}, {y1}, {x2}, {y2}) of {listed.file}:{windows.line[chosen]} in "
                f"'{listed.paths[int(windows.image[chosen])]}': {error}.",
                next_step="Correct the window file.",
            ) from error
        height, width = cut.shape[:2]
        place = out[:, top : top + height, left : left + width]
        mean = self._mean.under(top, left, height, width)
        if mean is None:
            np.copyto(place, cut.transpose(2, 0, 1))
        else:
            np.subtract(cut.transpose(2, 0, 1), mean, out=place, dtype=np.float32)
        if self._scale != 1:
            place *= self._scale

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""
        return {"batch": self._batch, "seed": self.seed}

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""
        self.seed, self._batch = int(state["seed"]), int(state["batch"])

    def close(self) -> None:
        """Nothing stays open."""
