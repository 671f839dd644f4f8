"""The self-gated unit."""

from __future__ import annotations

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer
from nodes.memory import kept, scratch

__all__ = ["SwishLayer"]


class SwishLayer(ElementwiseLayer):
    """``x / (1 + exp(-beta x))`` (Caffe's ``SwishLayer``). Source: Ramachandran et al. 2017."""

    type = "Swish"
    backward_reads = "values"

    _beta: float
    _gate: Array | None = None

    def read_param(self) -> None:
        """Read ``swish_param``."""
        self._beta = float(self.layer_param.swish_param.beta)

    def apply(self, x: Array, y: Array) -> None:
        """Multiply with the gate, which is kept: in place the input is gone."""
        xp = self.xp
        gate = self._gate = kept(self, self._gate, x)
        xp.multiply(x, 0.5 * self._beta, out=gate)
        xp.tanh(gate, out=gate)
        gate *= 0.5
        gate += 0.5
        xp.multiply(x, gate, out=y)

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Multiply with ``beta y + gate (1 - beta y)``."""
        xp = self.xp
        bent, slope = scratch(self, "bent", y), scratch(self, "slope", y)
        xp.multiply(y, self._beta, out=bent)
        xp.subtract(1, bent, out=slope)
        slope *= self._gate
        slope += bent
        xp.multiply(dy, slope, out=dx)
