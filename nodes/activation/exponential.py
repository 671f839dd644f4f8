"""Powers of a base, and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer
from nodes.memory import scratch

__all__ = ["ExpLayer", "LogLayer"]

NATURAL = -1.0  # the base that stands for e


class _BaseLayer(ElementwiseLayer):
    """What both have in common: ``base``, ``scale`` and ``shift``, which acts on the scaled input."""

    _scale: float
    _shift: float
    _log_base: float

    def read_base(self, param: Any, field: str) -> None:
        """Read the three settings from the layer's message, whose name is given for the error."""
        base = float(param.base)
        if base != NATURAL and base <= 0:
            self.fail(f"expected a base above 0, or -1 for e, got {base}.", next_step=f"Set {field} base.")
        self._log_base = 1.0 if base == NATURAL else math.log(base)
        self._scale = float(param.scale)
        self._shift = float(param.shift)


class ExpLayer(_BaseLayer):
    """``base ^ (scale x + shift)`` (Caffe's ``ExpLayer``); base -1 stands for e."""

    type = "Exp"
    backward_reads = "values"

    def read_param(self) -> None:
        """Read ``exp_param``."""
        self.read_base(self.layer_param.exp_param, "exp_param")

    def apply(self, x: Array, y: Array) -> None:
        """Compute ``exp(log(base) scale x) * base ^ shift``, as Caffe does."""
        factor = self._log_base * self._scale
        self.xp.multiply(x, factor, out=y)
        self.xp.exp(y, out=y)
        if self._shift:
            y *= math.exp(self._log_base * self._shift)

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Multiply with ``y scale log(base)``."""
        self.xp.multiply(dy, y, out=dx)
        dx *= self._log_base * self._scale


class LogLayer(_BaseLayer):
    """``log_base(scale x + shift)`` (Caffe's ``LogLayer``); base -1 stands for e. Not finite from 0 down."""

    type = "Log"
    needs_input = True

    def read_param(self) -> None:
        """Read ``log_param``; to base 1 there are no logarithms."""
        self.read_base(self.layer_param.log_param, "log_param")
        if self._log_base == 0:
            self.fail("expected a base other than 1, got 1.", next_step="Set log_param base.")

    def _inner(self, x: Array, out: Array) -> None:
        self.xp.multiply(x, self._scale, out=out)
        if self._shift:
            out += self._shift

    def apply(self, x: Array, y: Array) -> None:
        """Compute the logarithm."""
        with np.errstate(divide="ignore", invalid="ignore"):
            self._inner(x, y)
            self.xp.log(y, out=y)
        if self._log_base != 1:
            y /= self._log_base

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Multiply with ``scale / (log(base) (scale x + shift))``."""
        inner = scratch(self, "inner", x)
        self._inner(x, inner)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.xp.divide(self._scale / self._log_base, inner, out=inner)
            self.xp.multiply(dy, inner, out=dx)
