"""Pooling, one axis after the other.

A maximum over a rectangle is the maximum over its rows of the maxima along each row, and a sum likewise; so a window of
``k * k`` taps costs ``2 k`` passes of long strided loops. Of equal elements the first in a row and then the first row
wins, which is the one with the lower flat index.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from engine.backends.base import Array, Primitive, Workspace
from engine.ops import PoolingAverage, PoolingMax, PoolingWindow, product

__all__ = ["PoolingAverageKernel", "PoolingMaxKernel"]

#: One stage pools arrays seen as (outer, size, inner) to (outer, windows, inner).
_Cut = tuple[slice, slice, slice]


def _taps(window: PoolingWindow, size: int, count: int) -> Iterator[tuple[int, _Cut, _Cut, bool]]:
    """Yield, for each tap, the input elements and the windows it connects, and whether these are all windows."""
    everything = slice(None)
    for tap in range(window.kernel):
        offset = tap - window.pad
        low = max(0, -(offset // window.stride))
        high = min(count, (size - 1 - offset) // window.stride + 1)
        if low < high:
            first = low * window.stride + offset
            elements = slice(first, first + (high - low - 1) * window.stride + 1, window.stride)
            yield (
                tap,
                (everything, elements, everything),
                (everything, slice(low, high), everything),
                high - low == count,
            )


class _PoolingKernel(Primitive):
    """Walks the spatial axes; subclasses pool along one."""

    def __init__(self, spec: PoolingMax | PoolingAverage, xp: Any, workspace: Workspace) -> None:
        self._windows = spec.windows
        self._xp = xp
        self._workspace = workspace

    def _levels(self, x: tuple[int, ...], y: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the shapes from input to output, the last axis pooled first."""
        axes = len(self._windows)
        lead = len(x) - axes
        return [x[: lead + axes - level] + y[lead + axes - level :] for level in range(axes + 1)]

    def _staged(self, level: int, shapes: list[tuple[int, ...]], source: Array, target: Array) -> tuple[Array, Array]:
        """View the arrays at both ends of a stage as (outer, size, inner)."""
        axis = len(shapes[0]) - 1 - level
        outer, inner = product(shapes[level][:axis]), product(shapes[level][axis + 1 :])
        return (
            source.reshape((outer, shapes[level][axis], inner)),
            target.reshape((outer, shapes[level + 1][axis], inner)),
        )

    def _window(self, level: int) -> PoolingWindow:
        return self._windows[len(self._windows) - 1 - level]

    def _scratch(self, slot: str, level: int, shape: tuple[int, ...], dtype: Any) -> Array:
        return self._workspace.take(f"pooling.{slot}.{level}", shape, dtype)

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Pool along one axis after the other."""
        x, y = inputs[0], outputs[0]
        if y.size == 0:
            return
        shapes = self._levels(x.shape, y.shape)
        current = x
        for level in range(len(self._windows)):
            last = level == len(self._windows) - 1
            target = y if last else self._scratch("forward", level, shapes[level + 1], x.dtype)
            self._pool(level, *self._staged(level, shapes, current, target))
            current = target

    def _spread_all(self, dy: Array, x: Array, dx: Array) -> None:
        """Carry gradients back through all stages."""
        shapes = self._levels(x.shape, dy.shape)
        current = dy
        for level in reversed(range(len(self._windows))):
            target = dx if level == 0 else self._scratch("backward", level, shapes[level], x.dtype)
            self._spread(level, *self._staged(level, shapes, target, current))
            current = target

    def _pool(self, level: int, source: Array, target: Array) -> None:
        raise NotImplementedError

    def _spread(self, level: int, source: Array, target: Array) -> None:
        """Compute the gradient of a stage's source from that of its target."""
        raise NotImplementedError


class PoolingMaxKernel(_PoolingKernel):
    """Runs :class:`engine.ops.PoolingMax`; keeps, for each stage, which tap won (counted from 1; 0 for none)."""

    def __init__(self, spec: PoolingMax, xp: Any, workspace: Workspace) -> None:
        super().__init__(spec, xp, workspace)
        self._winners: dict[int, Array] = {}

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute maxima and, for a second output, where they are."""
        super().forward(inputs, params, outputs)
        if len(outputs) > 1:
            self._write_indices(inputs[0], outputs[0], outputs[1])

    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Send each gradient to the element that won in the last forward pass."""
        dx = input_grads[0]
        if dx is None:
            return
        if output_grads[0].size == 0:
            dx[...] = 0
            return
        self._spread_all(output_grads[0], inputs[0], dx)

    def _winner_memory(self, level: int, shape: tuple[int, ...], kernel: int) -> Array:
        known = self._winners.get(level)
        if known is None or known.shape != shape:
            known = self._winners[level] = self._xp.empty(shape, np.uint8 if kernel < 255 else np.int32)
        return known

    def _pool(self, level: int, source: Array, target: Array) -> None:
        xp = self._xp
        window = self._window(level)
        winners = self._winner_memory(level, target.shape, window.kernel)
        better = self._workspace.take("pooling.better", target.shape, bool)
        mark = self._workspace.take("pooling.mark", target.shape, winners.dtype)
        started = False
        for tap, elements, windows, complete in _taps(window, source.shape[1], target.shape[1]):
            candidate = source[elements]
            if not started and complete:
                target[...] = candidate
                winners[...] = tap + 1
                started = True
                continue
            if not started:
                target[...] = np.finfo(target.dtype).min
                winners[...] = 0
                started = True
            part, part_better, part_mark = target[windows], better[windows], mark[windows]
            xp.greater(candidate, part, out=part_better)
            xp.maximum(candidate, part, out=part)
            # later taps have larger marks, so "the last that was better" is a maximum: no branches, no scatter
            xp.multiply(part_better, tap + 1, out=part_mark, casting="unsafe")
            xp.maximum(winners[windows], part_mark, out=winners[windows])
        if not started:
            target[...] = np.finfo(target.dtype).min

    def _spread(self, level: int, source: Array, target: Array) -> None:
        xp = self._xp
        window = self._window(level)
        winners = self._winners[level]
        won = self._workspace.take("pooling.better", target.shape, bool)
        overlap = window.kernel > window.stride
        share = self._workspace.take("pooling.share", target.shape, target.dtype) if overlap else None
        tiled = (
            window.kernel == window.stride and window.pad == 0 and target.shape[1] * window.kernel == source.shape[1]
        )
        if not tiled:  # some elements lie in no window, or in several
            source[...] = 0
        for tap, elements, windows, _ in _taps(window, source.shape[1], target.shape[1]):
            part_won = won[windows]
            xp.equal(winners[windows], tap + 1, out=part_won)
            if share is None:
                xp.multiply(target[windows], part_won, out=source[elements])
            else:
                part = share[windows]
                xp.multiply(target[windows], part_won, out=part)
                source[elements] += part

    def _write_indices(self, x: Array, y: Array, indices: Array) -> None:
        """Write the flat index of each maximum within its plane (Caffe's second top)."""
        xp = self._xp
        axes = len(self._windows)
        lead = x.ndim - axes
        indices[...] = -1
        found = xp.zeros(y.shape, bool)
        places = [
            list(_taps(window, x.shape[lead + axis], y.shape[lead + axis])) for axis, window in enumerate(self._windows)
        ]
        flat = xp.arange(product(x.shape[lead:]), dtype=indices.dtype).reshape(x.shape[lead:])
        for taps in itertools.product(*places):
            elements = tuple(tap[1][1] for tap in taps)
            windows = (..., *(tap[2][1] for tap in taps))
            own, best = x[(..., *elements)], y[windows]
            hit = ((own == best) | (xp.isnan(own) & xp.isnan(best))) & ~found[windows]
            xp.copyto(indices[windows], flat[elements], where=hit)
            found[windows] |= hit


class PoolingAverageKernel(_PoolingKernel):
    """Runs :class:`engine.ops.PoolingAverage`."""

    def __init__(self, spec: PoolingAverage, xp: Any, workspace: Workspace) -> None:
        super().__init__(spec, xp, workspace)
        self._known: tuple[tuple[tuple[int, ...], tuple[int, ...], Any], Array] | None = None

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute sums, then divide."""
        super().forward(inputs, params, outputs)
        if outputs[0].size:
            outputs[0][...] /= self._divisor(inputs[0].shape, outputs[0])

    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Send each gradient to all elements of its window in equal parts."""
        dx, dy = input_grads[0], output_grads[0]
        if dx is None:
            return
        if dy.size == 0:
            dx[...] = 0
            return
        scaled = self._workspace.take("pooling.scaled", dy.shape, dy.dtype)
        self._xp.divide(dy, self._divisor(inputs[0].shape, dy), out=scaled)
        self._spread_all(scaled, inputs[0], dx)

    def _divisor(self, x: tuple[int, ...], y: Array) -> Array:
        """Return the size of each window, padding within ``pad`` of the input counted, at least 1."""
        key = (x, y.shape, y.dtype)
        if self._known is not None and self._known[0] == key:
            return self._known[1]
        xp = self._xp
        lead = len(x) - len(self._windows)
        divisor = xp.ones((), y.dtype)
        for axis, window in enumerate(self._windows):
            starts = xp.arange(y.shape[lead + axis]) * window.stride - window.pad
            sizes = xp.minimum(starts + window.kernel, x[lead + axis] + window.pad) - starts
            divisor = divisor[..., None] * xp.maximum(sizes, 1).astype(y.dtype)
        self._known = (key, divisor)
        return divisor

    def _pool(self, level: int, source: Array, target: Array) -> None:
        started = False
        for _, elements, windows, complete in _taps(self._window(level), source.shape[1], target.shape[1]):
            if not started and complete:
                target[...] = source[elements]
            else:
                if not started:
                    target[...] = 0
                target[windows] += source[elements]
            started = True
        if not started:
            target[...] = 0

    def _spread(self, level: int, source: Array, target: Array) -> None:
        source[...] = 0
        for _, elements, windows, _ in _taps(self._window(level), source.shape[1], target.shape[1]):
            source[elements] += target[windows]
