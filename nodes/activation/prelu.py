"""The rectifier with learned slopes."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from engine.ops import product
from nodes.memory import is_in_place, kept, scratch

__all__ = ["PReLULayer"]

DEFAULT_SLOPE = 0.25


class PReLULayer(Layer):
    """``max(x, 0) + slope * min(x, 0)`` with a learned slope for each channel (Caffe's ``PReLULayer``).

    Bottom ``(N, C, ...)``. Parameter: slopes ``(C,)``, or a single one ``()`` with ``channel_shared``. The gradient at
    0 is the slope. In place the input is kept. Source: He et al. 2015, eq. 1.
    """

    type = "PReLU"

    _channels: int
    _shared: bool
    _input: Array | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``prelu_param`` and make the slopes."""
        if bottom[0].axes < 2:
            self.fail_shape(f"expected an input (N, C, ...), got shape {bottom[0].shape}.", bottom=0)
        param = self.layer_param.prelu_param
        self._channels = bottom[0].shape[1]
        self._shared = bool(param.channel_shared)
        slopes = self.blobs.add_blob(() if self._shared else (self._channels,))
        filler = param.filler if param.HasField("filler") else type(param.filler)(value=DEFAULT_SLOPE)
        self.fill(slopes, filler)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that there still is a slope for each channel."""
        shape = bottom[0].shape
        if len(shape) < 2 or (shape[1] != self._channels and not self._shared):
            self.fail_shape(
                f"expected {self._channels} channels at axis 1 (one slope each), got shape {shape}.", bottom=0
            )
        top[0].reshape_like(bottom[0])

    def _slopes(self, shape: tuple[int, ...]) -> Array:
        """Return the slopes in a shape that lines up with ``(N, C, rest)``."""
        return self.blobs[0].data.reshape((1, 1, 1) if self._shared else (1, shape[1], 1))

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Scale what is negative."""
        xp = self.xp
        shape = _three(bottom[0].shape)
        x, y = bottom[0].data.reshape(shape), top[0].data.reshape(shape)
        if is_in_place(bottom, top):
            self._input = kept(self, self._input, x)
            self._input[...] = x
        low = scratch(self, "low", x)
        xp.minimum(x, 0, out=low)
        low *= self._slopes(shape)
        xp.maximum(x, 0, out=y)
        y += low

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the gradients of slopes and bottom."""
        xp = self.xp
        shape = _three(bottom[0].shape)
        x: Array = self._input if is_in_place(bottom, top) else bottom[0].data.reshape(shape)
        dy = top[0].diff.reshape(shape)
        if self.param_propagate_down[0]:
            low = scratch(self, "low", x)
            xp.minimum(x, 0, out=low)
            low *= dy
            sums = low.sum(axis=2).sum(axis=0)
            grad = self.blobs[0].diff
            grad += sums.sum() if self._shared else sums
        if propagate_down[0]:
            slope = scratch(self, "low", x)
            slope[...] = self._slopes(shape)
            xp.copyto(slope, 1, where=x > 0)
            xp.multiply(dy, slope, out=bottom[0].diff.reshape(shape))


def _three(shape: tuple[int, ...]) -> tuple[int, int, int]:
    return shape[0], shape[1], product(shape[2:])
