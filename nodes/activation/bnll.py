"""The soft rectifier."""

from __future__ import annotations

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer
from nodes.memory import scratch

__all__ = ["BNLLLayer"]

LIMIT = 50.0  # inputs above it have a slope of 1 to all digits; Caffe cuts there


class BNLLLayer(ElementwiseLayer):
    """``log(1 + exp(x))``, the binomial normal log likelihood (Caffe's ``BNLLLayer``).

    Computed as ``max(x, 0) + log(1 + exp(-|x|))``, which does not overflow.
    """

    type = "BNLL"
    needs_input = True

    def apply(self, x: Array, y: Array) -> None:
        """Compute the likelihood."""
        xp = self.xp
        tail = scratch(self, "tail", x)
        xp.absolute(x, out=tail)
        xp.negative(tail, out=tail)
        xp.exp(tail, out=tail)
        xp.log1p(tail, out=tail)
        xp.maximum(x, 0, out=y)
        y += tail

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Multiply with ``exp(x) / (1 + exp(x))``."""
        xp = self.xp
        grown, slope = scratch(self, "tail", x), scratch(self, "slope", x)
        xp.minimum(x, LIMIT, out=grown)
        xp.exp(grown, out=grown)
        xp.add(grown, 1, out=slope)
        xp.divide(grown, slope, out=slope)
        xp.multiply(dy, slope, out=dx)
