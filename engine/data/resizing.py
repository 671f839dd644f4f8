"""Resizing images of bytes, bilinearly and without smoothing, as the image library under Caffe does it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["resize_bytes", "resize_nearest"]

_BITS = 11  # weights are whole multiples of 2**-11
_ONE = 1 << _BITS

Bytes = npt.NDArray[np.uint8]


def resize_bytes(image: Bytes, height: int, width: int) -> Bytes:
    """Resize an image.

    Each pixel is interpolated between the four nearest ones of the source, pixel centres lying at ``i + 0.5``, with
    weights of 11 bits; shrinking to exactly half takes the mean of each 2 x 2 block. (OpenCV's ``cv::resize`` for
    8-bit images with ``INTER_LINEAR``, which Caffe calls with its defaults.)

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width) or (height, width, channels)
    height, width : int
        New size in pixels, 1 or more.

    Returns
    -------
    ndarray of uint8
        The image itself where the size is the same.
    """
    old_height, old_width = image.shape[:2]
    if (old_height, old_width) == (height, width):
        return image
    if (old_height, old_width) == (2 * height, 2 * width):
        return _halved(image)
    rows, row_weights = _places(old_height, height)
    columns, column_weights = _places(old_width, width)
    column_weights[(columns < 0) | (columns >= old_width - 1)] = 0  # rows keep theirs, and round differently for it
    columns = np.clip(columns, 0, old_width - 1)
    first, used = np.unique(np.clip(np.stack((rows, rows + 1)), 0, old_height - 1), return_inverse=True)
    above, below = used.reshape(2, -1)
    channels = math.prod(image.shape[2:])
    source = np.ascontiguousarray(image.reshape(old_height, old_width, channels)[first])
    across = column_weights.repeat(channels)
    wide = _weighted(_columns(source, columns), _ONE - across)
    wide += _weighted(_columns(source, np.minimum(columns + 1, old_width - 1)), across)
    wide >>= 4  # the rounding steps are the original's
    down = row_weights.reshape(-1, 1)
    upper = wide[above]
    upper *= _ONE - down
    upper >>= 16
    lower = wide[below]
    lower *= down
    lower >>= 16
    upper += lower
    upper += 2
    upper >>= 2
    return upper.astype(np.uint8).reshape(height, width, *image.shape[2:])


def _columns(rows: Bytes, columns: npt.NDArray[np.intp]) -> Bytes:
    """Return some columns of (height, width, channels), the last two axes as one."""
    return rows.take(columns, axis=1).reshape(len(rows), -1)


def _weighted(values: Bytes, weights: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    result: npt.NDArray[np.int32] = np.multiply(values, weights, dtype=np.int32)
    return result


def _places(old: int, new: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]:
    """Return, for each new pixel, the source pixel before it, -1 at least, and the weight of the next, times 2**11."""
    scale = old / new
    where = ((np.arange(new) + 0.5) * scale - 0.5).astype(np.float32)
    before = np.floor(where).astype(np.intp)
    share = where - before.astype(np.float32)
    weights: npt.NDArray[np.int32] = np.rint(share * np.float32(_ONE)).astype(np.int32)
    return before, weights


def resize_nearest(image: Bytes, height: int, width: int) -> Bytes:
    """Resize an image without mixing pixels: each is the one of the source at ``floor(i * old / new)``.

    That is OpenCV's ``cv::resize`` with ``INTER_NEAREST``, which rounds as this does.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width) or (height, width, channels)
    height, width : int
        New size in pixels, 1 or more.

    Returns
    -------
    ndarray of uint8
        The image itself where the size is the same.
    """
    if image.shape[:2] == (height, width):
        return image
    rows, columns = (
        np.minimum(np.floor(np.arange(new) * (1.0 / (new / old))).astype(np.intp), old - 1)
        for old, new in zip(image.shape[:2], (height, width), strict=True)
    )
    resized: Bytes = image[rows[:, np.newaxis], columns]
    return resized


def _halved(image: Bytes) -> Bytes:
    sums = image[0::2].astype(np.uint16)
    sums += image[1::2]
    sums = sums[:, 0::2] + sums[:, 1::2]
    sums += 2
    sums >>= 2
    return sums.astype(np.uint8)
