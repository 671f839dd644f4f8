"""The primitive operations that layers are made of, and the arithmetic of their shapes.

A layer describes its work by :class:`Op` values (see :meth:`engine.layer.Layer.lower`); a backend turns each spec into
running code. Specs are values: equal specs mean equal work.
"""

from engine.ops.geometry import canonical_axis, convolved_size, deconvolved_size, product, spatial_values
from engine.ops.specs import (
    Convolution,
    Deconvolution,
    InnerProduct,
    Op,
    OpSpec,
    PoolingAverage,
    PoolingMax,
    PoolingWindow,
    ReLU,
    Sigmoid,
    Softmax,
    TanH,
)

__all__ = [
    "Convolution",
    "Deconvolution",
    "InnerProduct",
    "Op",
    "OpSpec",
    "PoolingAverage",
    "PoolingMax",
    "PoolingWindow",
    "ReLU",
    "Sigmoid",
    "Softmax",
    "TanH",
    "canonical_axis",
    "convolved_size",
    "deconvolved_size",
    "product",
    "spatial_values",
]
