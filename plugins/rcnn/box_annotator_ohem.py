"""Online hard example mining for regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Blob, Layer

__all__ = ["BoxAnnotatorOHEMLayer"]


class BoxAnnotatorOHEMLayer(Layer):
    """Keeps the regions of each image with the largest loss (R-FCN's ``BoxAnnotatorOHEMLayer``).

    Bottoms: regions ``(R, 5)`` with the image's number first, losses with R elements, labels with R elements, weights
    ``(R, D, 1, 1)``. Tops: labels, those of the other regions replaced by ``ignore_label``, and weights, those of the
    others set to 0. No gradient passes.
    """

    type = "BoxAnnotatorOHEM"
    host_arrays = True

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``box_annotator_ohem_param``."""
        param = self.layer_param.box_annotator_ohem_param
        self.kept, self.ignore = int(param.roi_per_img), int(param.ignore_label)
        if self.kept < 1:
            self.fail(f"expected a roi_per_img above 0, got {self.kept}.", next_step="Set it.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Tops are like labels and weights."""
        regions, losses, labels, weights = bottom
        if regions.channels != 5 or not losses.count == labels.count == regions.count // 5:
            self.fail_shape(
                "expected regions of shape (R, 5) with R losses and R labels, got shapes "
                f"{regions.shape}, {losses.shape} and {labels.shape}.",
                bottom=0,
            )
        top[0].reshape_like(labels)
        top[1].reshape_like(weights)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Count down from the largest loss, image by image."""
        regions, losses, labels, weights = (np.moveaxis(_by_position(blob), 1, 0) for blob in bottom)
        images = regions[0].ravel().astype(np.intp)
        order = np.argsort(-losses.ravel(), kind="stable")
        kept = np.zeros(order.size, bool)
        for image in np.unique(images):
            kept[order[images[order] == image][: self.kept]] = True
        top[0].data[...] = np.where(kept, labels.ravel(), self.ignore).reshape(top[0].shape)
        mask = kept.reshape(weights.shape[1:])
        top[1].data[...] = np.moveaxis(np.where(mask, weights, 0), 0, 1).reshape(top[1].shape)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing passes."""
        for wanted, blob in zip(propagate_down, bottom, strict=True):
            if wanted:
                blob.diff[...] = 0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """No bottom has a gradient."""
        return False


def _by_position(blob: Blob) -> Any:
    return blob.data.reshape(blob.num, blob.channels, blob.height * blob.width)
