"""The rectifier."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob
from engine.ops import OpSpec, ReLU
from nodes.activation.unary import UnaryLayer

__all__ = ["ReLULayer"]


class ReLULayer(UnaryLayer):
    """``max(x, 0) + negative_slope * min(x, 0)`` (Caffe's ``ReLULayer``); the gradient at 0 is ``negative_slope``."""

    type = "ReLU"

    def spec(self, bottom: Blob) -> OpSpec:
        """Return the operation with the layer's slope."""
        return ReLU(float(self.layer_param.relu_param.negative_slope))

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Refuse what has no gradient: in place, a negative slope hides the sign of the input."""
        slope = self.layer_param.relu_param.negative_slope
        if slope < 0 and list(self.layer_param.bottom) == list(self.layer_param.top):
            self.fail(
                f"expected negative_slope of 0 or more in place, got {slope}.",
                next_step="Give the top a name of its own.",
            )
        super().setup(bottom, top)
        in_place = bottom[0].on_host is top[0].on_host
        self.backward_reads = "signs" if in_place else ""  # of its bottom, which its top then is
        self.in_place_leaves = "signs" if slope else "values"
