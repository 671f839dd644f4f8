"""Softmax and cross-entropy with a weight for each class."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Array, Blob, Layer, ops

__all__ = ["WeightedSoftmaxLossLayer"]


class WeightedSoftmaxLossLayer(Layer):
    """``-sum weight[label] log softmax(scores)[label] / count``, over all labels but ``ignore_label``.

    Stands in for ``SoftmaxWithLoss`` where ``weight_by_label_freqs`` is set. Weights are those of ``class_weighting``,
    one for each class, or without it 1 over the number of a class's labels in the batch, as SegNet's Caffe had it
    before it had that field. ``count`` is the number of labels that are not ignored, without their weights, or with
    ``normalize: false`` the number of images.

    Bottoms: scores ``(outer..., classes, inner...)``, labels with ``outer * inner`` elements. Tops: the loss, a scalar,
    and the probabilities if there is a second one. Source: Badrinarayanan et al. 2015, section 4 (class balancing).
    """

    auto_top_blobs = True

    _weights: Array | None
    _axis: int
    _sizes: tuple[int, int, int]
    _kept: tuple[Any, ...]
    _probabilities: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``loss_param`` and ``softmax_param``."""
        loss = self.layer_param.loss_param
        self._axis = self.axis(self.layer_param.softmax_param.axis, bottom[0])
        weights, classes = list(loss.class_weighting), bottom[0].shape[self._axis]
        if weights and len(weights) != classes:
            self.fail(
                f"expected a class_weighting for each of {classes} classes, got {len(weights)}.",
                next_step="Write as many as the scores have channels.",
            )
        self._weights = self.to_backend(np.array(weights, bottom[0].dtype)) if weights else None
        if loss.HasField("normalization"):
            self.fail("expected normalize, not normalization, with weight_by_label_freqs, as SegNet's Caffe has it.")

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
        if len(top) > 1:
            top[1].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        scores = bottom[0].data.reshape(self._sizes)
        labels, counts = self._read_labels(bottom[1])
        powers = xp.exp(scores - scores.max(axis=1, keepdims=True))
        self._probabilities = powers / powers.sum(axis=1, keepdims=True)
        weights = self._weights_of(labels, counts, scores.dtype)
        chosen = xp.take_along_axis(self._probabilities, labels[:, None, :], axis=1)[:, 0, :]
        losses = xp.log(xp.maximum(chosen, np.finfo(np.float32).tiny)) * weights
        loss = self.layer_param.loss_param
        by_images = loss.HasField("normalize") and not loss.normalize
        divisor = self._sizes[0] if by_images else max(1, int(counts.sum()))
        self._kept = labels, weights, divisor
        top[0].data[...] = (0 - losses.sum()) / divisor
        if len(top) > 1:
            top[1].data[...] = self._probabilities.reshape(top[1].shape)

    def _read_labels(self, blob: Blob) -> tuple[Array, Array]:
        """Return the labels, 0 for those to ignore, and whether each counts."""
        loss = self.layer_param.loss_param
        outer, classes, inner = self._sizes
        labels = blob.data.reshape((outer, inner)).astype("int64")
        counts = labels == loss.ignore_label if loss.HasField("ignore_label") else labels < labels
        counts = ~counts
        labels = labels * counts
        low, high = (int(labels.min()), int(labels.max())) if labels.size else (0, 0)
        if low < 0 or high >= classes:
            wrong = low if low < 0 else high
            self.fail(
                f"expected labels from 0 to {classes - 1}, got {wrong}.",
                bottom=1,
                next_step="Correct the labels, or set ignore_label.",
            )
        return labels, counts

    def _weights_of(self, labels: Array, counts: Array, dtype: Any) -> Array:
        """Return the weight of each label; 0 of those to ignore."""
        xp = self.xp
        by_class = self._weights
        if by_class is None:
            found = [((labels == each) * counts).sum() for each in range(self._sizes[1])]
            by_class = self.to_backend(np.array([1 / max(1, int(count)) for count in found], dtype))
        return xp.take(by_class, labels) * counts

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``(softmax - one_hot(label)) * weight / count``; zero where the label is ignored."""
        if len(propagate_down) > 1 and propagate_down[1]:
            self.fail("labels have no gradient.", bottom=1, next_step="Set propagate_down: false for them.")
        if not propagate_down[0]:
            return
        xp = self.xp
        labels, weights, divisor = self._kept
        grad = bottom[0].diff.reshape(self._sizes)
        grad[...] = self._probabilities
        index = labels[:, None, :]
        xp.put_along_axis(grad, index, xp.take_along_axis(grad, index, axis=1) - 1, axis=1)
        grad *= weights[:, None, :]
        grad *= top[0].diff / divisor

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Labels have no gradient."""
        return bottom_index != 1
