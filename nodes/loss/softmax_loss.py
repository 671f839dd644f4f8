"""Softmax and cross-entropy in one layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob, Primitive
from engine.ops import Softmax
from nodes.loss.labels import LabelledLayer
from nodes.loss.normalizing import VALID, normalization, normalizer

__all__ = ["SoftmaxWithLossLayer"]


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
        self._mode = normalization(loss, default=VALID)

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
        counted = self._labels.size if self._valid is None else int(self._valid.sum())
        self._normalizer = normalizer(self._mode, self.outer, self._labels.size, counted)
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

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Labels have no gradient."""
        return bottom_index != 1
