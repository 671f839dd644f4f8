"""What a summed loss is divided by."""

from __future__ import annotations

from typing import Any

__all__ = ["BATCH_SIZE", "FULL", "NONE", "VALID", "normalization", "normalizer"]

FULL, VALID, BATCH_SIZE, NONE = 0, 1, 2, 3  # LossParameter.NormalizationMode


def normalization(param: Any, *, default: int) -> int:
    """Return the mode that a ``LossParameter`` asks for.

    Parameters
    ----------
    param : LossParameter
        Its ``normalization`` wins over the older ``normalize``, of which false means ``BATCH_SIZE``.
    default : int
        The layer's mode where neither is given.
    """
    if param.HasField("normalization"):
        return int(param.normalization)
    if param.HasField("normalize"):
        return VALID if param.normalize else BATCH_SIZE
    return default


def normalizer(mode: int, items: int, positions: int, counted: int) -> float:
    """Return the divisor, 1 at least (Caffe's ``SoftmaxWithLossLayer::get_normalizer``).

    Parameters
    ----------
    mode : int
        ``FULL``, ``VALID``, ``BATCH_SIZE`` or ``NONE``.
    items : int
        Size of the batch.
    positions : int
        Number of labels.
    counted : int
        Number of labels that are not ignored.
    """
    return float(max(1, {FULL: positions, VALID: counted, BATCH_SIZE: items}.get(mode, 1)))
