"""Powers of the input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob
from nodes.activation.elementwise import ElementwiseLayer
from nodes.memory import is_in_place, kept, scratch

__all__ = ["PowerLayer"]


class PowerLayer(ElementwiseLayer):
    """``(shift + scale x) ^ power`` (Caffe's ``PowerLayer``); a constant where scale or power is 0.

    The gradient is ``scale power (shift + scale x) ^ (power - 1)``. Caffe divides ``y`` by the base instead, which is
    NaN where the base is 0, and overwrites the gradient before it is read where it works in place; here both come out
    right: the input is kept.
    """

    type = "Power"

    _power: float
    _scale: float
    _shift: float
    _input: Array | None = None

    def read_param(self) -> None:
        """Read ``power_param``."""
        param = self.layer_param.power_param
        self._power, self._scale, self._shift = float(param.power), float(param.scale), float(param.shift)

    def _is_straight(self) -> bool:
        return self._scale * self._power == 0 or self._power == 1

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the power; in place, a copy of the input is kept where the gradient depends on it."""
        x = bottom[0].data
        if is_in_place(bottom, top) and not self._is_straight():
            self._input = kept(self, self._input, x)
            self._input[...] = x
        self.apply(x, top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the gradient."""
        if propagate_down[0]:
            copied = is_in_place(bottom, top) and not self._is_straight()
            x = self._input if copied else bottom[0].data
            self.apply_backward(x, top[0].data, top[0].diff, bottom[0].diff)

    def apply(self, x: Array, y: Array) -> None:
        """Compute the power."""
        if self._scale * self._power == 0:
            y[...] = 1 if self._power == 0 else self._constant()
            return
        self._base(x, y)
        self._raise(y, self._power)

    def _constant(self) -> float:
        """Return ``shift ^ power`` as C's ``pow`` has it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.power(self._shift, self._power))

    def _base(self, x: Array, out: Array) -> None:
        self.xp.multiply(x, self._scale, out=out)
        if self._shift:
            out += self._shift

    def _raise(self, values: Array, power: float) -> None:
        if power == 1:
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            if power == 2:
                values *= values
            else:
                self.xp.power(values, power, out=values)

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Multiply with ``scale power (shift + scale x) ^ (power - 1)``."""
        if self._is_straight():
            self.xp.multiply(dy, self._scale * self._power, out=dx)
            return
        slope = scratch(self, "slope", x)
        self._base(x, slope)
        self._raise(slope, self._power - 1)
        slope *= self._scale * self._power
        self.xp.multiply(dy, slope, out=dx)
