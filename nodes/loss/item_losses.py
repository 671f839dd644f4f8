"""Losses that see an item's values as its classes, whatever their shape."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob
from nodes.loss.labels import LabelledLayer

__all__ = ["HingeLossLayer", "MultinomialLogisticLossLayer"]

L2 = 2  # HingeLossParameter.Norm
LEAST = 1e-20  # probability below which Caffe's logistic losses stop falling


class _ItemLossLayer(LabelledLayer):
    """A loss of ``(N, classes...)`` scores and N labels, averaged over N."""

    auto_top_blobs = True

    _labels: Array

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check labels against scores."""
        self.check_item_labels_shape(bottom)
        top[0].reshape()

    def rows(self, array: Array) -> Array:
        """Return an array of the scores' shape as ``(N, classes)``."""
        return array.reshape((self.outer, self.classes))

    @property
    def items(self) -> int:
        """What the sum is divided by."""
        return max(self.outer, 1)

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Labels have no gradient."""
        return bottom_index != 1


class HingeLossLayer(_ItemLossLayer):
    """One against all: ``sum max(0, 1 - t x) ** p / N``, with t 1 for the label and -1 for all other classes.

    p is 1, or 2 with ``norm: L2`` (Caffe's ``HingeLossLayer``).
    """

    type = "HingeLoss"

    _violations: Array

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        self._labels, _ = self.read_labels(bottom[1])
        self._violations = xp.maximum(self._negate_own(self.rows(bottom[0].data).copy()) + 1, 0)
        flat = self._violations.reshape(-1)
        top[0].data[...] = (xp.dot(flat, flat) if self._squared else flat.sum()) / self.items

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``-t`` for each violation, times twice its size with ``norm: L2``; all times ``weight / N``."""
        self.refuse_gradient(propagate_down, 1, "the label")
        if propagate_down[0]:
            grad = self.rows(bottom[0].diff)
            grad[...] = self._violations * 2 if self._squared else self.xp.sign(self._violations)
            self._negate_own(grad)
            grad *= top[0].diff / self.items

    @property
    def _squared(self) -> bool:
        return bool(self.layer_param.hinge_loss_param.norm == L2)

    def _negate_own(self, rows: Array) -> Array:
        """Change the sign at each item's label."""
        xp = self.xp
        xp.put_along_axis(rows, self._labels, 0 - xp.take_along_axis(rows, self._labels, axis=1), axis=1)
        return rows


class MultinomialLogisticLossLayer(_ItemLossLayer):
    """``-sum log p[label] / N`` of given probabilities (Caffe's ``MultinomialLogisticLossLayer``).

    Probabilities below 1e-20 count as that.
    """

    type = "MultinomialLogisticLoss"

    _chosen: Array

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        self._labels, _ = self.read_labels(bottom[1])
        own = xp.take_along_axis(self.rows(bottom[0].data), self._labels, axis=1)
        self._chosen = xp.maximum(own, LEAST)
        top[0].data[...] = (0 - xp.log(self._chosen).sum()) / self.items

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``-weight / (N p)`` at the label, 0 elsewhere."""
        self.refuse_gradient(propagate_down, 1, "the label")
        if propagate_down[0]:
            grad = self.rows(bottom[0].diff)
            grad[...] = 0
            self.xp.put_along_axis(grad, self._labels, top[0].diff * (-1 / self.items) / self._chosen, axis=1)
