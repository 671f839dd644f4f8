"""Resizing images of bytes, with the interpolations of OpenCV's ``cv::resize``."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["AREA", "CUBIC", "LANCZOS4", "LINEAR", "NEAREST", "pad_to", "resize"]

LINEAR, AREA, NEAREST, CUBIC, LANCZOS4 = 1, 2, 3, 4, 5  # ResizeParameter.Interp_mode
_CONSTANT, _MIRRORED = 1, 2  # ResizeParameter.Pad_mode
_BITS = 11  # weights are whole multiples of 2**-11
_SHARPNESS = -0.75  # of the cubic


def resize(image: Any, height: int, width: int, mode: int = LINEAR) -> Any:
    """Resize an image; the result differs from OpenCV's by 1 at most.

    Parameters
    ----------
    image : ndarray of uint8, shape (channels, height, width)
    height, width : int
        New size in pixels, 1 or more.
    mode : int
        ``LINEAR``, ``AREA``, ``NEAREST``, ``CUBIC`` or ``LANCZOS4``. Only ``AREA`` smooths when it shrinks.
    """
    _, old_height, old_width = image.shape
    if (old_height, old_width) == (height, width):
        return image
    if mode == NEAREST:
        rows, columns = (
            np.minimum((np.arange(new) * (old / new)).astype(np.intp), old - 1)
            for old, new in ((old_height, height), (old_width, width))
        )
        return image[:, rows[:, np.newaxis], columns]
    if mode == AREA and height <= old_height and width <= old_width:
        return _bytes(np.rint(_means(_means(image, height, 1), width, 2)))
    columns, weights = _taps(old_width, width, mode)
    wide = sum(np.multiply(image[:, :, c], w, dtype=np.int32) for c, w in zip(columns.T, weights.T, strict=True))
    rows, weights = _taps(old_height, height, mode)
    if len(rows.T) == 2:  # the rounding steps are the original's
        wide >>= 4
        pairs = zip(rows.T, weights.T, strict=True)
        return _bytes((sum((wide[:, r] * w[:, np.newaxis]) >> 16 for r, w in pairs) + 2) >> 2)
    tall = sum(wide[:, r] * w[:, np.newaxis] for r, w in zip(rows.T, weights.T, strict=True))
    return _bytes((tall + (1 << 2 * _BITS - 1)) >> 2 * _BITS)


def pad_to(image: Any, height: int, width: int, mode: int, values: Any) -> Any:
    """Put an image into the middle of a larger one.

    Parameters
    ----------
    image : ndarray of uint8, shape (channels, height, width)
    height, width : int
        New size in pixels.
    mode : int
        What is around it, as in ``ResizeParameter.Pad_mode``.
    values : ndarray, shape (channels,)
        What is around it with ``CONSTANT``.
    """
    _, old_height, old_width = image.shape
    above, left = (height - old_height) // 2, (width - old_width) // 2
    if mode == _CONSTANT:
        larger = np.empty((len(image), height, width), np.uint8)
        larger[...] = _bytes(np.rint(values))[:, np.newaxis, np.newaxis]
        larger[:, above : above + old_height, left : left + old_width] = image
        return larger
    around = ((0, 0), (above, height - old_height - above), (left, width - old_width - left))
    return np.pad(image, around, "reflect" if mode == _MIRRORED else "edge")


def _bytes(values: Any) -> Any:
    return values.clip(0, 255).astype(np.uint8)


def _taps(old: int, new: int, mode: int) -> tuple[Any, Any]:
    """Return the source pixels of each new pixel and their weights times 2**11, both (new, taps)."""
    numbers = np.arange(new)
    if mode == AREA:  # enlarging: pixels keep their edges
        first = np.floor(numbers * (old / new))
        share = (numbers + 1) - (first + 1) * (new / old)
        share = np.where(share <= 0, 0, share - np.floor(share))
    else:
        where = ((numbers + 0.5) * (old / new) - 0.5).astype(np.float32)
        first = np.floor(where)
        share = where - first
    share = share.astype(np.float32)
    if mode in (LINEAR, AREA):
        share = np.where((first < 0) | (first >= old - 1), 0, share)
        first = first.clip(0, old - 1)
        weights = np.stack((1 - share, share), axis=1)
    elif mode == CUBIC:
        weights = _cubic(share)
    else:
        weights = _lanczos(share)
    taps = weights.shape[1]
    places = first.astype(np.intp)[:, np.newaxis] + np.arange(taps) - (taps // 2 - 1)
    return places.clip(0, old - 1), np.rint(weights * np.float32(1 << _BITS)).astype(np.int32)


def _cubic(share: Any) -> Any:
    """Return the four weights of Keys' cubic (1981) for each place between two pixels."""
    a, far, rest = _SHARPNESS, share + 1, 1 - share
    before = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    near = ((a + 2) * share - (a + 3)) * share * share + 1
    beyond = ((a + 2) * rest - (a + 3)) * rest * rest + 1
    return np.stack((before, near, beyond, 1 - before - near - beyond), axis=1)


def _lanczos(share: Any) -> Any:
    """Return the eight weights of Lanczos' window (a = 4) for each place between two pixels."""
    away = share[:, np.newaxis].astype(np.float64) + 3 - np.arange(8)
    weights = np.sinc(away) * np.sinc(away / 4)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def _means(values: Any, new: int, axis: int) -> Any:
    """Return the means over the parts of an axis that each new pixel covers."""
    old = values.shape[axis]
    sums = np.zeros((*values.shape[:axis], old + 1, *values.shape[axis + 1 :]))
    np.cumsum(values, axis=axis, dtype=np.float64, out=sums[(slice(None),) * axis + (slice(1, None),)])
    edges = np.arange(new + 1) * (old / new)
    before = np.minimum(edges.astype(np.intp), old - 1)
    share = (edges - before).reshape(-1, *(1,) * (values.ndim - 1 - axis))
    low, high = sums.take(before, axis), sums.take(before + 1, axis)
    return np.diff(low + share * (high - low), axis=axis) / (old / new)
