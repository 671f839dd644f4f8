"""Numbers of a curve, added at the end, cheap at any length."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Series"]

_FIRST_CAPACITY = 1024


class Series:
    """Rows of numbers in order of iteration; a later row for an iteration that is there already is left out.

    Parameters
    ----------
    columns : int
        Numbers in a row, the iteration first.
    """

    def __init__(self, columns: int = 2) -> None:
        self._rows: NDArray[np.float64] = np.empty((_FIRST_CAPACITY, columns))
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def rows(self) -> NDArray[np.float64]:
        """All rows, shape (n, columns); a view that the next :meth:`extend` may leave behind."""
        return self._rows[: self._length]

    @property
    def x(self) -> NDArray[np.float64]:
        """The iterations, shape (n,)."""
        return self.rows[:, 0]

    def column(self, index: int) -> NDArray[np.float64]:
        """Numbers of one column, shape (n,)."""
        return self.rows[:, index]

    def extend(self, rows: ArrayLike) -> None:
        """Add rows, shape (m, columns)."""
        new = np.asarray(rows, np.float64).reshape(-1, self._rows.shape[1])
        if self._length:
            new = new[new[:, 0] > self._rows[self._length - 1, 0]]
        needed = self._length + len(new)
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * len(self._rows)), self._rows.shape[1]))
            grown[: self._length] = self.rows
            self._rows = grown
        self._rows[self._length : needed] = new
        self._length = needed

    def at(self, iteration: float) -> NDArray[np.float64] | None:
        """Return the row whose iteration is nearest, or None without rows."""
        if not self._length:
            return None
        right = int(np.searchsorted(self.x, iteration))
        candidates = [index for index in (right - 1, right) if 0 <= index < self._length]
        nearest = min(candidates, key=lambda index: abs(self._rows[index, 0] - iteration))
        row: NDArray[np.float64] = self._rows[nearest]
        return row
