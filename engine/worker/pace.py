"""How fast a training goes and how long it still takes."""

from __future__ import annotations

import collections
import math
import time
from collections.abc import Callable

__all__ = ["Pace"]

_WINDOW_SECONDS = 30.0
_MEMORY = 0.9


class Pace:
    """Speed of the iterations and the time left.

    Parameters
    ----------
    clock : callable
        Seconds that only ever grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._mean_seconds = math.nan
        self._marks: collections.deque[tuple[float, int]] = collections.deque()

    def restart(self) -> None:
        """Forget what was, as after a pause."""
        self._marks.clear()

    def add(self, iteration: int, seconds: float) -> None:
        """Count an iteration that took ``seconds`` by itself, without tests."""
        if math.isnan(self._mean_seconds):
            self._mean_seconds = seconds
        else:
            self._mean_seconds = _MEMORY * self._mean_seconds + (1.0 - _MEMORY) * seconds
        now = self._clock()
        if not self._marks or now - self._marks[-1][0] >= 0.1:  # a mark for each tenth of a second is enough
            self._marks.append((now, iteration))
        while now - self._marks[0][0] > _WINDOW_SECONDS and len(self._marks) > 2:
            self._marks.popleft()

    @property
    def speed(self) -> float:
        """Iterations per second while iterating; 0 while it is not known."""
        return 1.0 / self._mean_seconds if self._mean_seconds > 0 else 0.0

    def seconds_left(self, iteration: int, max_iter: int) -> float:
        """Time to ``max_iter``, with tests and snapshots as they were of late; NaN while it is not known."""
        if len(self._marks) >= 2:
            (first, begin), (last, end) = self._marks[0], self._marks[-1]
            if end > begin:
                return max(0.0, (max_iter - iteration) * (last - first) / (end - begin))
        return (max_iter - iteration) / self.speed if self.speed else math.nan
