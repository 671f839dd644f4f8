"""The exponential linear unit."""

from __future__ import annotations

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer
from nodes.memory import scratch

__all__ = ["ELULayer"]


class ELULayer(ElementwiseLayer):
    """``x`` above 0, ``alpha (exp(x) - 1)`` below (Caffe's ``ELULayer``).

    The gradient at 0 is ``alpha``. Source: Clevert et al. 2015, eq. 15 and 16.
    """

    type = "ELU"
    backward_reads = "values"
    in_place_leaves = "signs"

    _alpha: float

    def read_param(self) -> None:
        """Read ``elu_param``; a negative alpha hides the sign of the input in place."""
        self._alpha = float(self.layer_param.elu_param.alpha)
        if self._alpha < 0:
            self.needs_input = True
            self.in_place_leaves = ""

    def apply(self, x: Array, y: Array) -> None:
        """Bend what is negative."""
        xp = self.xp
        low = scratch(self, "low", x)
        xp.minimum(x, 0, out=low)
        xp.exp(low, out=low)
        low -= 1
        low *= self._alpha
        xp.maximum(x, 0, out=y)
        y += low

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Multiply with 1 above 0 and with ``y + alpha`` below; in place the output has the input's sign."""
        xp = self.xp
        slope = scratch(self, "low", x)
        xp.add(y, self._alpha, out=slope)
        xp.copyto(slope, 1, where=x > 0)
        xp.multiply(dy, slope, out=dx)
