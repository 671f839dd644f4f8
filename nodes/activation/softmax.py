"""Scores to probabilities."""

from __future__ import annotations

from engine.api import Blob
from engine.ops import OpSpec, Softmax
from nodes.activation.unary import UnaryLayer

__all__ = ["SoftmaxLayer"]


class SoftmaxLayer(UnaryLayer):
    """``exp(x) / sum(exp(x))`` along ``softmax_param.axis`` (Caffe's ``SoftmaxLayer``)."""

    type = "Softmax"
    backward_reads = "values"

    def spec(self, bottom: Blob) -> OpSpec:
        """Return the operation for the layer's axis."""
        return Softmax(self.axis(self.layer_param.softmax_param.axis, bottom))
