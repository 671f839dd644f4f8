"""Pooling the other way round, by maximum, average or repetition."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from masks import places

from engine.api import Array, Blob, Layer

__all__ = ["UnpoolingLayer"]

MAX, AVE, TILE = 0, 1, 2  # UnpoolingParameter.UnpoolMethod


class UnpoolingLayer(Layer):
    """Spreads each value over a window of a larger plane (Noh et al. 2015, section 3.2).

    Bottom ``(N, C, H, W)``, and for ``MAX`` perhaps a mask of that shape, as of max pooling; top ``(N, C, unpool_h,
    unpool_w)``, or ``max((size - 1) stride + kernel, size stride + 1)``. As in DeconvNet's layer, the gradient of
    ``TILE`` is the mean over a window, not its sum.
    """

    _method: int
    _kernel: tuple[int, int]
    _stride: tuple[int, int]
    _fixed: tuple[int, int] | None
    _known: tuple[Any, ...] = ()

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``unpooling_param``."""
        param = self.layer_param.unpooling_param
        self._method = int(param.unpool)
        kernel = self._pair(param, "kernel", "kernel_size")
        if kernel is None:
            self.fail("expected kernel_size, got none.", next_step="Set unpooling_param kernel_size.")
        self._kernel = kernel
        self._stride = self._pair(param, "stride", "stride") or (1, 1)
        if min(self._kernel + self._stride) < 1:
            self.fail(f"expected kernel and stride of 1 or more, got {self._kernel} and {self._stride}.")
        if any(self._pair(param, "pad", "pad") or ()):
            self.fail("expected pad 0, which is all that unpooling knows.", next_step="Remove pad.")
        self._fixed = self._pair(param, "unpool", "unpool_size")
        if self._fixed is not None and min(self._fixed) < 1:
            self.fail(f"expected unpool_size of 1 or more, got {self._fixed}.")
        if len(bottom) > 1 and self._method != MAX:
            self.fail("expected a mask only with unpool: MAX.", bottom=1, next_step="Remove the second bottom.")

    def _pair(self, param: Any, stem: str, square: str) -> tuple[int, int] | None:
        """Read a field that is written once, or as ``_h`` and ``_w``."""
        named = [param.HasField(f"{stem}_{side}") for side in "hw"]
        if any(named):
            if param.HasField(square) or not all(named):
                self.fail(f"expected {square}, or {stem}_h and {stem}_w.")
            return int(getattr(param, f"{stem}_h")), int(getattr(param, f"{stem}_w"))
        return (int(getattr(param, square)),) * 2 if param.HasField(square) else None

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the size of the top."""
        shape = bottom[0].shape
        if len(shape) != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {shape}.", bottom=0)
        if len(bottom) > 1 and bottom[1].shape != shape:
            self.fail_shape(f"expected a mask of shape {shape}, as bottom 0, got {bottom[1].shape}.", bottom=1)
        needed = (
            max((size - 1) * stride + kernel, size * stride + 1)
            for size, stride, kernel in zip(shape[2:], self._stride, self._kernel, strict=True)
        )
        top[0].reshape(*shape[:2], *(self._fixed or needed))

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Spread the values."""
        x, y = bottom[0].data, top[0].data
        if not x.size:
            y[...] = 0
        elif self._method == MAX:
            y[...] = 0
            y.reshape(-1)[self._where(bottom, top)] = x.reshape(-1)
        else:
            rows, columns, share = self._windows(x, y)
            values = x * share if self._method == AVE else x
            self.xp.matmul(self.xp.matmul(rows, values), columns.T, out=y)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Collect the gradient from where the values went."""
        if not propagate_down[0]:
            return
        dx, dy = bottom[0].diff, top[0].diff
        if not dx.size:
            return
        if self._method == MAX:
            dx.reshape(-1)[...] = dy.reshape(-1)[self._where(bottom, top)]
        else:
            rows, columns, share = self._windows(dx, dy)
            self.xp.matmul(self.xp.matmul(rows.T, dy), columns, out=dx)
            dx *= share

    def _where(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> Array:
        """Return for each value its index among all elements of the top."""
        if len(bottom) > 1:
            return places(self, bottom[1], top[0])
        images, channels, height, width = top[0].shape
        rows, columns = (
            np.minimum(np.arange(count) * stride, size - 1)
            for count, stride, size in zip(bottom[0].shape[2:], self._stride, (height, width), strict=True)
        )
        planes = np.arange(images * channels)[:, None, None] * (height * width)
        return self.to_backend((planes + rows[:, None] * width + columns).reshape(-1))

    def _windows(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """Return which pixels are in which window, by rows and by columns, and 1 over the number of its pixels."""
        key = (x.shape[2:], y.shape[2:], x.dtype)
        if not self._known or self._known[0] != key:
            inside = []
            for count, size, stride, kernel in zip(x.shape[2:], y.shape[2:], self._stride, self._kernel, strict=True):
                first = np.arange(count) * stride
                pixel = np.arange(size)[:, None]
                inside.append((pixel >= first) & (pixel < first + kernel))
            counts = inside[0].sum(axis=0)[:, None] * inside[1].sum(axis=0)
            share = np.where(counts, 1 / np.maximum(counts, 1), 0)
            self._known = (key, *(self.to_backend(each.astype(x.dtype)) for each in (*inside, share)))
        return self._known[1:]

    def allow_force_backward(self, bottom_index: int) -> bool:
        """A mask has no gradient."""
        return bottom_index == 0
