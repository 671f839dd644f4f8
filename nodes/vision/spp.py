"""Spatial pyramid pooling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.api import Array, Blob, Layer, Primitive
from engine.ops import PoolingAverage, PoolingMax, PoolingWindow, product
from nodes.memory import kept, scratch
from nodes.vision.stochastic import StochasticPooling

__all__ = ["SPPLayer"]

MAX, AVE, STOCHASTIC = 0, 1, 2  # SPPParameter.PoolMethod


@dataclass(slots=True)
class _Level:
    """One grid: its windows along both axes, its pooling, and what that gave."""

    windows: tuple[PoolingWindow, PoolingWindow]
    out: tuple[int, int]
    primitive: Primitive | StochasticPooling
    pooled: Array | None = None

    def forward(self, x: Array) -> None:
        """Pool into ``pooled``."""
        if isinstance(self.primitive, StochasticPooling):
            self.primitive.forward(x, self.pooled)
        else:
            self.primitive.forward([x], [], [self.pooled])

    def backward(self, x: Array, grad: Array, target: Array) -> None:
        """Overwrite ``target`` with the gradient of ``x`` for that of ``pooled``."""
        if isinstance(self.primitive, StochasticPooling):
            self.primitive.backward(x, grad, target)
        else:
            self.primitive.backward([x], [], [self.pooled], [grad], [target], [])


class SPPLayer(Layer):
    """Pools grids of 1, 4, 16, ... parts, so that any input gives as many values (Caffe's ``SPPLayer``).

    Level ``l`` of ``pyramid_height`` levels splits each side into ``b = 2^l`` windows: kernel and stride
    ``ceil(size / b)``, padding half of what the windows are longer than the side, rounded up. Bottom ``(N, C, H, W)``;
    top ``(N, C * (1 + 4 + 16 + ...))``, level after level, or ``(N, C, 1, 1)`` with a single level. Stochastic pooling
    takes no padding, so that each ``b`` must divide the sides. Source: He et al. 2014.
    """

    type = "SPP"

    _method: int
    _levels: list[_Level]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``spp_param``."""
        param = self.layer_param.spp_param
        if not param.pyramid_height:
            self.fail("expected pyramid_height of 1 or more, got 0.", next_step="Set spp_param pyramid_height.")
        self._method = int(param.pool)
        self._levels = []

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Lay out the grids."""
        shape = bottom[0].shape
        if len(shape) != 4 or min(shape[2:]) < 1:
            self.fail_shape(f"expected a 4-D input (N, C, H, W) with pixels, got shape {shape}.", bottom=0)
        height = int(self.layer_param.spp_param.pyramid_height)
        grids = [tuple(self._window(size, 2**level, shape) for size in shape[2:]) for level in range(height)]
        if [level.windows for level in self._levels] != grids:
            self._levels = [self._level((rows, columns), shape) for rows, columns in grids]
        if height == 1:
            top[0].reshape(*shape[:2], *self._levels[0].out)
        else:
            top[0].reshape(shape[0], shape[1] * sum(product(level.out) for level in self._levels))

    def _window(self, size: int, parts: int, shape: tuple[int, ...]) -> PoolingWindow:
        kernel = -(-size // parts)
        pad = (kernel * parts - size + 1) // 2
        if pad >= kernel:
            self.fail_shape(
                f"expected an input that splits into {parts} windows a side, got shape {shape}: {size} pixels are too "
                f"few, as windows of {kernel} would need {pad} of padding.",
                bottom=0,
                next_step="Set a smaller spp_param pyramid_height, or use a larger input.",
            )
        if self._method == STOCHASTIC and pad:
            self.fail_shape(
                f"expected an input whose sides split evenly into {parts} windows, as stochastic pooling takes no "
                f"padding, got shape {shape}.",
                bottom=0,
                next_step="Set a smaller spp_param pyramid_height, or pool: MAX or pool: AVE.",
            )
        return PoolingWindow(kernel, kernel, pad)

    def _level(self, windows: tuple[PoolingWindow, PoolingWindow], shape: tuple[int, ...]) -> _Level:
        rows, columns = windows
        out = rows.output_size(shape[2]), columns.output_size(shape[3])
        if self._method == STOCHASTIC:
            return _Level(windows, out, StochasticPooling(self, windows))
        return _Level(windows, out, self.primitive((PoolingAverage if self._method == AVE else PoolingMax)(windows)))

    def _parts(self, shape: tuple[int, ...]) -> Iterator[tuple[_Level, tuple[int, ...], slice]]:
        """Yield each level with the shape of its result and the columns of the top that hold it."""
        start = 0
        for level in self._levels:
            stop = start + shape[1] * product(level.out)
            yield level, (*shape[:2], *level.out), slice(start, stop)
            start = stop

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Pool, level after level."""
        x = bottom[0].data
        y = top[0].data.reshape((x.shape[0], -1)) if top[0].count else top[0].data
        for level, shape, columns in self._parts(x.shape):
            level.pooled = kept(self, level.pooled, x, shape)
            level.forward(x)
            if top[0].count:
                y[:, columns] = level.pooled.reshape((x.shape[0], -1))

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Sum the gradients of all levels."""
        if not propagate_down[0] or not top[0].count:
            return
        x, dx = bottom[0].data, bottom[0].diff
        dy = top[0].diff.reshape((x.shape[0], -1))
        share = scratch(self, "share", x)
        for place, (level, shape, columns) in enumerate(self._parts(x.shape)):
            grad = scratch(self, "grad", x, shape)
            grad[...] = dy[:, columns].reshape(shape)
            target = share if place else dx
            level.backward(x, grad, target)
            if place:
                dx += share
