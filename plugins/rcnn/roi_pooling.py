"""The largest value in each cell of a grid over a region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from regions import check_features_and_regions, read_regions, round_half_away

from engine.api import Blob, Layer

__all__ = ["ROIPoolingLayer"]


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
        for index, _, features, rows, columns in self._windows(bottom):
            first, last = rows[:, 0].min(), rows[:, 1].max()
            for column, (left, right) in enumerate(columns):
                if left < right:
                    across = features[first:last, left:right].max(axis=1)
                    for row, (start, end) in enumerate(rows - first):
                        if start < end:
                            across[start:end].max(axis=0, out=pooled[index, row, column])
        top[0].data[...] = pooled.transpose(0, 3, 1, 2)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Give each cell's gradient to the value it took; regions get none."""
        if len(propagate_down) > 1 and propagate_down[1]:
            bottom[1].diff[...] = 0
        if not propagate_down[0]:
            return
        images, channels, height, width = bottom[0].shape
        sums = np.zeros((images, height * width, channels), bottom[0].dtype)
        given = top[0].diff.transpose(0, 2, 3, 1)
        every = np.arange(channels)
        for index, image, features, rows, columns in self._windows(bottom):
            for row, column, pixels in _taken(features, rows, columns):
                sums[image, pixels, every] += given[index, row, column]
        bottom[0].diff[...] = sums.reshape(images, height, width, channels).transpose(0, 3, 1, 2)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Regions have no gradient."""
        return bottom_index == 0

    def _windows(self, bottom: Sequence[Blob]) -> Iterator[tuple[int, int, Any, Any, Any]]:
        """Yield each region's number and image, that image's features with the channels last, and the cells' edges."""
        features = bottom[0].data
        images, corners = read_regions(self, bottom[1], features.shape[0])
        corners = round_half_away(corners * corners.dtype.type(self.scale)).astype(np.int64)
        rows = cell_edges(corners[:, 1], corners[:, 3], self.rows, features.shape[2], features.dtype.type)
        columns = cell_edges(corners[:, 0], corners[:, 2], self.columns, features.shape[3], features.dtype.type)
        for image in np.unique(images):
            last = np.ascontiguousarray(features[image].transpose(1, 2, 0))
            for index in np.flatnonzero(images == image):
                yield int(index), int(image), last, rows[index], columns[index]


def _taken(features: Any, rows: Any, columns: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield row and column of each cell that is not empty, and the pixel that it takes from each channel."""
    first, last = rows[:, 0].min(), rows[:, 1].max()
    width = features.shape[1]
    every = np.arange(features.shape[2])
    for column, (left, right) in enumerate(columns):
        if left >= right:
            continue
        across, places = first_largest(features[first:last, left:right].swapaxes(0, 1))
        for row, (start, end) in enumerate(rows - first):
            if start < end:
                down = first_largest(across[start:end])[1] + start
                yield row, column, (first + down) * width + left + places[down, every]


def first_largest(values: Any) -> tuple[Any, Any]:
    """Return the largest values along the first axis and their places, the first of equal ones.

    What ``argmax`` gives, in a few passes over whole rows rather than one down every column.
    """
    largest = values.max(axis=0)
    places = np.zeros(largest.shape, np.int32)
    missing = np.ones(largest.shape, bool)
    for row in values[:-1]:
        missing &= row != largest
        places += missing
    return largest, places


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
