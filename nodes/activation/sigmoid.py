"""The logistic function."""

from __future__ import annotations

from engine.api import Blob
from engine.ops import OpSpec, Sigmoid
from nodes.activation.unary import UnaryLayer

__all__ = ["SigmoidLayer"]


class SigmoidLayer(UnaryLayer):
    """``1 / (1 + exp(-x))``, computed as ``tanh(x / 2) / 2 + 1 / 2`` (Caffe's ``SigmoidLayer``)."""

    type = "Sigmoid"
    backward_reads = "values"

    def spec(self, bottom: Blob) -> OpSpec:
        """Return the operation."""
        return Sigmoid()
