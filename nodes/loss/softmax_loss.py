"""Softmax and cross-entropy in one layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob, Primitive
from engine.ops import Softmax
from nodes.loss.labels import LabelledLayer

__all__ = ["SoftmaxWithLossLayer"]

FULL, VALID, BATCH_SIZE, NONE = 0, 1, 2, 3  # LossParameter.NormalizationMode


class SoftmaxWithLossLayer(LabelledLayer):
    """``-sum log softmax(scores)[label] / normalizer`` (Caffe's ``SoftmaxWithLossLayer``).

    Bottoms: scores ``(outer..., classes, inner...)``, labels with ``outer * inner`` elements. Tops: the loss, a scalar,
    and the probabilities if there is a second one. The normalizer is at least 1: with ``VALID`` (the default) the
    number of labels that are not ignored, with ``FULL`` of all labels, with ``BATCH_SIZE`` the outer size, with
    ``NONE`` 1. The older ``normalize: false`` alone means ``BATCH_SIZE``.
    """

    type = "SoftmaxWithLoss"
    auto_top_blobs = True

    _mode: int
    _softmax: Primitive
    _spec: Softmax | None = None
    _own: Array | None = None
    _labels: Array
    _valid: Array | None
    _normalizer: float

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``loss_param`` and ``softmax_param``."""
        loss = self.layer_param.loss_param
        self.read_ignore_label(loss)
        if not loss.HasField("normalization") and loss.HasField("normalize"):
            self._mode = VALID if loss.normalize else BATCH_SIZE
        else:
            self._mode = int(loss.normalization)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check labels against scores."""
        self.check_labels_shape(bottom, self.layer_param.softmax_param.axis)
        spec = Softmax(self.class_axis)
        if spec != self._spec:
            self._spec, self._softmax = spec, self.primitive(spec)
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        probabilities = self._probabilities(bottom, top)
        self._softmax.forward([bottom[0].data], [], [probabilities])
        self._labels, self._valid = self.read_labels(bottom[1])
        chosen = xp.take_along_axis(
            probabilities.reshape((self.outer, self.classes, self.inner)), self._labels[:, None, :], axis=1
        )[:, 0, :]
        losses = xp.log(xp.maximum(chosen, np.finfo(chosen.dtype).tiny))
        if self._valid is not None:
            losses *= self._valid
        self._normalizer = self._count_normalizer()
        top[0].data[...] = (0 - losses.sum()) / self._normalizer

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``(softmax - one_hot(label)) * weight / normalizer``; zero where the label is ignored."""
        if len(propagate_down) > 1 and propagate_down[1]:
            self.fail("labels have no gradient.", bottom=1, next_step="Set propagate_down: false for them.")
        if not propagate_down[0]:
            return
        xp = self.xp
        grad = bottom[0].diff
        grad[...] = self._probabilities(bottom, top)
        shaped = grad.reshape((self.outer, self.classes, self.inner))
        index = self._labels[:, None, :]
        xp.put_along_axis(shaped, index, xp.take_along_axis(shaped, index, axis=1) - 1, axis=1)
        if self._valid is not None:
            shaped *= self._valid[:, None, :]
        grad *= top[0].diff / self._normalizer

    def _probabilities(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> Array:
        """Return where the probabilities are kept from forward to backward."""
        if len(top) > 1:
            return top[1].data
        if self._own is None or self._own.shape != bottom[0].shape:
            self._own = self.xp.empty(bottom[0].shape, bottom[0].dtype)
        return self._own

    def _count_normalizer(self) -> float:
        if self._mode == VALID and self._valid is not None:
            return max(1.0, float(self._valid.sum()))
        return max(
            1.0,
            {FULL: self.outer * self.inner, VALID: self.outer * self.inner, BATCH_SIZE: self.outer}.get(self._mode, 1),
        )

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Labels have no gradient."""
        return bottom_index != 1
