"""The rectifier."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engine.api import Blob
from engine.ops import OpSpec, ReLU
from nodes.activation.unary import UnaryLayer

__all__ = ["ReLULayer"]

_log = logging.getLogger(__name__)


class ReLULayer(UnaryLayer):
    """``max(x, 0) + negative_slope * min(x, 0)`` (Caffe's ``ReLULayer``); the gradient at 0 is ``negative_slope``."""

    type = "ReLU"

    def spec(self, bottom: Blob) -> OpSpec:
        """Return the operation with the layer's slope."""
        return ReLU(float(self.layer_param.relu_param.negative_slope))

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Tell of a negative slope in place, which hides the sign of the input from the backward pass, as in Caffe."""
        slope = self.layer_param.relu_param.negative_slope
        super().setup(bottom, top)
        in_place = bottom[0].on_host is top[0].on_host
        self.spoils_itself = in_place and slope < 0
        if self.spoils_itself:
            _log.warning(
                "Layer '%s' (ReLU): with a negative_slope of %g in place the gradient is wrong, as in Caffe. "
                "Give the top a name of its own.",
                self.name,
                slope,
            )
        self.backward_reads = "signs" if in_place else ""  # of its bottom, which its top then is
        self.in_place_leaves = "signs" if slope else "values"
