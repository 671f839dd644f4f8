"""Inputs of one shape combined element by element."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["EltwiseLayer"]

PROD, SUM, MAX = 0, 1, 2  # EltwiseParameter.EltwiseOp


class EltwiseLayer(Layer):
    """Weighted sum, product or maximum (Caffe's ``EltwiseLayer``).

    Where the first two inputs are equal the gradient goes to the second, as in Caffe; a later input takes it only where
    it is larger. The gradient of a product is computed from the other factors, so zeros are safe.
    """

    type = "Eltwise"

    _operation: int
    _coeffs: list[float]
    _winner: Array | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``eltwise_param``."""
        param = self.layer_param.eltwise_param
        self._operation = int(param.operation)
        if len(param.coeff) not in (0, len(bottom)):
            self.fail(f"expected no coeff, or one for each of its {len(bottom)} bottoms, got {len(param.coeff)}.")
        if len(param.coeff) and self._operation != SUM:
            self.fail("expected coeff only with operation: SUM.", next_step="Remove coeff, or set operation: SUM.")
        self._coeffs = [float(coeff) for coeff in param.coeff] or [1.0] * len(bottom)
        if top[0].on_host in [blob.on_host for blob in bottom] and self._operation != SUM:
            self.fail("expected a top with a name of its own; only a sum works in place.", next_step="Rename the top.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that all shapes are equal."""
        for index, blob in enumerate(bottom[1:], 1):
            if blob.shape != bottom[0].shape:
                self.fail_shape(f"expected shape {bottom[0].shape}, as bottom 0, got {blob.shape}.", bottom=index)
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Combine."""
        result = top[0].data
        if self._operation == SUM:
            self._sum(bottom, result)
        elif self._operation == PROD:
            self.xp.multiply(bottom[0].data, bottom[1].data, out=result)
            for blob in bottom[2:]:
                result *= blob.data
        else:
            self._max(bottom, result)

    def _sum(self, bottom: Sequence[Blob], result: Array) -> None:
        xp = self.xp
        if all(coeff == 1 for coeff in self._coeffs):
            xp.add(bottom[0].data, bottom[1].data, out=result)
            rest = bottom[2:]
        else:
            xp.multiply(bottom[0].data, self._coeffs[0], out=result)
            rest = bottom[1:]
        for blob, coeff in zip(rest, self._coeffs[len(bottom) - len(rest) :], strict=True):
            result += blob.data if coeff == 1 else blob.data * coeff

    def _max(self, bottom: Sequence[Blob], result: Array) -> None:
        xp = self.xp
        winner = self._winner = (bottom[1].data >= bottom[0].data).astype("int32")
        xp.maximum(bottom[0].data, bottom[1].data, out=result)
        for index, blob in enumerate(bottom[2:], 2):
            xp.copyto(winner, index, where=blob.data > result)
            xp.maximum(result, blob.data, out=result)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Send the gradient to each bottom that wants it."""
        xp = self.xp
        grad = top[0].diff
        for index in reversed(range(len(bottom))):  # a bottom that is the top's memory is the first: it comes last
            if not propagate_down[index]:
                continue
            target = bottom[index].diff
            if self._operation == SUM:
                xp.multiply(grad, self._coeffs[index], out=target)
            elif self._operation == MAX:
                xp.multiply(grad, self._winner == index, out=target)
            else:
                target[...] = grad
                for other, blob in enumerate(bottom):
                    if other != index:
                        target *= blob.data
