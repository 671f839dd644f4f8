"""Arithmetic of boxes: how much they overlap, how they are coded, which of them are left out.

Boxes are rows (xmin, ymin, xmax, ymax), in parts of an image's width and height.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Blob, Layer

__all__ = [
    "CENTER_SIZE",
    "CORNER",
    "CORNER_SIZE",
    "areas",
    "check_predictions",
    "decode",
    "encode",
    "keep_best",
    "keep_best_adaptively",
    "overlaps",
    "read_priors",
]

CORNER, CENTER_SIZE, CORNER_SIZE = 1, 2, 3  # PriorBoxParameter.CodeType
_TINY = 1e-5  # area from which on a box is one
_BLOCK = 128  # boxes that are compared with each other at once


def areas(boxes: Any, *, edge: float = 0.0) -> Any:
    """Return the areas of boxes, shape (..., 4) to (...); 0 where a corner is on the wrong side.

    ``edge`` is 1 where boxes are in pixels and include their last one.
    """
    sides = boxes[..., 2:] - boxes[..., :2]
    valid = (sides >= 0).all(axis=-1)
    return np.where(valid, (sides + boxes.dtype.type(edge)).prod(axis=-1), 0)


def overlaps(first: Any, second: Any, *, edge: float = 0.0, sizes: tuple[Any, Any] | None = None) -> Any:
    """Return intersection over union of every box of one set with every box of another.

    Parameters
    ----------
    first, second : ndarray, shape (A, 4) and (B, 4)
    edge : float
        1 where boxes are in pixels and include their last one.
    sizes : tuple of ndarray, optional
        Areas of both; computed when omitted.

    Returns
    -------
    ndarray, shape (A, B)
        0 where two boxes do not meet.
    """
    wide, high = (_common(first, second, axis) for axis in (0, 1))  # rows of two numbers would be slow
    more = first.dtype.type(edge)
    shared = np.where((wide >= 0) & (high >= 0), (wide + more) * (high + more), 0)
    of_first, of_second = sizes or (areas(first), areas(second))
    union = of_first[:, np.newaxis] + of_second - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)


def _common(first: Any, second: Any, axis: int) -> Any:
    """Return how far boxes reach over each other along an axis, shape (A, B)."""
    end = np.minimum(first[:, axis + 2, np.newaxis], second[:, axis + 2])
    return end - np.maximum(first[:, axis, np.newaxis], second[:, axis])


def read_priors(data: Any) -> tuple[Any, Any]:
    """Take the top of a PriorBox layer apart: corners and variances, both (P, 4)."""
    corners, variances = data.reshape(2, -1, 4)
    return corners, variances


def check_predictions(layer: Layer, bottom: Sequence[Blob], box_classes: int, classes: int) -> None:
    """Refuse coded boxes and scores, bottoms 0 and 1, that are not one for each prior box, bottom 2, of each image.

    Parameters
    ----------
    layer : Layer
        Named in errors.
    bottom : sequence of Blob
    box_classes : int
        Number of boxes for each prior box.
    classes : int
        Number of scores for each prior box.
    """
    priors = bottom[2].count // 8
    for index, wanted in ((0, priors * box_classes * 4), (1, priors * classes)):
        if bottom[index].shape[0] != bottom[0].shape[0] or bottom[index].count != wanted * bottom[0].shape[0]:
            layer.fail_shape(
                f"expected {wanted} values for each of {bottom[0].shape[0]} images and {priors} prior boxes, "
                f"got shape {bottom[index].shape}.",
                bottom=index,
                next_step="Let num_output of the layers before, num_classes and share_location fit the boxes.",
            )


def encode(boxes: Any, priors: Any, variances: Any, code: int, *, in_target: bool) -> Any:
    """Code boxes relative to their prior boxes.

    Parameters
    ----------
    boxes, priors, variances : ndarray, shape (..., 4)
    code : int
        ``CORNER``, ``CENTER_SIZE`` or ``CORNER_SIZE``.
    in_target : bool
        Leave the variances to who compares coded boxes.
    """
    if code == CENTER_SIZE:
        centres, sides = _centres(boxes)
        prior_centres, prior_sides = _centres(priors)
        coded = np.concatenate(((centres - prior_centres) / prior_sides, np.log(sides / prior_sides)), axis=-1)
    else:
        coded = boxes - priors
        if code == CORNER_SIZE:
            coded = coded / _twice(_centres(priors)[1])
    return coded if in_target else coded / variances


def decode(coded: Any, priors: Any, variances: Any, code: int, *, in_target: bool) -> Any:
    """Return the boxes that :func:`encode` coded; parameters are the same."""
    if not in_target:
        coded = variances * coded
    if code == CORNER:
        return priors + coded
    prior_centres, prior_sides = _centres(priors)
    if code == CORNER_SIZE:
        return priors + coded * _twice(prior_sides)
    centres = coded[..., :2] * prior_sides + prior_centres
    half = np.exp(coded[..., 2:]) * prior_sides / 2
    return np.concatenate((centres - half, centres + half), axis=-1)


def keep_best_adaptively(
    boxes: Any, scores: Any, *, least: float, threshold: float, eta: float = 1.0, top_k: int = -1
) -> Any:
    """Return the indices of the boxes that overlap no better one by more than a threshold, the best first.

    Parameters
    ----------
    boxes : ndarray, shape (P, 4)
    scores : ndarray, shape (P,)
    least : float
        Boxes need a larger score.
    threshold : float
        Intersection over union.
    eta : float
        Factor on the threshold after each box kept, while it is above 0.5.
    top_k : int
        Number of best boxes that are looked at; -1 for all.
    """
    candidates = np.flatnonzero(scores > least)
    candidates = candidates[_best_first(scores[candidates], top_k)]
    kept = _apart(boxes[candidates], threshold, eta)
    return candidates[kept]


def _best_first(scores: Any, top_k: int) -> Any:
    """Return the indices of the ``top_k`` largest scores, all if it is -1, in falling order, of equal ones the first.

    What cannot be among them is left out before the rest is sorted.
    """
    places = np.arange(len(scores))
    if 0 < top_k < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, -top_k)[-top_k])
    order = places[np.argsort(-scores[places], kind="stable")]
    return order if top_k < 0 else order[:top_k]


def _apart(boxes: Any, threshold: float, eta: float = 1.0) -> list[int]:
    """Return the indices of the boxes that overlap no earlier one of these by more than a threshold.

    The boxes of a block are compared with those kept before and with each other, all at once.
    """
    sizes = areas(boxes)
    kept: list[int] = []
    for start in range(0, len(boxes), _BLOCK):
        block = slice(start, start + _BLOCK)
        mine = boxes[block], sizes[block]
        highest = np.zeros(len(mine[0]), boxes.dtype)  # overlap with any box kept so far
        if kept:
            highest = overlaps(boxes[kept], mine[0], sizes=(sizes[kept], mine[1])).max(axis=0)
        shared = overlaps(mine[0], mine[0], sizes=(mine[1], mine[1]))
        for index in range(len(shared)):
            if highest[index] > threshold:
                continue
            kept.append(start + index)
            if eta < 1 and threshold > 0.5:
                threshold *= eta
            np.maximum(highest, shared[index], out=highest)
    return kept


def keep_best(boxes: Any, scores: Any, *, threshold: float, top_k: int) -> Any:
    """Return the indices of the boxes that overlap no better one, the best first, leaving out those without area.

    Of equal scores the first counts. ``top_k`` bounds what is looked at and what is kept; -1 does not.
    """
    order = _best_first(scores, top_k)
    order = order[areas(boxes[order]) >= _TINY]
    return order[_apart(boxes[order], threshold)]


def _centres(boxes: Any) -> tuple[Any, Any]:
    """Return centres and sides."""
    return (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]


def _twice(pairs: Any) -> Any:
    return np.concatenate((pairs, pairs), axis=-1)
