"""A loss that is quadratic near zero and absolute beyond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer

__all__ = ["SmoothL1LossLayer"]


class SmoothL1LossLayer(Layer):
    """``sum w_out * f(w_in * (a - b)) / normalizer`` (Fast R-CNN's ``SmoothL1LossLayer``; Girshick 2015, equation 3).

    ``f(d)`` is ``0.5 * (sigma * d)**2`` where ``|d| < 1 / sigma**2`` and ``|d| - 0.5 / sigma**2`` beyond.

    Bottoms: prediction, target, and of the same shape the inside weights and the outside weights, both or the inside
    ones alone (SSD's and R-FCN's Caffe). Tops: the loss, a scalar, and the loss of each position ``(N, 1, H, W)`` if
    there is a second one. The normalizer is the first dimension, unless ``loss_param`` names a normalization, which
    R-FCN's Caffe heeds: the number of positions with ``FULL`` and ``VALID``, the first dimension with ``BATCH_SIZE``,
    ``pre_fixed_normalizer`` with ``PRE_FIXED``, 1 with ``NONE``, and 1 at least.
    """

    type = "SmoothL1Loss"
    auto_top_blobs = True

    _difference: Any

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``smooth_l1_loss_param`` and ``loss_param``."""
        sigma = float(self.layer_param.smooth_l1_loss_param.sigma)
        if not sigma > 0:
            self.fail(f"expected a sigma above 0, got {sigma:g}.", next_step="Set it in smooth_l1_loss_param.")
        self.sigma2 = sigma * sigma
        self.mode = normalization(self.layer_param.loss_param)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check the shapes against each other."""
        shape = _shape4(bottom[0])
        for index, blob in enumerate(bottom):
            if _shape4(blob)[1:] != shape[1:] or blob.count != bottom[0].count:
                self.fail_shape(f"expected shape {bottom[0].shape} as bottom 0 has, got {blob.shape}.", bottom=index)
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape(shape[0], 1, *shape[2:])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss; the weighted difference is kept for the backward pass."""
        xp = self.xp
        first = bottom[0].data
        difference = first - bottom[1].data.reshape(first.shape)
        if len(bottom) > 2:
            difference *= bottom[2].data.reshape(first.shape)
        self._difference = difference
        size = xp.abs(difference)
        losses = xp.where(size < 1 / self.sigma2, 0.5 * self.sigma2 * difference * difference, size - 0.5 / self.sigma2)
        if len(bottom) > 3:
            losses *= bottom[3].data.reshape(first.shape)
        top[0].data[...] = losses.sum() / self._normalizer(bottom[0])
        if len(top) > 1:
            top[1].data[...] = losses.reshape(_shape4(bottom[0])).sum(axis=1, keepdims=True)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``w_in * w_out * f'`` times the weight of the loss; weights and the loss of each position pass nothing."""
        xp = self.xp
        for wanted, weights in zip(propagate_down[2:], bottom[2:], strict=True):
            if wanted:
                weights.diff[...] = 0
        if not any(propagate_down[:2]):
            return
        difference = self._difference
        grad = xp.where(xp.abs(difference) < 1 / self.sigma2, self.sigma2 * difference, xp.sign(difference))
        for weights in bottom[2:4]:
            grad *= weights.data.reshape(difference.shape)
        grad *= top[0].diff / self._normalizer(bottom[0])
        for index, sign in enumerate((1, -1)):
            if propagate_down[index]:
                bottom[index].diff[...] = (sign * grad).reshape(bottom[index].shape)

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Weights have no gradient."""
        return bottom_index < 2

    def _normalizer(self, prediction: Blob) -> float:
        shape = _shape4(prediction)
        if not self.mode:
            return float(shape[0])
        positions = shape[0] * shape[2] * shape[3]
        fixed = getattr(self.layer_param.loss_param, "pre_fixed_normalizer", 1.0)
        modes = {"FULL": positions, "VALID": positions, "BATCH_SIZE": shape[0], "PRE_FIXED": fixed}
        return float(max(1.0, modes.get(self.mode, 1.0)))


def normalization(loss_param: Any) -> str:
    """Return the name of the normalization that a ``LossParameter`` asks for; empty where it asks for none."""
    if loss_param.HasField("normalization"):
        names = loss_param.DESCRIPTOR.fields_by_name["normalization"].enum_type.values_by_number
        return str(names[loss_param.normalization].name)
    if loss_param.HasField("normalize"):
        return "VALID" if loss_param.normalize else "BATCH_SIZE"
    return ""


def _shape4(blob: Blob) -> tuple[int, int, int, int]:
    return (blob.num, blob.channels, blob.height, blob.width)
