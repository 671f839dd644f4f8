"""The mean in each cell of a grid over a region, each cell with channels of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from regions import check_features_and_regions, read_regions, round_half_away

from engine.api import Blob, Layer

__all__ = ["PSROIPoolingLayer"]

_LEAST = 0.1  # no region is smaller, in pixels of the features


class PSROIPoolingLayer(Layer):
    """Position-sensitive average pooling over regions (R-FCN's ``PSROIPoolingLayer``; Dai et al. 2016, equation 1).

    Bottoms: features ``(N, output_dim * group_size**2, H, W)``, regions ``(R, 5)`` as rows (image, x1, y1, x2, y2) in
    pixels of the image. Top: ``(R, output_dim, group_size, group_size)``. A region reaches from the rounded first
    corner to one past the rounded second, both times ``spatial_scale``. Cells outside the features are 0.

    Sums over rectangles come from running sums in double precision, so that the work does not depend on the size of
    the regions.
    """

    type = "PSROIPooling"
    host_arrays = True

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``psroi_pooling_param``."""
        param = self.layer_param.psroi_pooling_param
        self.scale, self.outputs, self.group = float(param.spatial_scale), int(param.output_dim), int(param.group_size)
        if self.outputs < 1 or self.group < 1:
            self.fail(
                f"expected output_dim and group_size above 0, got {self.outputs} and {self.group}.",
                next_step="Set both in psroi_pooling_param.",
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """One grid for every region and output channel."""
        check_features_and_regions(self, bottom)
        wanted = self.outputs * self.group**2
        if bottom[0].shape[1] != wanted:
            self.fail_shape(
                f"expected output_dim * group_size**2 = {wanted} channels, got {bottom[0].shape[1]}.",
                bottom=0,
                next_step="Set num_output of the layer before to that number.",
            )
        top[0].reshape(bottom[1].shape[0], self.outputs, self.group, self.group)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Divide the sum over each cell by its area."""
        features = bottom[0].data
        images, rows, columns, area = self._cells(bottom)
        sums = np.zeros((*self._grouped(features.shape)[:-2], features.shape[2] + 1, features.shape[3] + 1))
        np.cumsum(features.reshape(self._grouped(features.shape)), axis=-2, dtype=np.float64, out=sums[..., 1:, 1:])
        np.cumsum(sums[..., 1:], axis=-1, out=sums[..., 1:])
        total = np.zeros(top[0].shape)
        for sign, row, column in _corners(rows, columns):
            total += sign * sums[self._places(images, row, column)]
        top[0].data[...] = np.where(area, total / np.maximum(area, 1), 0)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Spread each cell's gradient evenly over it; regions get none."""
        if len(propagate_down) > 1 and propagate_down[1]:
            bottom[1].diff[...] = 0
        if not propagate_down[0]:
            return
        grad = bottom[0].diff
        images, rows, columns, area = self._cells(bottom)
        share = np.where(area, top[0].diff.astype(np.float64) / np.maximum(area, 1), 0)
        steps = np.zeros((*self._grouped(grad.shape)[:-2], grad.shape[2] + 1, grad.shape[3] + 1))
        for sign, row, column in _corners(rows, columns):
            np.add.at(steps, self._places(images, row, column), sign * share)
        np.cumsum(steps, axis=-2, out=steps)
        np.cumsum(steps, axis=-1, out=steps)
        grad[...] = steps[..., :-1, :-1].reshape(grad.shape)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Regions have no gradient."""
        return bottom_index == 0

    def _grouped(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (shape[0], self.outputs, self.group, self.group, shape[2], shape[3])

    def _places(self, images: Any, row: Any, column: Any) -> tuple[Any, ...]:
        """Return indices into running sums, one for every element of the top."""
        across = np.arange(self.group)
        return (
            images[:, np.newaxis, np.newaxis, np.newaxis],
            np.arange(self.outputs)[:, np.newaxis, np.newaxis],
            across[:, np.newaxis],
            across,
            row[:, np.newaxis, :, np.newaxis],
            column[:, np.newaxis, np.newaxis, :],
        )

    def _cells(self, bottom: Sequence[Blob]) -> tuple[Any, Any, Any, Any]:
        """Return images, edges of the rows and columns of cells (regions, group, 2), and areas of all cells."""
        images, corners = read_regions(self, bottom[1], bottom[0].shape[0])
        dtype = corners.dtype.type
        corners = round_half_away(corners)
        corners[:, 2:] += dtype(1)
        corners = corners * dtype(self.scale)
        rows = self._edges(corners[:, 1], corners[:, 3], bottom[0].shape[2])
        columns = self._edges(corners[:, 0], corners[:, 2], bottom[0].shape[3])
        heights, widths = (np.maximum(edges[..., 1] - edges[..., 0], 0) for edges in (rows, columns))
        area = heights[:, np.newaxis, :, np.newaxis] * widths[:, np.newaxis, np.newaxis, :]
        return images, rows, columns, area

    def _edges(self, start: Any, end: Any, size: int) -> Any:
        """Return first and one past the last pixel of each cell along one axis, in the blobs' own precision."""
        dtype = start.dtype.type
        step = (np.maximum(end - start, dtype(_LEAST)) / dtype(self.group))[:, np.newaxis]
        numbers = np.arange(self.group + 1, dtype=dtype)
        first = np.floor(numbers[:-1] * step + start[:, np.newaxis])
        past = np.ceil(numbers[1:] * step + start[:, np.newaxis])
        return np.stack((first, past), axis=-1).clip(0, size).astype(np.intp)


def _corners(rows: Any, columns: Any) -> list[tuple[int, Any, Any]]:
    """Return sign, row and column of the four running sums that make the sum over a rectangle."""
    (above, below), (left, right) = np.moveaxis(rows, -1, 0), np.moveaxis(columns, -1, 0)
    return [(1, below, right), (-1, above, right), (-1, below, left), (1, above, left)]
