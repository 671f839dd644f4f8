"""Weights as a picture: a tile for each filter, or for each of its channels, or a matrix as it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["filter_picture"]

_COLOURS = 3
_MOST = 64  # filters, and channels of each
_MOST_CELLS = 1024  # rows and columns of a matrix
_GAP = 1  # pixels between tiles


def filter_picture(weights: NDArray[Any], gap: int = 255, wide: float = 2.0) -> NDArray[np.uint8]:
    """Return weights as an image: black is the largest magnitude below zero, mid-grey zero, white the same above.

    Parameters
    ----------
    weights : array
        Of a convolution, shape (outputs, channels, height, width): a tile for each filter where it has one channel or
        three, which are colours, and else a row of tiles with its channels, of at most 64 filters and 64 channels.
        Of anything else with at least one axis: a matrix with the first axis down, at most 1,024 rows and columns.
    gap : int
        Grey between tiles, 0 to 255.
    wide : float
        How much wider than high a sheet of tiles should be.

    Returns
    -------
    array of uint8, shape (height, width, 3)
    """
    if weights.ndim == 4:
        return _sheet(_bytes(weights[:_MOST]), gap, wide)
    matrix = weights.reshape(len(weights), -1) if weights.ndim > 1 else weights.reshape(1, -1)
    grey = _bytes(matrix[:_MOST_CELLS, :_MOST_CELLS])
    return np.ascontiguousarray(np.broadcast_to(grey[..., None], (*grey.shape, _COLOURS)))


def _bytes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return values as greys of one scale; what is no number is zero."""
    numbers = np.nan_to_num(np.asarray(values, np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    limit = float(np.abs(numbers).max(initial=0.0)) or 1.0
    greys: NDArray[np.uint8] = np.rint(127.5 + 127.5 * (numbers / limit)).astype(np.uint8)
    return greys


def _sheet(filters: NDArray[np.uint8], gap: int, wide: float) -> NDArray[np.uint8]:
    count, channels, height, width = filters.shape
    if channels in (1, _COLOURS):
        tiles = np.broadcast_to(filters.transpose(0, 2, 3, 1), (count, height, width, _COLOURS))
        columns = min(count, max(1, math.ceil(math.sqrt(count * wide * height / width))))
    else:
        planes = filters[:, :_MOST]
        columns = planes.shape[1]
        tiles = np.broadcast_to(planes.reshape(-1, height, width, 1), (count * columns, height, width, _COLOURS))
    rows = math.ceil(len(tiles) / columns)
    down, across = height + _GAP, width + _GAP
    sheet = np.full((rows * down - _GAP, columns * across - _GAP, _COLOURS), gap, np.uint8)
    for index, tile in enumerate(tiles):
        row, column = divmod(index, columns)
        sheet[row * down : row * down + height, column * across : column * across + width] = tile
    return sheet
