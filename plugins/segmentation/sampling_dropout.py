"""Dropout that does not stop at the end of training."""

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob, Layer

__all__ = ["SamplingDropoutLayer"]


class SamplingDropoutLayer(Layer):
    """Zeroes elements with probability ``dropout_ratio`` and scales the others by ``1 / (1 - ratio)``, in both phases.

    Stands in for ``Dropout`` where ``sample_weights_test`` is set. Source: Kendall et al. 2015, Bayesian SegNet.
    """

    in_place_leaves = "signs"

    _ratio: float
    _mask: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``dropout_param``."""
        self._ratio = float(self.layer_param.dropout_param.dropout_ratio)
        if not 0 < self._ratio < 1:
            self.fail(f"expected dropout_ratio between 0 and 1, got {self._ratio}.", next_step="Set dropout_ratio.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Draw a mask and apply it."""
        drawn = self.rng.random(bottom[0].shape, dtype=bottom[0].dtype)
        mask = np.multiply(drawn >= self._ratio, 1.0 / (1.0 - self._ratio), dtype=bottom[0].dtype)
        self._mask = self.to_backend(mask)
        self.xp.multiply(bottom[0].data, self._mask, out=top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Apply the mask of the forward pass to the gradient."""
        if propagate_down[0]:
            self.xp.multiply(top[0].diff, self._mask, out=bottom[0].diff)
