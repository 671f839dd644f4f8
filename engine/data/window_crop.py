"""Cutting one window out of an image and bringing it to size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.data.images import Bytes
from engine.data.resizing import resize_bytes

__all__ = ["WindowCrop", "cut_window"]

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class WindowCrop:
    """How windows are brought to size.

    Attributes
    ----------
    size : int
        Side of the result in pixels.
    context : int
        Pixels of surroundings on each side of the result.
    square : bool
        Whether a window is widened to a square first.
    """

    size: int
    context: int = 0
    square: bool = False


def cut_window(image: Bytes, box: Box, how: WindowCrop, *, flip: bool = False) -> tuple[Bytes, int, int]:
    """Cut a window, with its surroundings as far as the image goes.

    The window is widened about its centre so that ``context`` pixels of the result lie around it on each side; what is
    left of it inside the image is resized by the factor that the whole would have been. (Caffe's ``WindowDataLayer``,
    after R-CNN: Girshick et al. 2014, appendix A.)

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width, channels)
    box : (x1, y1, x2, y2)
        Window in pixels; both ends are inside.
    how : WindowCrop
    flip : bool
        Whether it is mirrored left to right, its surroundings too.

    Returns
    -------
    cut : ndarray of uint8, shape (rows, columns, channels)
        At most ``size`` rows and columns.
    top, left : int
        Where it lies in the result.

    Raises
    ------
    ValueError
        If no part of the window lies inside the image, or, without context, if not all of it does.
    """
    rows, columns = image.shape[:2]
    if how.context == 0 and not how.square:
        x1, y1, x2, y2 = box
        if not (0 <= x1 <= x2 < columns and 0 <= y1 <= y2 < rows):
            raise ValueError(f"expected it inside the image of {columns} x {rows} pixels, got corners outside")
        cut = resize_bytes(image[y1 : y2 + 1, x1 : x2 + 1], how.size, how.size)
        return (cut[:, ::-1] if flip else cut), 0, 0
    (x1, x2), (y1, y2) = _widened(box, how)
    left, right, width = _fit(x1, x2, columns, how.size)
    top, _, height = _fit(y1, y2, rows, how.size)
    if flip:
        left = right
    height, width = min(height, how.size - top), min(width, how.size - left)
    inside = image[max(y1, 0) : min(y2, rows - 1) + 1, max(x1, 0) : min(x2, columns - 1) + 1]
    if not inside.size or height < 1 or width < 1:
        raise ValueError(f"expected some of it inside the image of {columns} x {rows} pixels, got nothing")
    cut = resize_bytes(inside, height, width)
    return (cut[:, ::-1] if flip else cut), top, left


def _widened(box: Box, how: WindowCrop) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ends of the widened window across and down, in single precision as Caffe computes them."""
    x1, y1, x2, y2 = box
    scale = np.float32(how.size) / np.float32(how.size - 2 * how.context)
    half_height = np.float32((y2 - y1 + 1) / 2)
    half_width = np.float32((x2 - x1 + 1) / 2)
    center_x, center_y = np.float32(x1) + half_width, np.float32(y1) + half_height
    if how.square:
        half_height = half_width = max(half_height, half_width)
    across = half_width * scale
    down = half_height * scale
    return (
        (_round(center_x - across), _round(center_x + across)),
        (_round(center_y - down), _round(center_y + down)),
    )


def _fit(first: int, last: int, length: int, size: int) -> tuple[int, int, int]:
    """Return, in pixels of the result, what lies before the image, behind it, and inside."""
    scale = np.float32(size) / np.float32(last - first + 1)
    before, behind = max(0, -first), max(0, last - length + 1)
    inside = last - behind - (first + before) + 1
    return _round(np.float32(before) * scale), _round(np.float32(behind) * scale), _round(np.float32(inside) * scale)


def _round(value: np.float32) -> int:
    """Round to the nearest whole number, halves away from 0."""
    return math.floor(abs(float(value)) + 0.5) * (-1 if value < 0 else 1)
