"""Axes in another order."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer

__all__ = ["PermuteLayer"]


class PermuteLayer(Layer):
    """Transposes (SSD's ``PermuteLayer``): axis ``i`` of the top is axis ``order[i]`` of the bottom.

    Axes that ``order`` leaves out follow in their own order.
    """

    type = "Permute"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``permute_param``."""
        given = [int(axis) for axis in self.layer_param.permute_param.order]
        axes = bottom[0].axes
        if len(set(given)) != len(given) or any(axis >= axes for axis in given):
            self.fail(
                f"expected different axes below {axes} as order, got {given}.",
                next_step=f"Blob '{bottom[0].name}' has shape {bottom[0].shape}; name each of its axes once at most.",
            )
        self.order = (*given, *(axis for axis in range(axes) if axis not in given))
        self.inverse = tuple(self.order.index(axis) for axis in range(axes))

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The bottom's dimensions in the new order."""
        if bottom[0].axes != len(self.order):
            self.fail_shape(f"expected {len(self.order)} axes, got shape {bottom[0].shape}.", bottom=0)
        top[0].reshape(tuple(bottom[0].shape[axis] for axis in self.order))

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Transpose."""
        top[0].data[...] = bottom[0].data.transpose(self.order)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Transpose back."""
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff.transpose(self.inverse)
