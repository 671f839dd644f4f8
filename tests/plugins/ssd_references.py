"""SSD's formulas, box by box and in double precision, for the tests of ``plugins/ssd``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

Box = Sequence[float]


def size(box: Box) -> float:
    return 0.0 if box[2] < box[0] or box[3] < box[1] else (box[2] - box[0]) * (box[3] - box[1])


def jaccard(a: Box, b: Box) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (size(a) + size(b) - width * height)


def encode(box: Box, prior: Box, variance: Box, code: str) -> list[float]:
    width, height = prior[2] - prior[0], prior[3] - prior[1]
    if code == "CENTER_SIZE":
        values = [
            ((box[0] + box[2]) / 2 - (prior[0] + prior[2]) / 2) / width,
            ((box[1] + box[3]) / 2 - (prior[1] + prior[3]) / 2) / height,
            math.log((box[2] - box[0]) / width),
            math.log((box[3] - box[1]) / height),
        ]
    else:
        sides = (width, height, width, height) if code == "CORNER_SIZE" else (1, 1, 1, 1)
        values = [(b - p) / side for b, p, side in zip(box, prior, sides, strict=True)]
    return [value / v for value, v in zip(values, variance, strict=True)]


def decode(coded: Box, prior: Box, variance: Box, code: str) -> list[float]:
    values = [value * v for value, v in zip(coded, variance, strict=True)]
    width, height = prior[2] - prior[0], prior[3] - prior[1]
    if code == "CENTER_SIZE":
        x, y = values[0] * width + (prior[0] + prior[2]) / 2, values[1] * height + (prior[1] + prior[3]) / 2
        wide, high = math.exp(values[2]) * width, math.exp(values[3]) * height
        return [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]
    sides = (width, height, width, height) if code == "CORNER_SIZE" else (1, 1, 1, 1)
    return [p + value * side for p, value, side in zip(prior, values, sides, strict=True)]


def suppressed(
    boxes: Sequence[Box], scores: Sequence[float], threshold: float, least: float, top_k: int, eta: float = 1.0
) -> list[int]:
    """Return the indices that are kept, the best first."""
    order = sorted((i for i, score in enumerate(scores) if score > least), key=lambda i: -scores[i])
    kept: list[int] = []
    for index in order[:top_k] if top_k > -1 else order:
        if all(jaccard(boxes[index], boxes[other]) <= threshold for other in kept):
            kept.append(index)
            if eta < 1 and threshold > 0.5:
                threshold *= eta
    return kept


def matched(
    objects: Sequence[Box], priors: Sequence[Box], threshold: float, each: bool
) -> tuple[list[int], list[float]]:
    """Return the object of each prior box, -1 for none, and the largest overlap of each."""
    shared = [[jaccard(prior, box) for box in objects] for prior in priors]
    matches, best = [-1] * len(priors), [max(row, default=0.0) for row in shared]
    open_objects = set(range(len(objects)))
    while open_objects:
        pairs = [(shared[p][g], -p, -g) for p, g in product(range(len(priors)), open_objects) if matches[p] == -1]
        overlap, p, g = max(pairs, default=(0.0, 0, 0))
        if overlap <= 1e-6:
            break
        matches[-p], best[-p] = -g, overlap
        open_objects.remove(-g)
    for p, row in enumerate(shared):
        if each and matches[p] == -1 and best[p] >= threshold and best[p] > 1e-6:
            matches[p] = row.index(best[p])
    return matches, best


def class_loss(scores: Sequence[float], label: int, logistic: bool) -> float:
    if logistic:
        return sum(math.log1p(math.exp(-s if c == label else s)) for c, s in enumerate(scores))
    most = max(scores)
    return math.log(sum(math.exp(s - most) for s in scores)) + most - scores[label]


def box_loss(predicted: Box, wanted: Box, squared: bool) -> float:
    differences = [abs(p - w) for p, w in zip(predicted, wanted, strict=True)]
    return sum(0.5 * d * d if squared or d < 1 else d - 0.5 for d in differences)
