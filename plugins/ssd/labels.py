"""The objects of a batch, as AnnotatedData writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.api import Blob, Layer

__all__ = ["Objects", "check_labels", "read_labels"]


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of one image.

    Attributes
    ----------
    boxes : ndarray, shape (G, 4)
    labels : ndarray of int, shape (G,)
    difficult : ndarray of bool, shape (G,)
    """

    boxes: Any
    labels: Any
    difficult: Any


def check_labels(layer: Layer, blob: Blob, bottom: int) -> None:
    """Refuse labels that are no rows of eight."""
    if blob.axes < 2 or blob.shape[-1] != 8:
        layer.fail_shape(
            f"expected labels of shape (1, 1, objects, 8), got {blob.shape}.",
            bottom=bottom,
            next_step="Rows are item, label, instance, xmin, ymin, xmax, ymax and difficult.",
        )


def read_labels(
    layer: Layer, blob: Blob, bottom: int, background: int, *, difficult: bool = True
) -> dict[int, Objects]:
    """Sort the rows of a label blob by image.

    Parameters
    ----------
    layer, bottom
        Named in errors.
    blob : Blob
        Rows (item, label, instance, xmin, ymin, xmax, ymax, difficult); those with item -1 are none.
    background : int
        Label that no object may have.
    difficult : bool
        Whether objects that are hard to recognize count.
    """
    rows = blob.data.reshape(-1, 8)
    rows = rows[rows[:, 0].astype(np.intp) != -1]
    if (rows[:, 1].astype(np.intp) == background).any():
        layer.fail(
            f"expected no object with the label of the background, {background}, got one.",
            bottom=bottom,
            next_step="Correct background_label_id or the labels.",
        )
    hard = rows[:, 7] != 0
    if not difficult:
        rows, hard = rows[~hard], hard[~hard]
    items, labels = rows[:, 0].astype(np.intp), rows[:, 1].astype(np.intp)
    return {
        int(item): Objects(rows[items == item, 3:7], labels[items == item], hard[items == item])
        for item in np.unique(items)
    }
