"""Primitives written against an array module, for every backend whose arrays follow numpy's interface."""

from __future__ import annotations

from typing import Any

from engine.backends.base import Primitive, Workspace
from engine.backends.kernels.activation import ReLUKernel, SigmoidKernel, SoftmaxKernel, TanHKernel
from engine.backends.kernels.convolution import ConvolutionKernel
from engine.backends.kernels.deconvolution import DeconvolutionKernel
from engine.backends.kernels.inner_product import InnerProductKernel
from engine.backends.kernels.pooling import PoolingAverageKernel, PoolingMaxKernel
from engine.errors import NetError
from engine.ops import (
    Convolution,
    Deconvolution,
    InnerProduct,
    OpSpec,
    PoolingAverage,
    PoolingMax,
    ReLU,
    Sigmoid,
    Softmax,
    TanH,
)

__all__ = ["array_primitive"]


def array_primitive(spec: OpSpec, xp: Any, workspace: Workspace) -> Primitive:
    """Return the primitive for a spec, computing with ``xp``.

    Raises
    ------
    engine.errors.NetError
        If no kernel is written for the spec.
    """
    match spec:
        case Convolution():
            return ConvolutionKernel(spec, xp, workspace)
        case Deconvolution():
            return DeconvolutionKernel(spec, xp, workspace)
        case PoolingMax():
            return PoolingMaxKernel(spec, xp, workspace)
        case PoolingAverage():
            return PoolingAverageKernel(spec, xp, workspace)
        case InnerProduct():
            return InnerProductKernel(spec, xp, workspace)
        case ReLU():
            return ReLUKernel(spec, xp, workspace)
        case Sigmoid():
            return SigmoidKernel(spec, xp, workspace)
        case TanH():
            return TanHKernel(spec, xp, workspace)
        case Softmax():
            return SoftmaxKernel(spec, xp, workspace)
    raise NetError(
        f"No kernel computes the operation '{spec.kind}' ({type(spec).__name__}).",
        next_step="Let the layer's lower return None.",
    )
