"""Softmax and cross-entropy that also tells the loss of each region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from smooth_l1_loss import normalization

from engine.api import Array, Blob, Layer, ops

__all__ = ["RegionSoftmaxLossLayer"]


class RegionSoftmaxLossLayer(Layer):
    """``-sum log softmax(scores)[label] / normalizer``, and each term of the sum.

    Stands in for ``SoftmaxWithLoss`` where there is a third top (R-FCN's Caffe). Bottoms: scores ``(outer..., classes,
    inner...)``, labels with ``outer * inner`` elements. Tops: the loss, a scalar, the probabilities, and the losses,
    shaped like the labels, 0 where a label is ignored; a gradient passes from the first alone. The normalizer is that
    of ``SoftmaxWithLoss``: with ``VALID`` (the default) the number of labels that are not ignored, with ``FULL`` of all
    labels, with ``BATCH_SIZE`` the outer size, with ``NONE`` 1, and 1 at least.
    """

    auto_top_blobs = True

    _axis: int
    _sizes: tuple[int, int, int]
    _kept: tuple[Array, Array, float]
    _probabilities: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``loss_param`` and ``softmax_param``."""
        loss = self.layer_param.loss_param
        self._axis = self.axis(self.layer_param.softmax_param.axis, bottom[0])
        self._ignored = int(loss.ignore_label) if loss.HasField("ignore_label") else None
        self._mode = normalization(loss) or "VALID"
        if self._mode == "PRE_FIXED":
            self.fail("expected another normalization than PRE_FIXED, which is SmoothL1Loss's.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check labels against scores."""
        shape = bottom[0].shape
        outer, inner = ops.product(shape[: self._axis]), ops.product(shape[self._axis + 1 :])
        self._sizes = outer, shape[self._axis], inner
        if bottom[1].count != outer * inner:
            self.fail_shape(
                f"expected {outer * inner} labels for scores of shape {shape}, got {bottom[1].shape}.", bottom=1
            )
        top[0].reshape()
        top[1].reshape_like(bottom[0])
        top[2].reshape_like(bottom[1])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the losses and their sum."""
        xp = self.xp
        scores = bottom[0].data.reshape(self._sizes)
        labels, counts = self._read_labels(bottom[1])
        powers = xp.exp(scores - scores.max(axis=1, keepdims=True))
        self._probabilities = powers / powers.sum(axis=1, keepdims=True)
        chosen = xp.take_along_axis(self._probabilities, labels[:, None, :], axis=1)[:, 0, :]
        losses = (0 - xp.log(xp.maximum(chosen, np.finfo(np.float32).tiny))) * counts
        divisor = self._divisor(counts)
        self._kept = labels, counts, divisor
        top[0].data[...] = losses.sum() / divisor
        top[1].data[...] = self._probabilities.reshape(top[1].shape)
        top[2].data[...] = losses.reshape(top[2].shape)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``(softmax - one_hot(label)) * weight / normalizer``; zero where the label is ignored."""
        if len(propagate_down) > 1 and propagate_down[1]:
            self.fail("labels have no gradient.", bottom=1, next_step="Set propagate_down: false for them.")
        if not propagate_down[0]:
            return
        xp = self.xp
        labels, counts, divisor = self._kept
        grad = bottom[0].diff.reshape(self._sizes)
        grad[...] = self._probabilities
        index = labels[:, None, :]
        xp.put_along_axis(grad, index, xp.take_along_axis(grad, index, axis=1) - 1, axis=1)
        grad *= counts[:, None, :]
        grad *= top[0].diff / divisor

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Labels have no gradient."""
        return bottom_index != 1

    def _read_labels(self, blob: Blob) -> tuple[Array, Array]:
        """Return the labels, 0 for those to ignore, and 1 for each that counts."""
        outer, classes, inner = self._sizes
        given = blob.data.reshape((outer, inner))
        labels = given.astype("int64")
        counts = (labels == labels if self._ignored is None else labels != self._ignored).astype(given.dtype)
        labels = labels * (counts > 0)
        low, high = (int(labels.min()), int(labels.max())) if labels.size else (0, 0)
        if low < 0 or high >= classes:
            self.fail(
                f"expected labels from 0 to {classes - 1}, got {low if low < 0 else high}.",
                bottom=1,
                next_step="Correct the labels, or set ignore_label.",
            )
        return labels, counts

    def _divisor(self, counts: Array) -> float:
        outer, _, inner = self._sizes
        modes: dict[str, Any] = {"FULL": outer * inner, "VALID": int(counts.sum()), "BATCH_SIZE": outer}
        return float(max(1, modes.get(self._mode, 1)))
