"""One blob for several readers."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer

__all__ = ["SplitLayer"]


class SplitLayer(Layer):
    """Tops share the bottom's values; its gradient is the sum of theirs (Caffe's ``SplitLayer``)."""

    type = "Split"
    any_dtype = True

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give all tops the bottom's type, shape and values."""
        for blob in top:
            blob.retype(bottom[0].dtype)
            blob.reshape_like(bottom[0])
            blob.share_data(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The values are shared already."""

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Sum the gradients."""
        if not propagate_down[0]:
            return
        total = bottom[0].diff
        if len(top) == 1:
            total[...] = top[0].diff
            return
        self.xp.add(top[0].diff, top[1].diff, out=total)
        for blob in top[2:]:
            total += blob.diff
