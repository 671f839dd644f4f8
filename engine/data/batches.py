"""Batches: what a data layer takes from a source, whatever the source reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Batch", "BatchSource", "FloatArray", "random_stream"]

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch, an array for every top of the layer.

    Attributes
    ----------
    arrays : tuple of ndarray, float32
        The tops' contents; the first axis counts records. They may be overwritten once the source has been asked for
        the next batch.
    state : mapping
        JSON-able position of the source after this batch; ``set_state`` continues from there.
    """

    arrays: tuple[FloatArray, ...]
    state: Mapping[str, Any]


class BatchSource(Protocol):
    """An endless sequence of batches whose position can be saved."""

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each array of a batch, from the first record."""

    def next(self) -> Batch:
        """Return the next batch, starting over after the last record."""

    def get_state(self) -> dict[str, Any]:
        """Return the position after the last batch that was handed out."""

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a position that :meth:`get_state` returned."""

    def close(self) -> None:
        """Let go of files and threads; the source cannot be used afterwards."""


def random_stream(seed: int, *counters: int) -> np.random.Generator:
    """Return the random numbers that belong to one step of a source.

    They are a function of the seed and of counters such as the number of the batch, never of what was drawn before, so
    that a position needs no generator state and a background thread may run ahead.
    """
    return np.random.default_rng([seed, *counters])
