"""Bilinear interpolation between the pixels of planes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Array, Blob, Layer

__all__ = ["InterpLayer"]

_FACTORS = ("shrink_factor", "zoom_factor", "full_zoom_factor")


class InterpLayer(Layer):
    """Resizes planes so that their corner pixels stay the corners (Chen et al. 2014).

    Bottom and top ``(N, C, H, W)``; of a second bottom, with ``use_blob_size``, only height and width count. Pixel
    ``i`` of ``n`` is taken at ``i (size - 1) / (n - 1)``, a number in single precision, between the two pixels there.
    """

    _crop: tuple[int, int]
    _known: tuple[Any, ...] = ()

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``interp_param``."""
        param = self.layer_param.interp_param
        if param.pad_beg > 0 or param.pad_end > 0:
            self.fail(
                f"expected pad_beg and pad_end of 0 or less, got {param.pad_beg} and {param.pad_end}.",
                next_step="Use negative numbers, which cut off.",
            )
        self._crop = (-param.pad_beg, -param.pad_end)
        for field in _FACTORS:
            if param.HasField(field) and getattr(param, field) < 1:
                self.fail(f"expected {field} of 1 or more, got {getattr(param, field)}.")
        if bool(param.use_blob_size) != (len(bottom) > 1):
            self.fail(
                f"expected a second bottom with use_blob_size, and none without, got {len(bottom)} bottoms.",
                next_step="Set interp_param use_blob_size, or connect the blob that has the size.",
            )
        factors = param.use_blob_size or any(param.HasField(field) for field in _FACTORS)
        if not factors and not (param.HasField("height") and param.HasField("width")):
            self.fail(
                "expected shrink_factor, zoom_factor, or height and width, got none.",
                next_step="Set interp_param height and width.",
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the size of the top."""
        shape = bottom[0].shape
        if len(shape) != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {shape}.", bottom=0)
        used = [size - sum(self._crop) for size in shape[2:]]
        if min(used) < 1:
            self.fail_shape(
                f"expected an input larger than the {sum(self._crop)} pixels cut off, got {shape}.", bottom=0
            )
        if len(bottom) > 1 and bottom[1].axes != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {bottom[1].shape}.", bottom=1)
        size = list(bottom[1].shape[2:]) if len(bottom) > 1 else self._resized(used)
        if min(size) < 1:
            self.fail(f"expected height and width of 1 or more, got {tuple(size)}.")
        top[0].reshape(*shape[:2], *size)

    def _resized(self, used: Sequence[int]) -> list[int]:
        param = self.layer_param.interp_param
        shrinks, zooms = param.HasField("shrink_factor"), param.HasField("zoom_factor")
        if shrinks == zooms and param.HasField("height") and param.HasField("width"):
            return [int(param.height), int(param.width)]  # which also counts before both factors together
        if not shrinks and not zooms:
            return [length * param.full_zoom_factor for length in used]
        size = list(used)
        if shrinks:
            size = [(length - 1) // param.shrink_factor + 1 for length in size]
        if zooms:
            size = [length + (length - 1) * (param.zoom_factor - 1) for length in size]
        return size

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Interpolate, first along rows, then along columns."""
        x, y = self._used(bottom[0].data), top[0].data
        if x.shape == y.shape:
            y[...] = x
            return
        rows, columns = self._axes(x, y)
        across = columns.between(x, 3)
        y[...] = rows.between(across, 2)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Give each gradient to the four pixels that its value came from."""
        if len(propagate_down) > 1 and propagate_down[1]:
            bottom[1].diff[...] = 0
        if not propagate_down[0]:
            return
        dy, whole = top[0].diff, bottom[0].diff
        whole[...] = 0
        dx = self._used(whole)
        if dx.shape == dy.shape:
            dx[...] = dy
            return
        rows, columns = self._axes(dx, dy)
        xp = self.xp
        dx[...] = xp.matmul(xp.matmul(rows.matrix.T, dy), columns.matrix)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Of the second bottom only the size counts."""
        return bottom_index == 0

    def _used(self, array: Array) -> Array:
        start, end = self._crop
        return array[:, :, start : array.shape[2] - end, start : array.shape[3] - end]

    def _axes(self, x: Array, y: Array) -> tuple["_Axis", "_Axis"]:
        key = (x.shape[2:], y.shape[2:], x.dtype)
        if not self._known or self._known[0] != key:
            sizes = zip(x.shape[2:], y.shape[2:], strict=True)
            self._known = (key, *(_Axis(self, old, new, x.dtype) for old, new in sizes))
        return self._known[1], self._known[2]


class _Axis:
    """Where the pixels of one axis lie between those of another size.

    Parameters
    ----------
    layer : Layer
        Where the arrays are to be.
    old, new : int
        Sizes.
    dtype : dtype
        Of the planes.
    """

    def __init__(self, layer: Layer, old: int, new: int, dtype: Any) -> None:
        ratio = np.float32(old - 1) / np.float32(new - 1) if new > 1 else np.float32(0)
        place = ratio * np.arange(new, dtype=np.float32)
        before = place.astype(np.int64)
        after = np.minimum(before + 1, old - 1)
        weight = (place - before.astype(np.float32)).astype(dtype)
        matrix = np.zeros((new, old), dtype)
        np.add.at(matrix, (np.arange(new), before), 1 - weight)
        np.add.at(matrix, (np.arange(new), after), weight)
        self._layer = layer
        self._before, self._after = layer.to_backend(before), layer.to_backend(after)
        self._weight = layer.to_backend(weight)
        #: What a pixel (row) takes of each of the old ones (column).
        self.matrix = layer.to_backend(matrix)

    def between(self, x: Array, axis: int) -> Array:
        """Return ``x`` interpolated along an axis."""
        xp = self._layer.xp
        shape = (-1, *(1 for _ in range(x.ndim - axis - 1)))
        weight = self._weight.reshape(shape)
        result = xp.take(x, self._before, axis=axis)
        result *= 1 - weight
        part = xp.take(x, self._after, axis=axis)
        part *= weight
        result += part
        return result
