"""How often the right class is among the best."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob
from nodes.loss.labels import LabelledLayer

__all__ = ["AccuracyLayer"]


class AccuracyLayer(LabelledLayer):
    """Share of labels that are among the ``top_k`` largest scores (Caffe's ``AccuracyLayer``).

    Bottoms as for SoftmaxWithLoss. Tops: the share, a scalar, and the share for each class ``(classes,)`` if there is a
    second one, 0 for a class that does not occur. A score equal to that of the true class counts as better, as does
    NaN.
    """

    type = "Accuracy"

    _top_k: int

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``accuracy_param``."""
        param = self.layer_param.accuracy_param
        self.read_ignore_label(param)
        self._top_k = int(param.top_k)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check labels against scores."""
        self.check_labels_shape(bottom, self.layer_param.accuracy_param.axis)
        if not 1 <= self._top_k <= self.classes:
            self.fail(f"expected top_k from 1 to {self.classes} (the classes), got {self._top_k}.")
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape(self.classes)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Count."""
        xp = self.xp
        labels, valid = self.read_labels(bottom[1])
        scores = bottom[0].data.reshape((self.outer, self.classes, self.inner))
        own = xp.take_along_axis(scores, labels[:, None, :], axis=1)
        better = (~(scores < own)).sum(axis=1) - 1  # the true class itself is not better
        correct = better < self._top_k
        if valid is not None:
            correct = correct & valid
            count = int(valid.sum())
        else:
            count = labels.size
        top[0].data[...] = correct.sum() / max(count, 1)
        if len(top) > 1:
            counted = labels.reshape(-1) if valid is None else labels[valid]
            hits = labels[correct]
            occurrences = xp.bincount(counted, minlength=self.classes)
            top[1].data[...] = xp.bincount(hits, minlength=self.classes) / xp.maximum(occurrences, 1)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """A count has no gradient."""
        for index, wanted in enumerate(propagate_down):
            if wanted:
                self.fail("accuracy has no gradient.", bottom=index, next_step="Give it no loss_weight.")

    def allow_force_backward(self, bottom_index: int) -> bool:
        """A count has no gradient."""
        return False
