"""Cross-entropy in which every mistake has a weight of its own."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, resolve
from engine.ops import product
from nodes.loss.labels import SoftmaxLossLayer
from nodes.loss.normalizing import normalizer

__all__ = ["InfogainLossLayer"]

LEAST = 1e-20  # probability below which Caffe's logistic losses stop falling


class InfogainLossLayer(SoftmaxLossLayer):
    """``-sum_k H[label, k] log softmax(scores)[k] / normalizer`` (Caffe's ``InfogainLossLayer``).

    Bottoms: scores ``(outer..., classes, inner...)`` (not probabilities), labels with ``outer * inner`` elements, and
    the matrix H with ``classes * classes`` elements unless ``source`` names a file with it. Tops: the loss, and the
    probabilities if there is a second one. With the identity for H it is SoftmaxWithLoss. The normalizer is that of
    SoftmaxWithLoss.
    """

    type = "InfogainLoss"

    _stored: Array | None = None
    _labels: Array
    _valid: Array | None
    _normalizer: float

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``loss_param`` and the matrix."""
        loss = self.layer_param.loss_param
        self.read_ignore_label(loss)
        if loss.HasField("normalize"):
            self.fail("expected normalization, got normalize, which it never had.", next_step="Write normalization.")
        if len(bottom) > 2:
            return
        source = self.layer_param.infogain_loss_param.source
        if not source:
            self.fail(
                "expected a matrix, got none.",
                next_step="Set infogain_loss_param source, or connect it as a third bottom.",
            )
        if not self.context.shapes_only:
            self._stored = self.to_backend(self._read_matrix(source).astype(bottom[0].dtype))

    def _read_matrix(self, source: str) -> Array:
        found = resolve(source, self.context.base_dirs)
        if not found.found:
            tried = ", ".join(f"'{path}'" for path in found.tried)
            self.fail(f"the matrix '{source}' was not found; tried {tried}.", next_step="Correct source.")
        return self.context.read_blob(found.path)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check labels and matrix against scores."""
        self.check_labels_shape(bottom, self.layer_param.infogain_loss_param.axis)
        self._check_matrix(bottom)
        self.reshape_tops(bottom, top)

    def _check_matrix(self, bottom: Sequence[Blob]) -> None:
        matrix = bottom[2] if len(bottom) > 2 else self._stored
        if matrix is not None and product(matrix.shape) != self.classes**2:
            self.fail_shape(
                f"expected a matrix of {self.classes} x {self.classes} (the classes), got shape {matrix.shape}.",
                bottom=2 if len(bottom) > 2 else None,
                next_step="Give one row and one column for each class.",
            )

    def _costs(self, bottom: Sequence[Blob]) -> Array:
        """Return each position's row of the matrix, its label's: ``(outer, classes, inner)``."""
        matrix = bottom[2].data if self._stored is None else self._stored
        rows = matrix.reshape((self.classes, self.classes))[self._labels]
        if self._valid is not None:
            rows = rows * self._valid[:, :, None]
        return self.xp.moveaxis(rows, 2, 1)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the loss."""
        xp = self.xp
        probabilities = self.softmax(bottom, top)
        self._labels, self._valid = self.read_labels(bottom[1])
        counted = self._labels.size if self._valid is None else int(self._valid.sum())
        self._normalizer = normalizer(
            int(self.layer_param.loss_param.normalization), self.outer, self._labels.size, counted
        )
        logs = xp.log(xp.maximum(probabilities, LEAST))
        top[0].data[...] = (0 - (self._costs(bottom) * logs).sum()) / self._normalizer

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``softmax * sum_k H[label, k] - H[label]``, times ``weight / normalizer``; zero where ignored."""
        self.refuse_gradient(propagate_down, 1, "the label")
        self.refuse_gradient(propagate_down, 2, "the matrix")
        if propagate_down[0]:
            costs = self._costs(bottom)
            grad = self.by_class(bottom[0].diff)
            self.xp.multiply(self.probabilities(bottom, top), costs.sum(axis=1, keepdims=True), out=grad)
            grad -= costs
            grad *= top[0].diff / self._normalizer
