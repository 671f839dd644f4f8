"""The hyperbolic tangent."""

from __future__ import annotations

from engine.api import Blob
from engine.ops import OpSpec, TanH
from nodes.activation.unary import UnaryLayer

__all__ = ["TanHLayer"]


class TanHLayer(UnaryLayer):
    """``tanh(x)`` (Caffe's ``TanHLayer``)."""

    type = "TanH"
    backward_reads = "values"
    in_place_leaves = "signs"

    def spec(self, bottom: Blob) -> OpSpec:
        """Return the operation."""
        return TanH()
