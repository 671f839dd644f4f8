"""Deconvolution: the passes of a convolution with their roles exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.backends.base import Array, Primitive, Workspace
from engine.backends.kernels.convolution import ConvolutionKernel
from engine.ops import Convolution, Deconvolution

__all__ = ["DeconvolutionKernel"]


class DeconvolutionKernel(Primitive):
    """Runs :class:`engine.ops.Deconvolution`.

    The output is the gradient of the input of a convolution whose output gradient is the deconvolution's input.

    Parameters
    ----------
    spec : Deconvolution
        What to compute.
    xp : module
        Array module.
    workspace : Workspace
        Scratch memory.
    """

    def __init__(self, spec: Deconvolution, xp: Any, workspace: Workspace) -> None:
        twin = Convolution(spec.kernel, spec.stride, spec.pad, spec.dilation, spec.group)
        self._convolution = ConvolutionKernel(twin, xp, workspace)
        self._axes = len(spec.kernel)

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Spread every element over its window of the output."""
        (x,), (y,) = inputs, outputs
        if x.size == 0:
            y[...] = 0
        else:
            self._convolution.backward([y], [params[0]], [x], [x], [y], [None])
        if len(params) > 1:
            y += params[1].reshape((-1,) + (1,) * self._axes)

    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Compute the gradients that are wanted; that of the input is the convolution of the output's."""
        (x,), (dy,) = inputs, output_grads
        if len(param_grads) > 1 and param_grads[1] is not None:
            dbias = param_grads[1]
            channel = dy.ndim - self._axes - 1
            dbias += dy.sum(axis=tuple(axis for axis in range(dy.ndim) if axis != channel))
        if param_grads[0] is not None:
            self._convolution.backward([dy], [params[0]], [x], [x], [None], [param_grads[0]])
        if input_grads[0] is not None:
            self._convolution.forward([dy], [params[0]], [input_grads[0]])
