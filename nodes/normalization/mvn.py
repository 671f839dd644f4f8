"""Normalisation of each image by its own mean and deviation."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from nodes.memory import scratch

__all__ = ["MVNLayer"]


class MVNLayer(Layer):
    """Subtracts the mean and divides by the standard deviation, for each image and channel (Caffe's ``MVNLayer``).

    ``y = (x - mean) / (sqrt(variance) + eps)``; one mean and variance for all channels of an image with
    ``across_channels``, no division without ``normalize_variance``. The gradient leaves ``eps`` out of account, as in
    Caffe. Bottom of at most 4 axes, the first two images and channels.
    """

    type = "MVN"

    _divides: bool
    _across: bool
    _eps: float
    _rows: tuple[int, int]
    _deviation: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``mvn_param``."""
        param = self.layer_param.mvn_param
        self._divides, self._across, self._eps = bool(param.normalize_variance), bool(param.across_channels), param.eps
        self.backward_reads = "values" if self._divides else ""

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Count what is normalised together."""
        blob = bottom[0]
        if blob.axes > 4:
            self.fail_shape(f"expected at most 4 axes (N, C, H, W), got shape {blob.shape}.", bottom=0)
        rows = blob.num if self._across else blob.num * blob.channels
        self._rows = (rows, blob.count // rows if rows else 0)
        top[0].reshape_like(blob)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Normalise."""
        if not bottom[0].count:
            return
        xp = self.xp
        x, y = bottom[0].data.reshape(self._rows), top[0].data.reshape(self._rows)
        xp.subtract(x, x.mean(axis=1, keepdims=True), out=y)
        if self._divides:
            squares = scratch(self, "part", y)
            xp.multiply(y, y, out=squares)
            self._deviation = xp.sqrt(squares.mean(axis=1, keepdims=True)) + self._eps
            y /= self._deviation

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute ``dx = (dy - mean(dy) - mean(dy y) y) / (sqrt(variance) + eps)``."""
        if not propagate_down[0] or not bottom[0].count:
            return
        xp = self.xp
        dy, dx = top[0].diff.reshape(self._rows), bottom[0].diff.reshape(self._rows)
        mean = dy.mean(axis=1, keepdims=True)
        if not self._divides:
            xp.subtract(dy, mean, out=dx)
            return
        y = top[0].data.reshape(self._rows)
        part = scratch(self, "part", y)
        xp.multiply(dy, y, out=part)
        along = part.mean(axis=1, keepdims=True)
        xp.multiply(y, along, out=part)
        part += mean
        xp.subtract(dy, part, out=dx)
        dx /= self._deviation
