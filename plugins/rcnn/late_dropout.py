"""Dropout that scales when testing, not when training."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer, Phase

__all__ = ["LateDropoutLayer"]


class LateDropoutLayer(Layer):
    """Zeroes elements with probability ``dropout_ratio``; when testing it multiplies all by ``1 - dropout_ratio``.

    Stands in for ``Dropout`` where ``scale_train`` is false (Fast R-CNN's Caffe). Source: Srivastava et al. 2014,
    section 4.
    """

    in_place_leaves = "signs"

    _ratio: float
    _mask: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``dropout_param``."""
        self._ratio = float(self.layer_param.dropout_param.dropout_ratio)
        if not 0 < self._ratio < 1:
            self.fail(f"expected dropout_ratio between 0 and 1, got {self._ratio:g}.", next_step="Set dropout_ratio.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Draw a mask and apply it, or scale."""
        if self.phase is Phase.TRAIN:
            drawn = self.rng.random(bottom[0].shape, dtype=bottom[0].dtype)
            self._mask = self.to_backend((drawn >= self._ratio).astype(bottom[0].dtype))
            self.xp.multiply(bottom[0].data, self._mask, out=top[0].data)
        else:
            self.xp.multiply(bottom[0].data, 1 - self._ratio, out=top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Apply mask or scale to the gradient."""
        if propagate_down[0]:
            factor = self._mask if self.phase is Phase.TRAIN else 1 - self._ratio
            self.xp.multiply(top[0].diff, factor, out=bottom[0].diff)
