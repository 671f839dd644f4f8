"""A step."""

from __future__ import annotations

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer

__all__ = ["ThresholdLayer"]


class ThresholdLayer(ElementwiseLayer):
    """1 where ``x > threshold``, else 0 (Caffe's ``ThresholdLayer``). Its gradient is refused."""

    type = "Threshold"

    _threshold: float

    def read_param(self) -> None:
        """Read ``threshold_param``."""
        self._threshold = float(self.layer_param.threshold_param.threshold)

    def apply(self, x: Array, y: Array) -> None:
        """Compare."""
        self.xp.greater(x, self._threshold, out=y)

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Refuse."""
        self.fail(
            "a step has no gradient, so nothing below it can learn through it.",
            bottom=0,
            next_step="Set propagate_down: false on it, or use Sigmoid.",
        )

    def allow_force_backward(self, bottom_index: int) -> bool:
        """A step has no gradient."""
        return False
