"""Which prior boxes stand for which objects, and which of the others are hard enough to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from boxes import keep_best, overlaps

__all__ = ["IGNORED", "UNMATCHED", "Mining", "match"]

UNMATCHED, IGNORED = -1, -2
_LEAST = 1e-6  # smaller overlaps are none


def match(objects: Any, boxes: Any, *, each: bool, threshold: float, inside_only: bool = False) -> tuple[Any, Any]:
    """Match boxes with objects (SSD's ``MatchBBox``; Liu et al. 2016, section 2.2).

    Every object gets the box that overlaps it most, the best pairs first and a box only once.

    Parameters
    ----------
    objects : ndarray, shape (G, 4)
    boxes : ndarray, shape (P, 4)
    each : bool
        Give every other box its best object as well, if they overlap by the threshold.
    threshold : float
        Intersection over union.
    inside_only : bool
        Ignore boxes that reach over the edge of the image.

    Returns
    -------
    matches : ndarray of int, shape (P,)
        Index of the object, ``UNMATCHED`` or ``IGNORED``.
    best : ndarray, shape (P,)
        Largest overlap with any object.
    """
    matches = np.full(len(boxes), UNMATCHED)
    best = np.zeros(len(boxes), boxes.dtype)
    if not len(objects):
        return matches, best
    shared = overlaps(boxes, objects)
    shared[shared <= _LEAST] = 0
    if inside_only:
        outside = ((boxes < 0) | (boxes > 1)).any(axis=1)
        matches[outside], shared[outside] = IGNORED, 0
    best = shared.max(axis=1)
    open_pairs = shared.copy()
    for _ in range(len(objects)):
        box, wanted = divmod(int(open_pairs.argmax()), len(objects))
        if not open_pairs[box, wanted]:
            break
        matches[box], best[box] = wanted, shared[box, wanted]
        open_pairs[box], open_pairs[:, wanted] = 0, 0
    if each:
        other = (matches == UNMATCHED) & (best > 0) & (best >= threshold)
        matches[other] = shared[other].argmax(axis=1)
    return matches, best


@dataclass(frozen=True, slots=True)
class Mining:
    """How the boxes that learn are chosen among those of an image (SSD's ``MineHardExamples``).

    Attributes
    ----------
    hard : bool
        Choose among all boxes, matched or not, up to ``most``; otherwise among those without an object.
    ratio : float
        Number of boxes without an object for each matched one.
    overlap : float
        Boxes without an object overlap none by as much as this.
    most : int
        Number of boxes that ``hard`` chooses.
    threshold : float
        Leave out boxes that overlap one with a larger loss by more than this; 0 leaves out none.
    top_k : int
        Number of boxes that are looked at for that; -1 for all.
    """

    hard: bool = False
    ratio: float = 3.0
    overlap: float = 0.5
    most: int = 64
    threshold: float = 0.0
    top_k: int = -1

    def choose(self, matches: Any, best: Any, losses: Any, boxes: Any) -> tuple[Any, Any]:
        """Choose boxes of one image.

        Parameters
        ----------
        matches, best : ndarray, shape (P,)
            From :func:`match`.
        losses : ndarray, shape (P,)
        boxes : ndarray, shape (P, 4)
            Where they are, to leave out those that overlap.

        Returns
        -------
        matches : ndarray of int, shape (P,)
            As given, but for matched boxes that are not chosen.
        negatives : ndarray of int
            Indices of the boxes that learn the background, ascending.
        """
        eligible = np.ones(len(matches), bool) if self.hard else (matches == UNMATCHED) & (best < self.overlap)
        places = np.flatnonzero(eligible)
        wanted = self.most if self.hard else int(np.float32((matches > UNMATCHED).sum()) * np.float32(self.ratio))
        if self.threshold > 0:
            order = keep_best(boxes[places], losses[places], threshold=self.threshold, top_k=self.top_k)
        else:
            order = np.argsort(-losses[places], kind="stable")
        chosen = np.zeros(len(matches), bool)
        chosen[places[order[: min(wanted, len(places))]]] = True
        negatives = np.flatnonzero(chosen & (matches == UNMATCHED))
        if self.hard:
            matches = np.where((matches > UNMATCHED) & ~chosen, UNMATCHED, matches)
        return matches, negatives
