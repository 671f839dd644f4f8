"""Trailing axes summed up."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer
from engine.ops import product

__all__ = ["ReductionLayer"]

SUM, ASUM, SUMSQ, MEAN = 1, 2, 3, 4  # ReductionParameter.ReductionOp


class ReductionLayer(Layer):
    """Sum, sum of magnitudes, sum of squares or mean over all axes from ``axis`` on, times ``coeff``.

    As Caffe's ``ReductionLayer``. Top: the axes before ``axis``; a scalar for axis 0.
    """

    type = "Reduction"

    _operation: int
    _rows: tuple[int, int]
    _coeff: float

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``reduction_param``."""
        self._operation = int(self.layer_param.reduction_param.operation)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Drop the trailing axes."""
        param = self.layer_param.reduction_param
        shape = bottom[0].shape
        axis = self.axis(param.axis, bottom[0])
        self._rows = (product(shape[:axis]), product(shape[axis:]))
        self._coeff = float(param.coeff)
        if self._operation == MEAN:
            self._coeff /= max(self._rows[1], 1)
        top[0].reshape(shape[:axis])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Sum up."""
        xp = self.xp
        rows = bottom[0].data.reshape(self._rows)
        result = top[0].data.reshape(self._rows[:1])
        if self._operation == ASUM:
            xp.sum(xp.abs(rows), axis=1, out=result)
        elif self._operation == SUMSQ:
            xp.sum(xp.square(rows), axis=1, out=result)
        else:
            xp.sum(rows, axis=1, out=result)
        result *= self._coeff

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Spread the gradient over the elements of each sum."""
        if not propagate_down[0]:
            return
        xp = self.xp
        rows = bottom[0].data.reshape(self._rows)
        grad = bottom[0].diff.reshape(self._rows)
        spread = (top[0].diff.reshape(self._rows[:1]) * self._coeff)[:, None]
        if self._operation == ASUM:
            xp.multiply(xp.sign(rows), spread, out=grad)
        elif self._operation == SUMSQ:
            xp.multiply(rows, spread * 2, out=grad)
        else:
            grad[...] = spread
