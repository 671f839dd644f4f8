"""Equalizing histograms, of a whole plane or of its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["equalize", "equalize_parts"]

_VALUES = 256


def equalize(plane: Any) -> Any:
    """Spread the values of a plane, so that all are about as frequent (OpenCV's ``equalizeHist``).

    Parameters
    ----------
    plane : ndarray of uint8, shape (height, width)
    """
    counts = np.bincount(plane.ravel(), minlength=_VALUES)
    lowest = int(counts.nonzero()[0][0])
    others = plane.size - int(counts[lowest])
    if not others:
        return plane.copy()
    above = np.cumsum(counts) - counts[: lowest + 1].sum()
    table = np.rint(above.astype(np.float32) * (np.float32(_VALUES - 1) / np.float32(others)))
    return table.clip(0, 255).astype(np.uint8)[plane]


def equalize_parts(plane: Any, *, limit: float = 4.0, parts: int = 8) -> Any:
    """Equalize each part of a plane, and go over smoothly from part to part (OpenCV's ``CLAHE``; Zuiderveld 1994).

    Parameters
    ----------
    plane : ndarray of uint8, shape (height, width)
    limit : float
        No value counts as more frequent than so many times the mean, so that contrast does not grow beyond that.
    parts : int
        Number of parts along each axis.
    """
    height, width = plane.shape
    whole = plane
    if height % parts or width % parts:  # then both axes are extended, as in OpenCV
        whole = np.pad(plane, ((0, parts - height % parts), (0, parts - width % parts)), "reflect")
    sides = whole.shape[0] // parts, whole.shape[1] // parts
    blocks = whole.reshape(parts, sides[0], parts, sides[1]).swapaxes(1, 2).reshape(parts, parts, -1)
    tables = np.array([[_table(block, limit) for block in row] for row in blocks], np.float32)
    above, below, down = _neighbours(height, sides[0], parts)
    left, right, across = _neighbours(width, sides[1], parts)
    rows, down = (above[:, np.newaxis], below[:, np.newaxis]), down[:, np.newaxis]
    upper, lower = (tables[row, left, plane] * (1 - across) + tables[row, right, plane] * across for row in rows)
    return np.rint(upper * (1 - down) + lower * down).clip(0, 255).astype(np.uint8)


def _table(values: Any, limit: float) -> Any:
    """Return the new value of each value in one part."""
    counts = np.bincount(values, minlength=_VALUES)
    most = max(int(limit * values.size / _VALUES), 1)
    excess = int(np.maximum(counts - most, 0).sum())
    counts = np.minimum(counts, most) + excess // _VALUES
    rest = excess % _VALUES
    if rest:
        counts[:: max(_VALUES // rest, 1)][:rest] += 1
    scale = np.float32(_VALUES - 1) / np.float32(values.size)
    return np.rint(np.cumsum(counts).astype(np.float32) * scale).clip(0, 255)


def _neighbours(length: int, side: int, parts: int) -> tuple[Any, Any, Any]:
    """Return for each pixel of an axis the parts around it, and the share of the second one."""
    place = np.arange(length, dtype=np.float32) * (np.float32(1) / np.float32(side)) - np.float32(0.5)
    first = np.floor(place).astype(np.intp)
    return np.maximum(first, 0), np.minimum(first + 1, parts - 1), place - first.astype(np.float32)
