"""Cross-entropy of the classes of boxes: a softmax over the classes, or a sigmoid for each."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["LOGISTIC", "NO_CLASS", "SOFTMAX", "class_gradients", "class_losses"]

SOFTMAX, LOGISTIC = 0, 1  # MultiBoxLossParameter.ConfLossType
NO_CLASS = -1


def class_losses(scores: Any, labels: Any, *, logistic: bool) -> Any:
    """Return the loss of each row.

    Parameters
    ----------
    scores : ndarray, shape (M, classes)
    labels : ndarray of int, shape (M,)
        The class that is right; with sigmoids, ``NO_CLASS`` where none is.
    logistic : bool
        Whether each class has a sigmoid of its own.

    Returns
    -------
    ndarray, shape (M,)
    """
    rows = np.arange(len(scores))
    if logistic:
        losses = np.log1p(np.exp(-np.abs(scores))) + np.maximum(scores, 0)
        return losses.sum(axis=1) - np.where(labels == NO_CLASS, 0, scores[rows, labels])
    chances = _softmax(scores)[rows, labels]
    return -np.log(np.maximum(chances, np.finfo(np.float32).tiny))


def class_gradients(scores: Any, labels: Any, *, logistic: bool) -> Any:
    """Return the gradient of :func:`class_losses`, shape (M, classes)."""
    grad = 1 / (1 + np.exp(-scores)) if logistic else _softmax(scores)
    grad[np.arange(len(scores)), labels] -= labels != NO_CLASS
    return grad


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
