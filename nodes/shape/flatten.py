"""Axes joined into one."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer
from engine.ops import product

__all__ = ["FlattenLayer"]


class FlattenLayer(Layer):
    """Joins the axes from ``axis`` to ``end_axis`` (Caffe's ``FlattenLayer``); memory is shared, not copied."""

    type = "Flatten"

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the shape and share the memory."""
        param = self.layer_param.flatten_param
        start, end = self.axis(param.axis, bottom[0]), self.axis(param.end_axis, bottom[0])
        if end < start:
            self.fail(f"expected end_axis at or after axis {start}, got {end}.")
        shape = bottom[0].shape
        top[0].reshape(*shape[:start], product(shape[start : end + 1]), *shape[end + 1 :])
        top[0].share_data(bottom[0])
        top[0].share_diff(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The values are shared already."""

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """The gradient is shared already."""
