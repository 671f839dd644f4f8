"""Arithmetic of boxes: how much they overlap, how they are coded, which of them are left out.

Boxes are rows (xmin, ymin, xmax, ymax), in parts of an image's width and height.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "CENTER_SIZE",
    "CORNER",
    "CORNER_SIZE",
    "areas",
    "decode",
    "encode",
    "keep_best",
    "keep_best_adaptively",
    "overlaps",
    "read_priors",
]

CORNER, CENTER_SIZE, CORNER_SIZE = 1, 2, 3  # PriorBoxParameter.CodeType
_TINY = 1e-5  # area from which on a box is one


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
    start = np.maximum(first[:, np.newaxis, :2], second[np.newaxis, :, :2])
    end = np.minimum(first[:, np.newaxis, 2:], second[np.newaxis, :, 2:])
    meet = (end >= start).all(axis=-1)
    shared = np.where(meet, (end - start + first.dtype.type(edge)).prod(axis=-1), 0)
    of_first, of_second = sizes or (areas(first), areas(second))
    union = of_first[:, np.newaxis] + of_second - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)


def read_priors(data: Any) -> tuple[Any, Any]:
    """Take the top of a PriorBox layer apart: corners and variances, both (P, 4)."""
    corners, variances = data.reshape(2, -1, 4)
    return corners, variances


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
    candidates = candidates[np.argsort(-scores[candidates], kind="stable")]
    if top_k > -1:
        candidates = candidates[:top_k]
    chosen = boxes[candidates]
    sizes = areas(chosen)
    highest = np.zeros(len(candidates), boxes.dtype)  # overlap with any box kept so far
    kept = []
    for index in range(len(candidates)):
        if highest[index] > threshold:
            continue
        kept.append(index)
        if eta < 1 and threshold > 0.5:
            threshold *= eta
        rest = slice(index + 1, None)
        shared = overlaps(chosen[index : index + 1], chosen[rest], sizes=(sizes[index : index + 1], sizes[rest]))
        np.maximum(highest[rest], shared[0], out=highest[rest])
    return candidates[kept]


def keep_best(boxes: Any, scores: Any, *, threshold: float, top_k: int) -> Any:
    """Return the indices of the boxes that overlap no better one, the best first, leaving out those without area.

    Of equal scores the first counts. ``top_k`` bounds what is looked at and what is kept; -1 does not.
    """
    order = np.argsort(-scores, kind="stable")
    if top_k > -1:
        order = order[:top_k]
    order = order[areas(boxes[order]) >= _TINY]
    kept = []
    while order.size:
        best, order = order[0], order[1:]
        kept.append(best)
        order = order[overlaps(boxes[best : best + 1], boxes[order])[0] <= threshold]
    return np.array(kept, np.intp)


def _centres(boxes: Any) -> tuple[Any, Any]:
    """Return centres and sides."""
    return (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]


def _twice(pairs: Any) -> Any:
    return np.concatenate((pairs, pairs), axis=-1)
