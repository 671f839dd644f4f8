"""The absolute value."""

from __future__ import annotations

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer

__all__ = ["AbsValLayer"]


class AbsValLayer(ElementwiseLayer):
    """``|x|`` (Caffe's ``AbsValLayer``); the gradient at 0 is 0. As in Caffe it does not work in place."""

    type = "AbsVal"

    def apply(self, x: Array, y: Array) -> None:
        """Drop the sign."""
        self.xp.absolute(x, out=y)

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Give the gradient the sign of the input."""
        self.xp.sign(x, out=dx)
        dx *= dy
