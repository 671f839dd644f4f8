"""Rows chosen by index, and their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.api import Array, Blob, Layer

__all__ = ["add_rows", "read_indices"]


def read_indices(layer: Layer, blob: Blob, stop: int, what: str, *, bottom: int) -> Array:
    """Return the values of a blob as integers, fractions cut off as in Caffe.

    Parameters
    ----------
    layer : Layer
        Whose bottom it is; errors name it.
    blob : Blob
        The bottom.
    stop : int
        Indices lie from 0 to below this.
    what : str
        What they point at, for the error.
    bottom : int
        Number of the bottom.

    Returns
    -------
    array of int64, shape (count,)

    Raises
    ------
    engine.errors.LayerError
        If an index lies outside.
    """
    xp = layer.xp
    values = blob.data.reshape(-1)
    with np.errstate(invalid="ignore"):  # NaN becomes an integer out of range and is reported as such
        indices = values.astype(np.int64)
    bad = (indices < 0) | (indices >= stop)
    if bool(bad.any()):
        place = int(xp.argmax(bad))
        layer.fail(
            f"expected indices from 0 to {stop - 1} ({what}), got {float(values[place]):g} at index {place} of "
            f"'{blob.name}'.",
            bottom=bottom,
        )
    return indices


def add_rows(xp: Any, target: Array, indices: Array, rows: Array) -> None:
    """Add rows to those of a target that indices name: ``target[indices[i]] += rows[i]``, repeated indices too.

    Rows are summed in the order in which they come, so that the result is the same bits each time.

    Parameters
    ----------
    xp : module
        Array module of all three.
    target : array, shape (n, width)
        Added to.
    indices : array of int, shape (m,)
        From 0 to n - 1.
    rows : array, shape (m, width)
        What is added.
    """
    if not indices.size:
        return
    order = xp.argsort(indices, kind="stable")
    ordered = indices[order]
    first = xp.ones(ordered.shape, bool)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = xp.flatnonzero(first)
    target[ordered[starts]] += xp.add.reduceat(rows[order], starts, axis=0)
