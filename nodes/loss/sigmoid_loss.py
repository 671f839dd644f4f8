"""Sigmoid and cross-entropy in one layer."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob
from nodes.loss.labels import LabelledLayer
from nodes.loss.normalizing import BATCH_SIZE, normalization, normalizer

__all__ = ["SigmoidCrossEntropyLossLayer"]


class SigmoidCrossEntropyLossLayer(LabelledLayer):
    """``-sum(t log s + (1 - t) log(1 - s)) / normalizer`` with s the sigmoid of the scores.

    As Caffe's ``SigmoidCrossEntropyLossLayer``, in the form ``x (t - [x >= 0]) - log(1 + exp(-abs(x)))``, which
    does not overflow. Bottoms: scores and targets of one size; a target whose whole part is ``ignore_label`` does not
    count. The normalizer is at least 1: the batch size (the default), with ``VALID`` the number of targets that count,
    with ``FULL`` of all targets, with ``NONE`` 1.
    """

    type = "SigmoidCrossEntropyLoss"
    auto_top_blobs = True

    _mode: int
    _valid: Array | None
    _normalizer: float

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``loss_param``."""
        loss = self.layer_param.loss_param
        self.read_ignore_label(loss)
        self._mode = normalization(loss, default=BATCH_SIZE)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that scores and targets are as many."""
        scores, targets = bottom
        if scores.count != targets.count:
            self.fail_shape(
                f"expected {scores.count} targets, one for each score of shape {scores.shape}, got {targets.count} in "
                f"shape {targets.shape} of blob '{targets.name}'.",
                bottom=1,
            )
        top[0].reshape()

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        scores, targets = bottom[0].data, bottom[1].data.reshape(bottom[0].shape)
        losses = xp.log1p(xp.exp(-xp.abs(scores))) - scores * (targets - (scores >= 0))
        counted = bottom[0].count
        self._valid = None
        if self.ignore_label is not None:
            self._valid = xp.trunc(targets) != self.ignore_label
            losses = xp.where(self._valid, losses, 0)
            counted = int(self._valid.sum())
        items = bottom[0].shape[0] if bottom[0].shape else 1
        self._normalizer = normalizer(self._mode, items, bottom[0].count, counted)
        top[0].data[...] = losses.sum() / self._normalizer

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``(sigmoid(x) - t) * weight / normalizer``; zero where the target is ignored."""
        self.refuse_gradient(propagate_down, 1, "the target")
        if not propagate_down[0]:
            return
        xp = self.xp
        scores, grad = bottom[0].data, bottom[0].diff
        falling = xp.exp(-xp.abs(scores))
        grad[...] = xp.where(scores >= 0, 1, falling) / (1 + falling)
        grad -= bottom[1].data.reshape(bottom[0].shape)
        if self._valid is not None:
            grad[...] = xp.where(self._valid, grad, 0)
        grad *= top[0].diff / self._normalizer

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Targets have no gradient."""
        return bottom_index != 1
