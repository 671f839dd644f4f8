"""How large the updates of the layers are, beside their weights."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from engine.solvers.health import quiet

if TYPE_CHECKING:
    from engine.blob import Blob

__all__ = ["UpdateSizes"]

_EVERY_SECONDS = 0.3
#: A look waits so many times as long as the last one took, so that all looks together take less than 1 % of a training.
_WAIT_FACTOR = 100.0


class UpdateSizes:
    """Looks now and then at the last update of each layer of a net.

    The figure of a layer is ``norm(update) / norm(weights)``: L2 norms over all of its parameters that are trained,
    weights as they are after the update. By a common rule of thumb it is near 1e-3 while a net learns well.

    Parameters
    ----------
    net : Net
        The training net. After an update the diffs of its parameters hold what was subtracted.
    clock : callable, optional
        Gives the time in seconds.
    """

    def __init__(self, net: Any, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._next = -math.inf
        self._layers: list[tuple[str, list[Blob]]] = [
            (node.name, blobs) for node in net.nodes if (blobs := list(_trained(net, node)))
        ]

    @property
    def is_due(self) -> bool:
        """Whether it is time for another look."""
        return bool(self._layers) and self._clock() >= self._next

    def look(self) -> dict[str, float]:
        """Return the figures by layer; call it after an update and before the next pass.

        They may be NaN or infinite, and there is none for a layer that trains nothing.
        """
        began = self._clock()
        with quiet():
            found = {name: _ratio(blobs) for name, blobs in self._layers}
        ended = self._clock()
        self._next = ended + max(_EVERY_SECONDS, _WAIT_FACTOR * (ended - began))
        return found


def _trained(net: Any, node: Any) -> Iterator[Blob]:
    """Parameters of a layer that are trained, shared ones too."""
    learnable = {item.name: item for item in net.learnable}
    specs = node.layer_param.param
    for index in range(len(node.blobs)):
        shared = specs[index].name if index < len(specs) else ""
        item = learnable.get(shared or f"{node.name}[{index}]")
        if item is not None and item.lr_mult:
            yield item.blob.on_device()


def _ratio(blobs: list[Blob]) -> float:
    update, weights = _norm([blob.diff for blob in blobs]), _norm([blob.data for blob in blobs])
    if weights == 0.0:
        return math.inf if update else 0.0
    return update / weights


def _norm(arrays: list[Any]) -> float:
    flats = [array.reshape(-1) for array in arrays]
    return math.sqrt(sum(float(flat @ flat) for flat in flats))
