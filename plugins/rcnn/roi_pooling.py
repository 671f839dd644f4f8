"""The largest value in each cell of a grid over a region."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from regions import check_features_and_regions, read_regions, round_half_away

from engine.api import Blob, Layer

__all__ = ["ROIPoolingLayer"]

_MANY = 256  # more do not fit into a byte


class ROIPoolingLayer(Layer):
    """Max pooling over regions (Fast R-CNN's ``ROIPoolingLayer``; Girshick 2015, section 2.1).

    Bottoms: features ``(N, C, H, W)``, regions ``(R, 5)`` as rows (image, x1, y1, x2, y2) in pixels of the image. Top:
    ``(R, C, pooled_h, pooled_w)``. Corners times ``spatial_scale`` are rounded and belong to the region; a cell
    reaches from the floor of its start to the ceiling of its end. Cells outside the features are 0. The gradient goes
    to the first largest value, in the order of rows.

    The maximum is taken along the columns of a cell, then along its rows, for all channels at once.
    """

    type = "ROIPooling"
    host_arrays = True

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``roi_pooling_param``."""
        param = self.layer_param.roi_pooling_param
        self.rows, self.columns = int(param.pooled_h), int(param.pooled_w)
        self.scale = float(param.spatial_scale)
        if not (self.rows and self.columns):
            self.fail(
                f"expected pooled_h and pooled_w above 0, got {self.rows} and {self.columns}.",
                next_step="Set both in roi_pooling_param.",
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """One grid for every region and channel."""
        check_features_and_regions(self, bottom)
        top[0].reshape(bottom[1].shape[0], bottom[0].shape[1], self.rows, self.columns)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Take the largest values."""
        pooled = np.zeros((bottom[1].shape[0], self.rows, self.columns, bottom[0].shape[1]), bottom[0].dtype)
        for region in self._regions(bottom):
            pooled[region.index] = region.largest()
        top[0].data[...] = pooled.transpose(0, 3, 1, 2)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Give each cell's gradient to the value it took; regions get none."""
        if len(propagate_down) > 1 and propagate_down[1]:
            bottom[1].diff[...] = 0
        if not propagate_down[0]:
            return
        images, channels, height, width = bottom[0].shape
        sums = np.zeros((images, height * width * channels), bottom[0].dtype)
        given = top[0].diff.transpose(0, 2, 3, 1)
        every = np.arange(channels)
        for region in self._regions(bottom):
            taken = region.pixels() * channels + every
            np.add.at(sums[region.image], taken.ravel(), np.where(region.filled, given[region.index], 0).ravel())
        bottom[0].diff[...] = sums.reshape(images, height, width, channels).transpose(0, 3, 1, 2)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Regions have no gradient."""
        return bottom_index == 0

    def _regions(self, bottom: Sequence[Blob]) -> Iterator[_Region]:
        """Yield the regions that reach into their image, ordered by image."""
        features = bottom[0].data
        images, corners = read_regions(self, bottom[1], features.shape[0])
        corners = round_half_away(corners * corners.dtype.type(self.scale)).astype(np.int64)
        rows = cell_edges(corners[:, 1], corners[:, 3], self.rows, features.shape[2], features.dtype.type)
        columns = cell_edges(corners[:, 0], corners[:, 2], self.columns, features.shape[3], features.dtype.type)
        reaches = (rows[..., 0] < rows[..., 1]).any(axis=1) & (columns[..., 0] < columns[..., 1]).any(axis=1)
        for image in np.unique(images):
            last = np.ascontiguousarray(features[image].transpose(1, 2, 0))
            for index in np.flatnonzero((images == image) & reaches):
                yield _Region(int(index), int(image), last, rows[index], columns[index])


@dataclass(frozen=True, slots=True)
class _Region:
    """A region, cut into cells.

    Attributes
    ----------
    index, image : int
        Its number, and that of its image.
    features : ndarray, shape (height, width, channels)
        Those of its image.
    rows, columns : ndarray of int, shape (cells, 2)
        First and one past the last pixel of the cells along each axis.
    """

    index: int
    image: int
    features: Any
    rows: Any
    columns: Any

    @property
    def filled(self) -> Any:
        """Which cells have pixels, shape (rows, columns, 1)."""
        high, wide = (edges[:, 0] < edges[:, 1] for edges in (self.rows, self.columns))
        return (high[:, np.newaxis] & wide)[..., np.newaxis]

    def largest(self) -> Any:
        """Return the largest value of each cell and channel, 0 where a cell is empty, shape (rows, columns, C)."""
        first, window = self._window()
        across = functools.reduce(np.maximum, _steps(window, self.columns, 1))
        return np.where(self.filled, functools.reduce(np.maximum, _steps(across, self.rows - first, 0)), 0)

    def pixels(self) -> Any:
        """Return which pixel each cell takes from each channel, the first of equal ones, shape (rows, columns, C)."""
        first, window = self._window()
        across, places = first_largest(list(_steps(window, self.columns, 1)))
        down = first_largest(list(_steps(across, self.rows - first, 0)))[1]
        down += np.minimum(self.rows[:, 0] - first, len(window) - 1)[:, np.newaxis, np.newaxis]
        right = np.take_along_axis(places, np.minimum(down, len(window) - 1), axis=0)
        right += np.minimum(self.columns[:, 0], window.shape[1] - 1)[:, np.newaxis]
        return (down + first) * window.shape[1] + right

    def _window(self) -> tuple[int, Any]:
        """Return the first of the rows that it reaches over, and all of them."""
        filled = self.rows[self.rows[:, 0] < self.rows[:, 1]]
        first = int(filled[:, 0].min())
        return first, self.features[first : int(filled[:, 1].max())]


def _steps(values: Any, edges: Any, axis: int) -> Iterator[Any]:
    """Yield the first element of all cells along an axis, then the second, and so on; short cells repeat their last."""
    start, end = edges.T
    for step in range(max(int((end - start).max()), 1)):
        yield values.take(np.minimum(start + step, end - 1), axis=axis, mode="clip")


def first_largest(parts: Sequence[Any]) -> tuple[Any, Any]:
    """Return the largest of some arrays, element by element, and the number of the first that has it.

    What ``argmax`` gives, in a few passes over whole arrays rather than one down every element.
    """
    largest = functools.reduce(np.maximum, parts)
    places = np.zeros(largest.shape, np.uint8 if len(parts) < _MANY else np.intp)
    missing = np.ones(largest.shape, bool)
    for part in parts[:-1]:
        missing &= part != largest
        places += missing
    return largest, places.astype(np.intp)


def cell_edges(start: Any, end: Any, cells: int, size: int, dtype: Any) -> Any:
    """Return first and one past the last pixel of each cell along one axis, shape (regions, cells, 2).

    Computed in the blobs' own precision, which decides where a cell ends.
    """
    length = np.maximum(end - start + 1, 1)
    step = (length.astype(dtype) / dtype(cells))[:, np.newaxis]
    numbers = np.arange(cells + 1, dtype=dtype)
    first = np.floor(numbers[:-1] * step).astype(np.int64) + start[:, np.newaxis]
    past = np.ceil(numbers[1:] * step).astype(np.int64) + start[:, np.newaxis]
    return np.stack((first, past), axis=-1).clip(0, size)
