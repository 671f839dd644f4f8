"""The order in which a list is read over and over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.data.batches import random_stream
from engine.errors import DataError

__all__ = ["Passes"]

_ORDER, _SKIP = 2**31, 2**31 + 1  # counters of random streams beyond any number of a batch


class Passes:
    """Where reading is in a list, pass after pass.

    The order of a pass is a function of the seed and of the number of the pass.

    Parameters
    ----------
    count : int
        Entries of the list.
    shuffle : bool
        Whether each pass has an order of its own; without it entries come as they are listed.
    seed : int
        Seed of the orders.
    """

    def __init__(self, count: int, *, shuffle: bool, seed: int) -> None:
        self._count, self._shuffle, self._seed = count, shuffle, seed
        self._index = 0
        self._enter(0)

    @property
    def next(self) -> int:
        """The entry that comes next, by its place in the list."""
        return int(self._order[self._index])

    def skip(self, most: int, file: Path, owner: str) -> None:
        """Begin at a random place, fewer than ``most`` entries on (Caffe's ``rand_skip``); 0 skips none.

        Raises
        ------
        DataError
            If the list, ``file``, ends before that place.
        """
        if not most:
            return
        self._index = int(random_stream(self._seed, _SKIP).integers(most))
        if self._index >= self._count:
            raise DataError(
                f"{owner}: expected more images in '{file}' than the {self._index} to skip, got {self._count}.",
                next_step="Lower rand_skip to the number of images at most.",
            )

    def take(self, count: int) -> npt.NDArray[np.intp]:
        """Return the places of the next entries, shape (count,); the list begins anew where it ends."""
        taken: list[npt.NDArray[np.intp]] = []
        while count:
            part = self._order[self._index : self._index + count]
            taken.append(part)
            count -= len(part)
            self._index += len(part)
            if self._index == self._count:
                self._enter(self._pass + 1)
                self._index = 0
        return np.concatenate(taken)

    def position(self) -> dict[str, int]:
        """Return where reading is, for :meth:`go_to`."""
        return {"pass": self._pass, "index": self._index}

    def go_to(self, state: Mapping[str, Any], *, seed: int) -> None:
        """Go where :meth:`position` was taken, in the orders of a seed."""
        self._seed = seed
        self._enter(int(state["pass"]))
        self._index = int(state["index"]) % self._count

    def _enter(self, number: int) -> None:
        self._pass = number
        random = random_stream(self._seed, _ORDER, number)
        self._order: npt.NDArray[np.intp] = random.permutation(self._count) if self._shuffle else np.arange(self._count)
