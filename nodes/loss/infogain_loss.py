"""Cross-entropy in which every mistake has a weight of its own."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Primitive, resolve
from engine.ops import Softmax, product
from nodes.loss.labels import LabelledLayer
from nodes.loss.normalizing import normalizer

__all__ = ["InfogainLossLayer"]

LEAST = 1e-20  # probability below which Caffe's logistic losses stop falling


class InfogainLossLayer(LabelledLayer):
    """``-sum_k H[label, k] log softmax(scores)[k] / normalizer`` (Caffe's ``InfogainLossLayer``).

    Bottoms: scores ``(outer..., classes, inner...)`` (not probabilities), labels with ``outer * inner`` elements, and
    the matrix H with ``classes * classes`` elements unless ``source`` names a file with it. Tops: the loss, and the
    probabilities if there is a second one. With the identity for H it is SoftmaxWithLoss. The normalizer is that of
    SoftmaxWithLoss.
    """

    type = "InfogainLoss"
    auto_top_blobs = True

    _stored: Array | None = None
    _softmax: Primitive
    _spec: Softmax | None = None
    _own: Array | None = None
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
        spec = Softmax(self.class_axis)
        if spec != self._spec:
            self._spec, self._softmax = spec, self.primitive(spec)
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape_like(bottom[0])

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
        probabilities = self._probabilities(bottom, top)
        self._softmax.forward([bottom[0].data], [], [probabilities])
        self._labels, self._valid = self.read_labels(bottom[1])
        counted = self._labels.size if self._valid is None else int(self._valid.sum())
        self._normalizer = normalizer(
            int(self.layer_param.loss_param.normalization), self.outer, self._labels.size, counted
        )
        logs = xp.log(xp.maximum(self._shaped(probabilities), LEAST))
        top[0].data[...] = (0 - (self._costs(bottom) * logs).sum()) / self._normalizer

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """``softmax * sum_k H[label, k] - H[label]``, times ``weight / normalizer``; zero where ignored."""
        self.refuse_gradient(propagate_down, 1, "the label")
        self.refuse_gradient(propagate_down, 2, "the matrix")
        if propagate_down[0]:
            costs = self._costs(bottom)
            grad = self._shaped(bottom[0].diff)
            probabilities = self._shaped(self._probabilities(bottom, top))
            self.xp.multiply(probabilities, costs.sum(axis=1, keepdims=True), out=grad)
            grad -= costs
            grad *= top[0].diff / self._normalizer

    def _probabilities(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> Array:
        """Return where the probabilities are kept from forward to backward."""
        if len(top) > 1:
            return top[1].data
        if self._own is None or self._own.shape != bottom[0].shape:
            self._own = self.xp.empty(bottom[0].shape, bottom[0].dtype)
        return self._own

    def _shaped(self, array: Array) -> Array:
        return array.reshape((self.outer, self.classes, self.inner))

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Labels and matrix have no gradient."""
        return bottom_index == 0
