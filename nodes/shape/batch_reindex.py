"""Items of a batch chosen by index."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from nodes.rows import add_rows, read_indices

__all__ = ["BatchReindexLayer"]


class BatchReindexLayer(Layer):
    """``top[i] = data[index[i]]`` (Caffe's ``BatchReindexLayer``).

    Bottoms: data ``(N, ...)``, indices ``(M,)`` from 0 to ``N - 1``. Top: ``(M, ...)``.
    """

    type = "BatchReindex"

    _indices: Array

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Take the number of items from the indices."""
        data, indices = bottom
        if data.axes < 1:
            self.fail_shape("expected an input with a batch axis, got a scalar.", bottom=0)
        if indices.axes != 1:
            self.fail_shape(f"expected indices with one axis, got shape {indices.shape}.", bottom=1)
        top[0].reshape(indices.count, *data.shape[1:])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy the chosen items."""
        data = bottom[0]
        self._indices = read_indices(self, bottom[1], data.shape[0], "the items", bottom=1)
        top[0].data[...] = data.data[self._indices]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Sum the gradients of all copies of an item."""
        if propagate_down[1]:
            self.fail("indices have no gradient.", bottom=1, next_step="Set propagate_down: false for them.")
        if not propagate_down[0]:
            return
        grad = bottom[0].diff
        grad[...] = 0
        if grad.size:
            add_rows(
                self.xp,
                grad.reshape((len(grad), -1)),
                self._indices,
                top[0].diff.reshape((self._indices.size, grad.size // len(grad))),
            )

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Indices have no gradient."""
        return bottom_index == 0
