"""The loss that Caffe prints: a mean over the last iterations."""

from __future__ import annotations

from collections import deque

__all__ = ["SmoothedLoss"]


class SmoothedLoss:
    """Mean over a window that fills as training goes (``average_loss``).

    Parameters
    ----------
    window : int
        Number of losses in the mean; with 2, the losses 4, 2, 6 give 4, 3, 4.
    """

    def __init__(self, window: int) -> None:
        self._losses: deque[float] = deque(maxlen=max(window, 1))

    @property
    def value(self) -> float:
        """Mean of the window; 0 before the first loss."""
        return sum(self._losses) / len(self._losses) if self._losses else 0.0

    def add(self, loss: float) -> None:
        """Take in the loss of one iteration."""
        self._losses.append(loss)
