"""Activations of MobileNet: ReLU6 and HardSwish."""

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["HardSwishLayer", "ReLU6Layer"]


class _ActivationLayer(Layer):
    """One bottom, one top of the same shape; subclasses say how elements are computed.

    Works in place: the backward pass then has a copy of the input, as the output has taken its place.
    """

    _input: Array | None = None

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the elements."""
        x = bottom[0].data
        if bottom[0].on_host is top[0].on_host:
            x = self._input = x.copy()
        else:
            self._input = None
        self.apply(x, top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Multiply the gradient by the slope."""
        if propagate_down[0]:
            x = bottom[0].data if self._input is None else self._input
            self.xp.multiply(top[0].diff, self.slope(x), out=bottom[0].diff)

    def apply(self, x: Array, y: Array) -> None:
        """Compute ``y``, which is other memory than ``x``."""
        raise NotImplementedError

    def slope(self, x: Array) -> Array:
        """Return the derivative at ``x``."""
        raise NotImplementedError


class ReLU6Layer(_ActivationLayer):
    """``min(max(x, 0) + negative_slope * min(x, 0), 6)``; the gradient at 0 is ``negative_slope``, at 6 it is 0."""

    _negative_slope: float

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``relu6_param``."""
        self._negative_slope = float(self.layer_param.relu6_param.negative_slope)

    def apply(self, x: Array, y: Array) -> None:
        """Cut off."""
        xp = self.xp
        xp.maximum(x, 0, out=y)
        if self._negative_slope:
            y += self._negative_slope * xp.minimum(x, 0)
        xp.minimum(y, 6, out=y)

    def slope(self, x: Array) -> Array:
        """Return 1 between 0 and 6, ``negative_slope`` up to 0, and 0 from 6 on."""
        slope = (x > 0).astype(x.dtype)
        if self._negative_slope:
            slope += self._negative_slope * (x <= 0)
        slope *= x < 6
        return slope


class HardSwishLayer(_ActivationLayer):
    """``x * min(max(x + 3, 0), 6) / 6``; the gradient is 0 up to -3, 1 from 3 on, and ``(2 x + 3) / 6`` between."""

    def apply(self, x: Array, y: Array) -> None:
        """Compute the elements."""
        xp = self.xp
        xp.add(x, 3, out=y)
        xp.clip(y, 0, 6, out=y)
        y *= x
        y /= 6

    def slope(self, x: Array) -> Array:
        """Return the derivative; at the kinks that of the outer side."""
        slope = x / 3 + 0.5
        slope *= x > -3
        self.xp.copyto(slope, 1, where=x >= 3)
        return slope
