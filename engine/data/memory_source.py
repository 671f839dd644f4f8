"""Arrays that a program hands over, served in batches."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.data.batches import Batch, FloatArray
from engine.data.image_batches import ImageBatches
from engine.errors import DataError

__all__ = ["MemorySource"]

_log = logging.getLogger(__name__)


class MemorySource:
    """Serves arrays over and over, a batch at a time (Caffe's ``MemoryDataLayer``).

    There are two ways to hand data over, as in Caffe. :meth:`reset` takes arrays that are served as they are, never
    transformed; later changes to a C-contiguous float32 array show in later batches. :meth:`add` takes images and
    applies ``transform_param`` to them at once, as every other data layer does to its records.

    Parameters
    ----------
    memory_data_param : MemoryDataParameter
        ``batch_size``, and ``channels``, ``height`` and ``width`` of what is served.
    transform_param : TransformationParameter
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
        If a size is missing.
    """

    def __init__(
        self,
        memory_data_param: Any,
        transform_param: Any,
        *,
        train: bool,
        seed: int,
        folders: Sequence[Path],
        owner: str,
    ) -> None:
        sizes = {name: int(getattr(memory_data_param, name)) for name in ("batch_size", "channels", "height", "width")}
        for name, size in sizes.items():
            if size < 1:
                raise DataError(
                    f"{owner}: expected memory_data_param.{name} of at least 1, got {size}.", next_step="Set it."
                )
        self._batch_size, *image = sizes.values()
        self._image_shape = tuple(image)
        self._owner = owner
        self._transform_param, self._transformed = transform_param, transform_param.ByteSize() > 0
        self._how: dict[str, Any] = {"train": train, "folders": folders, "owner": owner}
        self._seed, self._added = seed, 0
        self._data: FloatArray | None = None
        self._labels: FloatArray | None = None
        self._next = 0
        self._unread = False

    @property
    def batch_size(self) -> int:
        """Number of images in a batch; it can be changed when all that was added has been served."""
        return self._batch_size

    @batch_size.setter
    def batch_size(self, size: int) -> None:
        self._refuse_unread("change batch_size")
        if size < 1:
            raise DataError(f"{self._owner}: expected a batch_size of at least 1, got {size}.")
        self._batch_size = size
        self._next = 0
        if self._data is not None and len(self._data) % size:
            self._data = self._labels = None

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of the images and labels of a batch."""
        return (self._batch_size, *self._image_shape), (self._batch_size,)

    def reset(self, data: npt.ArrayLike, labels: npt.ArrayLike) -> None:
        """Serve arrays as they are, from their beginning.

        Parameters
        ----------
        data : array, shape (n, channels, height, width)
            ``n`` is a multiple of the batch size.
        labels : array of n values

        Raises
        ------
        DataError
            If the shapes do not fit.
        """
        images = np.ascontiguousarray(data, np.float32)
        flat = np.ascontiguousarray(labels, np.float32).reshape(-1)
        if images.ndim != 4 or images.shape[1:] != self._image_shape:
            raise DataError(
                f"{self._owner}: expected data of shape (n, {', '.join(map(str, self._image_shape))}), "
                f"got {images.shape}.",
                next_step="Bring the array to the sizes in memory_data_param.",
            )
        self._check_count(len(images), len(flat))
        if self._transformed:
            _log.warning("%s: transform_param is not applied to arrays that are set, as in Caffe.", self._owner)
        self._data, self._labels, self._next, self._unread = images, flat, 0, False

    def add(self, images: Sequence[npt.ArrayLike], labels: npt.ArrayLike) -> None:
        """Transform images and serve them from their beginning.

        Parameters
        ----------
        images : sequence of arrays of shape (channels, height, width)
            Bytes or floats, of the size before the transform.
        labels : array of as many values

        Raises
        ------
        DataError
            If images that were added before have not all been served, or shapes do not fit.
        """
        self._refuse_unread("add images")
        flat = np.array(labels, np.float32).reshape(-1)
        self._check_count(len(images), len(flat))
        arrays = [np.asarray(image) for image in images]
        arrays = [array if array.dtype == np.uint8 else array.astype(np.float32) for array in arrays]
        batches = ImageBatches(self._transform_param, len(arrays), seed=self._seed, **self._how)
        batches.batch = self._added
        names = [f"image {index} of those added" for index in range(len(arrays))]
        data = batches.transform(arrays, names, None)
        if data.shape[1:] != self._image_shape:
            raise DataError(
                f"{self._owner}: expected images of shape {self._image_shape} after the transform, got "
                f"{data.shape[1:]}.",
                next_step="Bring the images, crop_size and memory_data_param together.",
            )
        self._added += 1
        self._data, self._labels, self._next, self._unread = data, flat, 0, True

    def next(self) -> Batch:
        """Return the next batch, starting over after the last.

        Raises
        ------
        DataError
            If no data was handed over.
        """
        if self._data is None or self._labels is None:
            raise DataError(
                f"{self._owner}: expected data, got none.",
                next_step="Hand it over before the first pass: net.set_input_arrays(data, labels), or reset or add of "
                "the layer.",
            )
        start, end = self._next, self._next + self._batch_size
        self._next = end % len(self._data)
        if self._next == 0:
            self._unread = False
        return Batch((self._data[start:end], self._labels[start:end]), self.get_state())

    def get_state(self) -> dict[str, Any]:
        """Return the position; the arrays themselves are the program's to keep."""
        return {"next": self._next, "added": self._added, "seed": self._seed}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a position; data of another length is served from its beginning."""
        self._seed, self._added = int(state["seed"]), int(state["added"])
        fits = self._data is None or int(state["next"]) < len(self._data)
        self._next = int(state["next"]) if fits else 0

    def close(self) -> None:
        """Let go of the arrays."""
        self._data = self._labels = None

    def _check_count(self, images: int, labels: int) -> None:
        if images == 0 or images % self._batch_size:
            raise DataError(
                f"{self._owner}: expected a number of images that is a multiple of the batch_size "
                f"{self._batch_size}, got {images}.",
                next_step="Hand over more or fewer images, or change batch_size.",
            )
        if images != labels:
            raise DataError(f"{self._owner}: expected a label for each of {images} images, got {labels}.")

    def _refuse_unread(self, what: str) -> None:
        if self._unread:
            raise DataError(
                f"{self._owner}: expected all images that were added to be served before you {what}, got some left.",
                next_step="Run the net until they are used up.",
            )
