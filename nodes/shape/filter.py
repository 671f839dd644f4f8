"""Items of a batch kept or dropped."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["FilterLayer"]


class FilterLayer(Layer):
    """Keeps the items whose selector is not zero (Caffe's ``FilterLayer``).

    Bottoms: data ``(N, ...)``, one or more, and the selector ``(N,)``, further axes of size 1, as the last. Tops: the
    kept items of each data bottom. Their number depends on values, so before the first pass the tops have room for
    all; later they have the shape that the last values gave.
    """

    type = "Filter"

    _kept: Array | None = None
    _shaped: bool = False

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that every data bottom has a top."""
        if len(top) != len(bottom) - 1:
            self.fail(
                f"expected {len(bottom) - 1} tops (one for each bottom but the selector, which is the last), got "
                f"{len(top)}."
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Count the kept items, once there are values."""
        *data, selector = bottom
        if selector.axes < 1 or selector.count != selector.shape[0]:
            self.fail_shape(
                f"expected a selector with one value an item, got shape {selector.shape}.", bottom=len(data)
            )
        items = selector.shape[0]
        for index, blob in enumerate(data):
            if blob.shape[:1] != (items,):
                self.fail_shape(
                    f"expected {items} items, as the selector '{selector.name}' has, got shape {blob.shape}.",
                    bottom=index,
                )
        if self._shaped and not self.context.shapes_only:
            self._kept = self.xp.flatnonzero(selector.data.reshape(-1))
            items = int(self._kept.size)
        self._shaped = True
        for blob, source in zip(top, data, strict=True):
            blob.reshape(items, *source.shape[1:])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy the kept items."""
        for blob, source in zip(top, bottom, strict=False):
            blob.data[...] = source.data[self._kept]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Copy the gradient back; dropped items have none."""
        if propagate_down[-1]:
            self.fail(
                "the selector has no gradient.",
                bottom=len(bottom) - 1,
                next_step="Set propagate_down: false for it.",
            )
        for blob, source, wanted in zip(top, bottom, propagate_down, strict=False):
            if wanted:
                grad = source.diff
                grad[...] = 0
                grad[self._kept] = blob.diff

    def allow_force_backward(self, bottom_index: int) -> bool:
        """The selector, which is the last bottom, has no gradient."""
        return bottom_index < len(self.layer_param.bottom) - 1
