"""Dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.api import Array, Blob, Layer, Phase

__all__ = ["DropoutLayer"]


class DropoutLayer(Layer):
    """Zeroes elements with probability ``dropout_ratio`` and scales the others by ``1 / (1 - ratio)``.

    When testing it passes its input on (Caffe's ``DropoutLayer``). Source: Srivastava et al. 2014, the scaling moved to
    training.
    """

    type = "Dropout"
    in_place_leaves = "signs"

    _ratio: float
    _mask: Array | None = None
    _drawn: npt.NDArray[Any] | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``dropout_param``."""
        self._ratio = float(self.layer_param.dropout_param.dropout_ratio)
        if not 0 < self._ratio < 1:
            self.fail(
                f"expected dropout_ratio between 0 and 1, got {self._ratio}.",
                next_step="Set dropout_param dropout_ratio.",
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Draw a mask and apply it."""
        if self.phase is Phase.TRAIN:
            self._mask = self.to_backend(self._draw(bottom[0]))
            self.xp.multiply(bottom[0].data, self._mask, out=top[0].data)
        elif top[0].on_host is not bottom[0].on_host:
            top[0].data[...] = bottom[0].data

    def _draw(self, blob: Blob) -> npt.NDArray[Any]:
        """Return 0 with the layer's probability, else the scale, for each element; the memory is kept."""
        drawn = self._drawn
        if drawn is None or drawn.shape != blob.shape:
            drawn = self._drawn = np.empty(blob.shape, blob.dtype)
        self.rng.random(out=drawn, dtype=blob.dtype)
        np.multiply(drawn >= self._ratio, 1.0 / (1.0 - self._ratio), out=drawn)
        return drawn

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Apply the mask of the forward pass to the gradient."""
        if not propagate_down[0]:
            return
        if self.phase is Phase.TRAIN:
            self.xp.multiply(top[0].diff, self._mask, out=bottom[0].diff)
        elif top[0].on_host is not bottom[0].on_host:
            bottom[0].diff[...] = top[0].diff
