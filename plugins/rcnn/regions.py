"""What the layers that pool from regions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Blob, Layer

__all__ = ["check_features_and_regions", "read_regions", "round_half_away"]


def round_half_away(values: Any) -> Any:
    """Round to whole numbers, halves away from zero, as C's ``round`` does."""
    return np.copysign(np.floor(np.abs(values) + values.dtype.type(0.5)), values)


def read_regions(layer: Layer, regions: Blob, images: int) -> tuple[Any, Any]:
    """Take regions apart.

    Parameters
    ----------
    layer : Layer
        Named in errors.
    regions : Blob
        Rows (image, x1, y1, x2, y2).
    images : int
        Size of the batch of features.

    Returns
    -------
    image : ndarray of int, shape (regions,)
    corners : ndarray, shape (regions, 4)
        x1, y1, x2 and y2 in pixels of the image, of the blob's dtype.
    """
    rows = regions.data.reshape(-1, 5)
    if not np.isfinite(rows).all():
        layer.fail(
            "expected numbers as regions, got infinity or NaN.",
            bottom=1,
            next_step="The layers before have diverged; lower the learning rate.",
        )
    image = rows[:, 0].astype(np.intp)
    if image.size and not (image.min() >= 0 and image.max() < images):
        layer.fail(
            f"expected image numbers from 0 to {images - 1}, got {image.min()} to {image.max()}.",
            bottom=1,
            next_step="The first column of the regions is the number of the image in the batch.",
        )
    return image, rows[:, 1:5]


def check_features_and_regions(layer: Layer, bottom: Sequence[Blob]) -> None:
    """Refuse features that are no images and regions that are no rows of five."""
    if bottom[0].axes != 4:
        layer.fail_shape(f"expected features of shape (N, C, H, W), got {bottom[0].shape}.", bottom=0)
    regions = bottom[1]
    if regions.axes < 2 or regions.count != regions.shape[0] * 5:
        layer.fail_shape(
            f"expected regions of shape (R, 5), got {regions.shape}.",
            bottom=1,
            next_step="Each row is the image's number, x1, y1, x2 and y2.",
        )
