"""A reader that does nothing."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer

__all__ = ["SilenceLayer"]


class SilenceLayer(Layer):
    """Reads its bottoms and sends them a gradient of zero (Caffe's ``SilenceLayer``)."""

    type = "Silence"

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """There is no top."""

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Nothing to compute."""

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Write zeros."""
        for blob, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                blob.diff[...] = 0
