"""Vectors of features at a learned length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer

__all__ = ["NormalizeLayer"]


class NormalizeLayer(Layer):
    """``scale * x / sqrt(sum(x**2) + eps)`` (SSD's ``NormalizeLayer``; Liu et al. 2015, "ParseNet", equation 1).

    The sum is over all channels and positions of an item (``across_spatial``), or over the channels at each position.
    One parameter: the scale, a scalar (``channel_shared``) or one for each channel; it starts at 1 without a filler.
    """

    type = "Normalize"

    _norm: Any

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``norm_param`` and add the scale."""
        param = self.layer_param.norm_param
        self.across, self.shared, self.eps = bool(param.across_spatial), bool(param.channel_shared), float(param.eps)
        self._check(bottom)
        scale = self.blobs.add_blob(() if self.shared else (bottom[0].shape[1],))
        if param.HasField("scale_filler"):
            self.fill(scale, param.scale_filler)
        else:
            scale.data[...] = 1

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The top is like the bottom."""
        self._check(bottom)
        if not self.shared and self.blobs[0].count != bottom[0].shape[1]:
            self.fail_shape(f"expected {self.blobs[0].count} channels, got {bottom[0].shape[1]}.", bottom=0)
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Divide by the length; it is kept for the backward pass."""
        x = _flat(bottom[0].data)
        self._norm = self.xp.sqrt((x * x).sum(axis=self._axes, keepdims=True) + x.dtype.type(self.eps))
        top[0].data[...] = (x / self._norm * self._scale()).reshape(bottom[0].shape)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Take the part along the vector out of the gradient."""
        unit = _flat(bottom[0].data) / self._norm
        given = _flat(top[0].diff)
        if self.param_propagate_down[0]:
            scale = self.blobs[0]
            scale.diff[...] += (unit * given).sum(axis=None if self.shared else (0, 2)).reshape(scale.shape)
        if propagate_down[0]:
            given = given * self._scale()
            along = (unit * given).sum(axis=self._axes, keepdims=True)
            bottom[0].diff[...] = ((given - unit * along) / self._norm).reshape(bottom[0].shape)

    @property
    def _axes(self) -> Any:
        return (1, 2) if self.across else 1

    def _scale(self) -> Any:
        return self.blobs[0].data.reshape((1, -1, 1))

    def _check(self, bottom: Sequence[Blob]) -> None:
        if bottom[0].axes < 2:
            self.fail_shape(f"expected at least 2 axes, got shape {bottom[0].shape}.", bottom=0)


def _flat(values: Any) -> Any:
    return values.reshape((*values.shape[:2], -1))
