"""Stochastic pooling: a window gives one of its elements by chance, the larger the likelier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from engine.api import Array, Layer, Phase
from engine.ops import PoolingWindow

__all__ = ["StochasticPooling"]

_Cut: TypeAlias = tuple[Any, slice, slice]
_NONE = -1  # no element was drawn


@dataclass(slots=True)
class StochasticPooling:
    """Pools windows without padding over the last two axes, as the kernels of Caffe's ``PoolingLayer`` on a GPU do.

    In training, a threshold is drawn for each window, evenly from 0 to the sum of its elements; the first element, row
    after row, at which the running sum reaches it is the result, so that ``v`` is drawn with the chance ``v / sum(v)``,
    and all of the gradient is sent to it. In testing the result is the mean with these chances,
    ``sum(v^2) / sum(v)``, or 0 where the sum is not positive, and the gradient is that of this formula (Caffe leaves it
    undefined). Source: Zeiler and Fergus 2013, equations 4, 5 and 7.

    Elements are meant to be 0 or more. A window in which the threshold is never reached, which takes negative elements,
    gives 0 and gets no gradient; NaN comes through. An empty window gives 0.

    Attributes
    ----------
    layer : Layer
        Whose random stream, phase and array module are used.
    windows : sequence of PoolingWindow
        Rows and columns.
    """

    layer: Layer
    windows: Sequence[PoolingWindow]
    _drawn: Array | None = field(default=None, init=False)

    def forward(self, x: Array, y: Array) -> None:
        """Pool ``x`` of shape (N, C, H, W) into ``y`` of shape (N, C, rows, columns)."""
        if self.layer.phase == Phase.TRAIN:
            self._draw(x, y)
        else:
            self._weigh(x, y)

    def backward(self, x: Array, dy: Array, dx: Array) -> None:
        """Overwrite ``dx`` with the gradient of the last forward pass."""
        dx[...] = 0
        if self.layer.phase == Phase.TRAIN:
            for tap, elements, windows in self._taps(x.shape, dy.shape):
                assert self._drawn is not None  # forward came first
                dx[elements] += dy[windows] * (self._drawn[windows] == tap)
            return
        total, squares = self._sums(x, dy.shape)
        safe = self.layer.xp.where(total > 0, total, 1)
        slope, mean = dy / safe * (total > 0), squares / safe
        for _, elements, windows in self._taps(x.shape, dy.shape):
            dx[elements] += slope[windows] * (2 * x[elements] - mean[windows])

    def _draw(self, x: Array, y: Array) -> None:
        xp = self.layer.xp
        total, _ = self._sums(x, y.shape)
        chance = 1 - self.layer.rng.random(y.shape, dtype=np.float32)  # above 0, so that an element of 0 is not drawn
        threshold = self.layer.to_backend(chance.astype(x.dtype)) * total
        running = xp.zeros(y.shape, x.dtype)
        drawn = self._drawn = xp.full(y.shape, _NONE, np.int32)
        y[...] = xp.where(xp.isnan(total), total, xp.zeros((), x.dtype))
        for tap, elements, windows in self._taps(x.shape, y.shape):
            running[windows] += x[elements]
            reached = (running[windows] >= threshold[windows]) & (drawn[windows] == _NONE)
            y[windows] = xp.where(reached, x[elements], y[windows])
            drawn[windows] = xp.where(reached, xp.full((), tap, np.int32), drawn[windows])

    def _weigh(self, x: Array, y: Array) -> None:
        xp = self.layer.xp
        total, squares = self._sums(x, y.shape)
        positive = total > 0
        y[...] = xp.where(positive, squares / xp.where(positive, total, 1), 0)
        y[...] = xp.where(xp.isnan(total), total, y)

    def _sums(self, x: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the sums of each window's elements, in the order of the taps, and of their squares."""
        xp = self.layer.xp
        total, squares = xp.zeros(shape, x.dtype), xp.zeros(shape, x.dtype)
        for _, elements, windows in self._taps(x.shape, shape):
            total[windows] += x[elements]
            squares[windows] += x[elements] * x[elements]
        return total, squares

    def _taps(self, x: tuple[int, ...], y: tuple[int, ...]) -> Iterator[tuple[int, _Cut, _Cut]]:
        """Yield the number of each tap, row after row, the elements it reads, and the windows that they belong to."""
        rows, columns = self.windows
        for row in range(rows.kernel):
            for column in range(columns.kernel):
                vertical, high = _reach(row, rows, x[2], y[2])
                horizontal, wide = _reach(column, columns, x[3], y[3])
                yield row * columns.kernel + column, (..., vertical, horizontal), (..., slice(high), slice(wide))


def _reach(tap: int, window: PoolingWindow, size: int, count: int) -> tuple[slice, int]:
    """Return the elements that a tap reads along one axis, and in how many windows it does."""
    inside = max(0, min(count, (size - 1 - tap) // window.stride + 1))
    return slice(tap, tap + inside * window.stride, window.stride) if inside else slice(0, 0), inside
