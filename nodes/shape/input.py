"""Blobs that the caller fills."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer

__all__ = ["InputLayer"]


class InputLayer(Layer):
    """Gives its tops the shapes of ``input_param`` (Caffe's ``InputLayer``).

    One shape serves all tops; otherwise there is one for each. A top that the caller reshaped keeps its shape.
    """

    type = "Input"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Shape the tops once; later passes leave them to the caller."""
        shapes = self.layer_param.input_param.shape
        if len(shapes) not in (0, 1, len(top)):
            self.fail(f"expected no shape, one for all, or one for each of its {len(top)} tops, got {len(shapes)}.")
        for index, blob in enumerate(top):
            if len(shapes):
                dims = shapes[0 if len(shapes) == 1 else index].dim
                if any(dim < 0 for dim in dims):
                    self.fail(f"expected dimensions of 0 or more, got {tuple(dims)}.", top=index)
                blob.reshape(*dims)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Leave the shapes as they are."""

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Leave the values as they are."""

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing lies below."""
