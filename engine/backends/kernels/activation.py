"""Elementwise activations and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.backends.base import Array, Primitive, Workspace
from engine.ops import OpSpec, ReLU, Softmax

__all__ = ["ReLUKernel", "SigmoidKernel", "SoftmaxKernel", "TanHKernel"]


class _UnaryKernel(Primitive):
    """One input, one output of the same shape, no parameters; the output may be the input's memory."""

    def __init__(self, spec: OpSpec, xp: Any, workspace: Workspace) -> None:
        self._xp = xp
        self._workspace = workspace

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute the output."""
        self._apply(inputs[0], outputs[0])

    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Compute the input's gradient."""
        if input_grads[0] is not None:
            self._apply_backward(inputs[0], outputs[0], output_grads[0], input_grads[0])

    def _apply(self, x: Array, y: Array) -> None:
        raise NotImplementedError

    def _apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        raise NotImplementedError


class ReLUKernel(_UnaryKernel):
    """Runs :class:`engine.ops.ReLU`; at 0 the slope is the negative one, as in Caffe."""

    def __init__(self, spec: ReLU, xp: Any, workspace: Workspace) -> None:
        super().__init__(spec, xp, workspace)
        self._slope = spec.negative_slope

    def _apply(self, x: Array, y: Array) -> None:
        xp = self._xp
        if self._slope == 0:
            xp.maximum(x, 0, out=y)
            return
        negative = self._workspace.take("relu", x.shape, x.dtype)
        xp.minimum(x, 0, out=negative)
        negative *= self._slope
        xp.maximum(x, 0, out=y)
        y += negative

    def _apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        # In place the input is gone, but with a slope of 0 or more the output has its sign.
        positive = self._workspace.take("relu.positive", x.shape, bool)
        self._xp.greater(x, 0, out=positive)
        if self._slope == 0:
            self._xp.multiply(dy, positive, out=dx)
            return
        factor = self._workspace.take("relu", x.shape, x.dtype)
        factor[...] = positive
        factor *= 1 - self._slope
        factor += self._slope
        self._xp.multiply(dy, factor, out=dx)


class SigmoidKernel(_UnaryKernel):
    """Runs :class:`engine.ops.Sigmoid` as ``tanh(x / 2) / 2 + 1 / 2``, which does not overflow."""

    def _apply(self, x: Array, y: Array) -> None:
        self._xp.multiply(x, 0.5, out=y)
        self._xp.tanh(y, out=y)
        y *= 0.5
        y += 0.5

    def _apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        slope = self._workspace.take("sigmoid", y.shape, y.dtype)
        self._xp.subtract(1, y, out=slope)
        slope *= y
        self._xp.multiply(dy, slope, out=dx)


class TanHKernel(_UnaryKernel):
    """Runs :class:`engine.ops.TanH`."""

    def _apply(self, x: Array, y: Array) -> None:
        self._xp.tanh(x, out=y)

    def _apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        slope = self._workspace.take("tanh", y.shape, y.dtype)
        self._xp.multiply(y, y, out=slope)
        self._xp.subtract(1, slope, out=slope)
        self._xp.multiply(dy, slope, out=dx)


class SoftmaxKernel(_UnaryKernel):
    """Runs :class:`engine.ops.Softmax`; the largest element is subtracted first."""

    def __init__(self, spec: Softmax, xp: Any, workspace: Workspace) -> None:
        super().__init__(spec, xp, workspace)
        self._axis = spec.axis

    def _apply(self, x: Array, y: Array) -> None:
        xp = self._xp
        if x.size == 0:
            return
        xp.subtract(x, x.max(axis=self._axis, keepdims=True), out=y)
        xp.exp(y, out=y)
        y /= y.sum(axis=self._axis, keepdims=True)

    def _apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        weighted = self._workspace.take("softmax", y.shape, y.dtype)
        self._xp.multiply(y, dy, out=weighted)
        inner = weighted.sum(axis=self._axis, keepdims=True)
        self._xp.subtract(dy, inner, out=dx)
        dx *= y
