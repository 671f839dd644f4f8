"""Softmax and cross-entropy in one layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob
from nodes.loss.labels import SoftmaxLossLayer
from nodes.loss.normalizing import VALID, normalization, normalizer

__all__ = ["SoftmaxWithLossLayer"]


class SoftmaxWithLossLayer(SoftmaxLossLayer):
    """``-sum log softmax(scores)[label] / normalizer`` (Caffe's ``SoftmaxWithLossLayer``).

    Bottoms: scores ``(outer..., classes, inner...)``, labels with ``outer * inner`` elements. Tops: the loss, a scalar,
    and the probabilities if there is a second one. The normalizer is at least 1: with ``VALID`` (the default) the
    number of labels that are not ignored, with ``FULL`` of all labels, with ``BATCH_SIZE`` the outer size, with
    ``NONE`` 1. The older ``normalize: false`` alone means ``BATCH_SIZE``.
    """

    type = "SoftmaxWithLoss"

    _mode: int
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
        self.reshape_tops(bottom, top)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        probabilities = self.softmax(bottom, top)
        self._labels, self._valid = self.read_labels(bottom[1])
        chosen = xp.take_along_axis(probabilities, self._labels[:, None, :], axis=1)[:, 0, :]
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
        grad = self.by_class(bottom[0].diff)
        grad[...] = self.probabilities(bottom, top)
        index = self._labels[:, None, :]
        xp.put_along_axis(grad, index, xp.take_along_axis(grad, index, axis=1) - 1, axis=1)
        if self._valid is not None:
            grad *= self._valid[:, None, :]
        grad *= top[0].diff / self._normalizer
