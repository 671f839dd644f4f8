"""What is known of the shapes of a document's layers, in one state of the net or in several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from engine.blob import Shape
from engine.errors import DataError, NetcanvasError, PluginError, UnknownLayerTypeError

__all__ = ["NodeShapes", "join_shapes", "needs_assumption"]

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class NodeShapes:
    """What is known of a layer's shapes.

    Attributes
    ----------
    bottoms, tops : tuple of shapes or None
        In order; None where a shape is not known.
    params : tuple of shapes
        Shapes of the parameters; empty where they are not known.
    state : str
        ``known``; ``unknown``, with a ``reason``; or ``stale``, the last known shapes, kept because the layer could not
        be asked again, with the ``reason``.
    reason : str
        One sentence; empty when known.
    error : NetcanvasError or None
        The layer's own fault, where that is why; what a net refuses in a layer whose shapes are known.
    backward_reads, in_place_leaves, spoils_itself
        As in :class:`engine.layer.Layer`, once set up.
    warnings : tuple of str
        What the layer's code does that others suffer from.
    assumed : str
        The blob whose shape is only assumed, because its data are not there, and from which these follow; empty where
        they follow from none. The ``reason`` of the layer that gives it says why it is not known.
    absent : bool
        Whether its code is nowhere to be found, so that nothing but an assumption can tell its shapes.
    """

    bottoms: tuple[Shape | None, ...]
    tops: tuple[Shape | None, ...]
    params: tuple[Shape, ...] = ()
    state: Literal["known", "stale", "unknown"] = "known"
    reason: str = ""
    error: NetcanvasError | None = None
    backward_reads: str = ""
    in_place_leaves: str = ""
    spoils_itself: bool = False
    warnings: tuple[str, ...] = ()
    assumed: str = ""
    absent: bool = False

    @property
    def param_count(self) -> int:
        """Number of values in all parameters."""
        return sum(math.prod(shape) for shape in self.params)


def needs_assumption(shapes: NodeShapes) -> bool:
    """Whether a layer has no shapes because its data, or the code that reads them or its bottoms, are not there."""
    if not shapes.tops or (shapes.state != "unknown" and not shapes.assumed):
        return False
    if shapes.bottoms:
        return shapes.absent and None not in shapes.bottoms
    return shapes.error is None or isinstance(shapes.error, (DataError, PluginError, UnknownLayerTypeError))


def join_shapes(outcomes: Iterable[Mapping[K, NodeShapes]]) -> dict[K, NodeShapes]:
    """Join what is known of a document in several states: a fault counts more than shapes, and shapes more than none.

    Of two that tell as much, the later one counts.
    """
    joined: dict[K, NodeShapes] = {}
    for outcome in outcomes:
        for key, shapes in outcome.items():
            joined[key] = _join(joined[key], shapes) if key in joined else shapes
    return joined


def _join(one: NodeShapes, other: NodeShapes) -> NodeShapes:
    told = one.error is not None or (one.state == "known" and other.state != "known")
    kept, left = (one, other) if told and other.error is None else (other, one)
    if isinstance(kept.error, PluginError) and kept.state == "unknown" != left.state:
        # Code that was just broken: what it gave a moment ago in the other state is better than nothing.
        return replace(left, state="stale", reason=kept.reason, error=kept.error)
    return kept
