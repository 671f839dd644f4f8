"""Like pairs pulled together, unlike pairs pushed apart."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from engine.ops import product

__all__ = ["ContrastiveLossLayer"]

GUARD = 1e-4  # Caffe's, against a division by a distance of zero


class ContrastiveLossLayer(Layer):
    """``sum(y d^2 + (1 - y) max(margin - d, 0)^2) / (2 N)`` (Caffe's ``ContrastiveLossLayer``).

    Hadsell et al. 2006, eq. 4, with ``d`` the distance between two items. Bottoms: first and second items
    ``(N, channels)``, and ``y`` with N elements: 0 for an unlike pair, anything else (fractions cut off) for a like
    one. With ``legacy_version`` an unlike pair adds ``max(margin - d^2, 0)``.
    """

    type = "ContrastiveLoss"
    auto_top_blobs = True

    _margin: float
    _legacy: bool
    _difference: Array
    _squares: Array
    _like: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``contrastive_loss_param``."""
        param = self.layer_param.contrastive_loss_param
        self._margin = float(param.margin)
        self._legacy = bool(param.legacy_version)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that the pairs match."""
        first, second, like = bottom
        if first.axes < 1 or product(first.shape[2:]) != 1:
            self.fail_shape(
                f"expected items with one axis of values, shape (N, channels), got shape {first.shape}.",
                bottom=0,
                next_step="Connect a Flatten.",
            )
        if second.shape[:1] != first.shape[:1] or second.count != first.count:
            self.fail_shape(f"expected shape {first.shape}, as bottom 0, got {second.shape}.", bottom=1)
        if like.count != first.shape[0]:
            self.fail_shape(f"expected {first.shape[0]} values, one for each pair, got shape {like.shape}.", bottom=2)
        top[0].reshape()

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        items = bottom[0].shape[0]
        shape = (items, bottom[0].count // max(items, 1))
        self._difference = bottom[0].data.reshape(shape) - bottom[1].data.reshape(shape)
        self._squares = xp.square(self._difference).sum(axis=1)
        self._like = xp.trunc(bottom[2].data.reshape(-1)) != 0
        if self._legacy:
            apart = xp.maximum(self._margin - self._squares, 0)
        else:
            apart = xp.square(xp.maximum(self._margin - xp.sqrt(self._squares), 0))
        top[0].data[...] = xp.where(self._like, self._squares, apart).sum() / (2 * max(items, 1))

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``(a - b) * weight / N``, times ``-(margin - d) / (d + 1e-4)`` for an unlike pair within the margin."""
        if propagate_down[2]:
            bottom[2].diff[...] = 0  # as in Caffe, which computes none
        if not any(propagate_down[:2]):
            return
        xp = self.xp
        if self._legacy:
            apart = -((self._margin - self._squares) > 0).astype(self._squares.dtype)
        else:
            distance = xp.sqrt(self._squares)
            apart = -xp.maximum(self._margin - distance, 0) / (distance + GUARD)
        factors = xp.where(self._like, 1, apart) * (top[0].diff / max(len(apart), 1))
        for index, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[index]:
                grad = bottom[index].diff.reshape(self._difference.shape)
                xp.multiply(self._difference, factors[:, None] * sign, out=grad)

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Whether a pair is alike has no gradient."""
        return bottom_index != 2
