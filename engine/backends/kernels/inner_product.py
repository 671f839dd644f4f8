"""Inner product: one matrix product a pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.backends.base import Array, Primitive, Workspace
from engine.ops import InnerProduct, product

__all__ = ["InnerProductKernel"]


class InnerProductKernel(Primitive):
    """Runs :class:`engine.ops.InnerProduct`.

    Parameters
    ----------
    spec : InnerProduct
        What to compute.
    xp : module
        Array module.
    workspace : Workspace
        Scratch memory.
    """

    def __init__(self, spec: InnerProduct, xp: Any, workspace: Workspace) -> None:
        self._spec = spec
        self._xp = xp
        self._workspace = workspace

    def _flat(self, x: Array, y: Array) -> tuple[Array, Array]:
        rows = product(x.shape[: self._spec.axis])
        return x.reshape((rows, product(x.shape[self._spec.axis :]))), y.reshape(
            (rows, product(y.shape[self._spec.axis :]))
        )

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute ``x @ weight.T + bias``."""
        x, y = self._flat(inputs[0], outputs[0])
        weight = params[0] if self._spec.transpose else params[0].T
        self._xp.matmul(x, weight, out=y)
        if len(params) > 1:
            y += params[1].reshape(-1)

    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Compute the gradients that are wanted."""
        x, dy = self._flat(inputs[0], output_grads[0])
        dweight = param_grads[0]
        if dweight is not None:
            piece = self._workspace.take("inner_product.weight", dweight.shape, dweight.dtype)
            if self._spec.transpose:
                self._xp.matmul(x.T, dy, out=piece)
            else:
                self._xp.matmul(dy.T, x, out=piece)
            dweight += piece
        if len(param_grads) > 1 and param_grads[1] is not None:
            dbias = param_grads[1]
            dbias += dy.sum(axis=0).reshape(dbias.shape)
        if input_grads[0] is not None:
            weight = params[0].T if self._spec.transpose else params[0]
            self._xp.matmul(dy, weight, out=input_grads[0].reshape(x.shape))
