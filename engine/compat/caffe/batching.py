"""Running a net over more items than one batch holds: what ``forward_all`` and ``forward_backward_all`` are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import NetError

__all__ = ["Gathered", "batches", "count_items"]

_Arrays = Mapping[str, npt.NDArray[Any]]


def count_items(method: str, arrays: Mapping[str, Any]) -> int:
    """Return how many items arrays of one length hold.

    Raises
    ------
    NetError
        If there are no arrays, or their lengths differ.
    """
    shapes: dict[str, tuple[int, ...]] = {name: np.shape(array) for name, array in arrays.items()}
    lengths = {shape[:1] for shape in shapes.values()}
    if len(lengths) != 1 or lengths == {()}:
        got = ", ".join(f"'{name}' of shape {shape}" for name, shape in shapes.items()) or "none"
        raise NetError(
            f"caffe.Net.{method}: expected arrays of one length, got {got}.",
            next_step="Give every array one entry for each item." if shapes else "Give the inputs by name.",
        )
    return lengths.pop()[0]


def batches(arrays: Mapping[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """Cut arrays into batches; the last one is filled up with zeros.

    Parameters
    ----------
    arrays : mapping of str to array
        All of one length.
    size : int
        Items in a batch.
    """
    whole = {name: np.asarray(array) for name, array in arrays.items()}
    total = len(next(iter(whole.values()))) if whole else 0
    for start in range(0, total, size):
        batch = {name: array[start : start + size] for name, array in whole.items()}
        lacking = start + size - total
        if lacking > 0:
            batch = {
                name: np.concatenate([array, np.zeros((lacking, *array.shape[1:]), array.dtype)])
                for name, array in batch.items()
            }
        yield batch


class Gathered:
    """Copies of arrays, batch by batch.

    Parameters
    ----------
    batch_size : int
        Items in a batch.
    """

    def __init__(self, batch_size: int) -> None:
        self._size = batch_size
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}

    def add(self, arrays: _Arrays) -> None:
        """Keep copies of the arrays of one batch, which the next batch overwrites."""
        for name, array in arrays.items():
            self._parts.setdefault(name, []).append(np.array(array))

    def joined(self, total: int) -> dict[str, npt.NDArray[Any]]:
        """Return one array for each name.

        Parameters
        ----------
        total : int
            Number of items; what was computed for the zeros after them is left out.

        Returns
        -------
        dict of str to ndarray
            First axis: items; of arrays that have no entry for each item of a batch, such as a loss, batches.
        """
        result = {}
        for name, parts in self._parts.items():
            by_item = all(part.shape[:1] == (self._size,) for part in parts)
            result[name] = np.concatenate(parts)[:total] if by_item else np.stack(parts)
        return result
