"""What a measurement says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["LayerTimes", "NetTimes", "Spread"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Times of one thing that was done again and again.

    Attributes
    ----------
    mean, min, median : float
        Milliseconds. The median is the one that other programs disturb least.
    """

    mean: float
    min: float
    median: float


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """One layer.

    Attributes
    ----------
    name, type : str
    forward, backward : Spread
        The forward pass with the layer's reshape, and the backward pass: next to nothing where it needs none.
    """

    name: str
    type: str
    forward: Spread
    backward: Spread


@dataclass(frozen=True, slots=True)
class NetTimes:
    """A whole net.

    Attributes
    ----------
    layers : tuple of LayerTimes
        In the order in which they run.
    forward, backward, both : Spread
        Whole passes.
    total : float
        Milliseconds of all passes together.
    """

    layers: tuple[LayerTimes, ...]
    forward: Spread
    backward: Spread
    both: Spread
    total: float

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> NetTimes:
        """Return what :func:`dataclasses.asdict` made of a measurement."""
        layers = tuple(
            LayerTimes(each["name"], each["type"], Spread(**each["forward"]), Spread(**each["backward"]))
            for each in value["layers"]
        )
        forward, backward, both = (Spread(**value[name]) for name in ("forward", "backward", "both"))
        return cls(layers, forward, backward, both, value["total"])
