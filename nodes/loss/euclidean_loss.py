"""Squared distance."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["EuclideanLossLayer"]


class EuclideanLossLayer(Layer):
    """``sum((a - b) ** 2) / (2 N)`` with N the first dimension (Caffe's ``EuclideanLossLayer``)."""

    type = "EuclideanLoss"
    auto_top_blobs = True

    _difference: Array | None = None

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that both inputs have as many elements an item."""
        first, second = bottom
        if first.count != second.count or first.shape[:1] != second.shape[:1]:
            self.fail_shape(
                f"expected as many elements as bottom 0 has (shape {first.shape}), got shape {second.shape}.", bottom=1
            )
        top[0].reshape()

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        if self._difference is None or self._difference.shape != bottom[0].shape:
            self._difference = xp.empty(bottom[0].shape, bottom[0].dtype)
        xp.subtract(bottom[0].data, bottom[1].data.reshape(bottom[0].shape), out=self._difference)
        flat = self._difference.reshape(-1)
        top[0].data[...] = xp.dot(flat, flat) / (2 * self._items(bottom))

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``(a - b) * weight / N``, with the other sign for the second input."""
        for index, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[index]:
                scale = top[0].diff * (sign / self._items(bottom))
                grad = bottom[index].diff
                self.xp.multiply(self._difference.reshape(grad.shape), scale, out=grad)  # type: ignore[union-attr]

    @staticmethod
    def _items(bottom: Sequence[Blob]) -> int:
        return max(1, bottom[0].shape[0] if bottom[0].shape else 1)

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0
