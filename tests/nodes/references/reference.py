"""A formula of a layer, written apart from it in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.layer import Phase
from engine.testing import LayerCase

__all__ = ["Formula", "Reference", "Values", "integers", "normal", "positive"]

Values = npt.NDArray[Any]
#: Takes the bottoms and the parameters; returns what the tops must hold.
Formula = Callable[[Sequence[Values], Sequence[Values]], Sequence[Values]]
RNG = np.random.default_rng(41)


@dataclass(frozen=True)
class Reference:
    """A layer with inputs, and what it must compute.

    Attributes
    ----------
    text : str
        The layer's prototxt without name, bottoms and tops.
    bottoms : sequence of array
        Its inputs.
    formula : callable
        What the tops must hold.
    source : str
        Where the formula is from.
    tops : int
        Number of tops.
    phase : Phase
        What the net is built for.
    """

    text: str
    bottoms: Sequence[Values]
    formula: Formula
    source: str
    tops: int = 1
    phase: Phase = Phase.TRAIN

    @property
    def type(self) -> str:
        """The layer's type."""
        return self.text.split('"')[1]

    @property
    def case(self) -> LayerCase:
        """The layer in a net of its own."""
        return LayerCase(self.text, self.bottoms, self.tops, phase=self.phase)


def normal(*shape: int) -> Values:
    """Return values of both signs."""
    return RNG.normal(size=shape)


def positive(*shape: int) -> Values:
    """Return values from 0.2 to 2."""
    return RNG.uniform(0.2, 2, shape)


def integers(stop: int, *shape: int) -> Values:
    """Return whole numbers from 0 to below a limit, as floats."""
    return RNG.integers(0, stop, shape).astype(float)
