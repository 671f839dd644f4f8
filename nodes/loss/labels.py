"""What layers that compare scores with integer labels have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob, Layer, Primitive
from engine.ops import Softmax, product

__all__ = ["LabelledLayer", "SoftmaxLossLayer"]


class LabelledLayer(Layer):
    """Scores ``(outer..., classes, inner...)`` with classes at an axis, and a label for each other position."""

    class_axis: int = 1
    classes: int
    outer: int
    inner: int
    ignore_label: int | None = None

    def read_ignore_label(self, param: object) -> None:
        """Take the ignored label from ``loss_param`` or ``accuracy_param``, where there is one."""
        has_field = param.HasField  # type: ignore[attr-defined]  # a protobuf message
        self.ignore_label = int(param.ignore_label) if has_field("ignore_label") else None  # type: ignore[attr-defined]

    def check_labels_shape(self, bottom: Sequence[Blob], axis: int) -> None:
        """Find the classes and refuse labels that are not one for each position."""
        scores, labels = bottom[:2]
        self.class_axis = self.axis(axis, scores)
        if scores.shape[self.class_axis] < 1:
            self.fail_shape(
                f"expected at least one class at axis {self.class_axis} of '{scores.name}', got shape {scores.shape}.",
                bottom=0,
            )
        self.outer = product(scores.shape[: self.class_axis])
        self.classes = scores.shape[self.class_axis]
        self.inner = product(scores.shape[self.class_axis + 1 :])
        expected = self.outer * self.inner
        if labels.count == expected:
            return
        hint = "Give one integer label for each position."
        if labels.count == scores.count:
            hint = "The labels look one-hot: give the index of the class instead (ArgMax over the class axis makes it)."
        self.fail_shape(
            f"expected {expected} labels ({self.outer} x {self.inner}: scores of shape {scores.shape} without their "
            f"class axis {self.class_axis}), got {labels.count} in shape {labels.shape} of blob '{labels.name}'.",
            bottom=1,
            next_step=hint,
        )

    def check_item_labels_shape(self, bottom: Sequence[Blob]) -> None:
        """Take all values of an item as its classes and refuse labels that are not one an item."""
        scores, labels = bottom[:2]
        if scores.axes < 1 or product(scores.shape[1:]) < 1:
            self.fail_shape(
                f"expected at least one class an item in '{scores.name}', got shape {scores.shape}.", bottom=0
            )
        self.outer, self.classes, self.inner = scores.shape[0], product(scores.shape[1:]), 1
        if labels.count != self.outer:
            self.fail_shape(
                f"expected {self.outer} labels (one for each item of scores of shape {scores.shape}), got "
                f"{labels.count} in shape {labels.shape} of blob '{labels.name}'.",
                bottom=1,
                next_step="Give the index of the class, one for each item.",
            )

    def refuse_gradient(self, propagate_down: Sequence[bool], index: int, what: str) -> None:
        """Fail where a gradient is asked for that there is none of."""
        if len(propagate_down) > index and propagate_down[index]:
            self.fail(f"{what} has no gradient.", bottom=index, next_step="Set propagate_down: false for it.")

    def read_labels(self, labels: Blob) -> tuple[Array, Array | None]:
        """Return labels as integers ``(outer, inner)`` with ignored ones set to 0, and which count (``None``: all).

        Raises
        ------
        engine.errors.LayerError
            If one that counts is no class.
        """
        xp = self.xp
        with np.errstate(invalid="ignore"):  # NaN becomes an integer out of range and is reported as such
            values = labels.data.astype(np.int64).reshape((self.outer, self.inner))
        valid = None
        if self.ignore_label is not None:
            valid = values != self.ignore_label
            values = xp.where(valid, values, 0)
        bad = (values < 0) | (values >= self.classes)
        if bool(bad.any()):
            place = int(xp.argmax(bad.reshape(-1)))
            value = float(labels.data.reshape(-1)[place])
            self.fail(
                f"expected labels from 0 to {self.classes - 1}, got {value:g} at index {place} of '{labels.name}'.",
                bottom=1,
                next_step="Set num_output of the scores to the number of classes, or ignore_label to the label that "
                "does not count.",
            )
        return values, valid


class SoftmaxLossLayer(LabelledLayer):
    """A loss of the softmax of scores: tops are the loss, and the probabilities if there is a second one."""

    auto_top_blobs = True

    _softmax: Primitive
    _spec: Softmax | None = None
    _own: Array | None = None

    def reshape_tops(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the tops their shapes, once the class axis is known."""
        spec = Softmax(self.class_axis)
        if spec != self._spec:
            self._spec, self._softmax = spec, self.primitive(spec)
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape_like(bottom[0])

    def softmax(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> Array:
        """Compute the probabilities, shape (outer, classes, inner)."""
        probabilities = self._kept(bottom, top)
        self._softmax.forward([bottom[0].data], [], [probabilities])
        return self.by_class(probabilities)

    def probabilities(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> Array:
        """Return what :meth:`softmax` computed in the last forward pass."""
        return self.by_class(self._kept(bottom, top))

    def by_class(self, array: Array) -> Array:
        """Return an array of the scores' shape as ``(outer, classes, inner)``, a view."""
        return array.reshape((self.outer, self.classes, self.inner))

    def _kept(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> Array:
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
        """Only scores have a gradient."""
        return bottom_index == 0
