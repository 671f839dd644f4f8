"""Building a net anew after the code of its layers has changed, with what it has learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import NetError
from engine.layer import binding
from engine.net.net import Net
from engine.registry import LayerRegistry, default_registry

__all__ = ["Rebuilt", "rebuild_net"]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A net built anew.

    Attributes
    ----------
    net : Net
        Of the same text, phase, backend and folders as the old one, which is as it was and is to be closed.
    lost : tuple of str
        Parameters that the old net had and the new one does not take, because their layer has none in that place now or
        one of another shape; a sentence each. They begin with what their filler gives.
    """

    net: Net
    lost: tuple[str, ...]


def rebuild_net(net: Net, *, registry: LayerRegistry | None = None) -> Rebuilt:
    """Build a net anew with the layers' code as it is now, and keep its parameters.

    Parameters
    ----------
    net : Net
        It has its parameters to itself; one that shares them with a training net is built from that.
    registry : LayerRegistry, optional
        Where layer types are looked up; that of the net's folders when omitted.

    Raises
    ------
    engine.errors.NetError
        If it cannot be built, or has no layers. The old net can be used as before.
    """
    if not net.layers:
        raise NetError(f"Net '{net.name}' has no layers.", next_step="Build it from its text.")
    context = binding(net.layers[0]).context
    new = Net(
        net.param,
        net.phase,
        registry=registry or default_registry(tuple(context.base_dirs)),
        backend=net.backend,
        level=context.level,
        stages=tuple(context.stages),
        base_dirs=tuple(context.base_dirs),
        seed=context.seed,
        shapes_only=context.shapes_only,
        dtype=context.dtype,
        source_opener=context.source_opener,
    )
    lost: list[str] = []
    for name, blobs in net.params.items():
        places = new.params.get(name, [])
        for index, blob in enumerate(blobs):
            if index >= len(places):
                lost.append(f"Layer '{name}' has no parameter {index} any more.")
            elif places[index].shape != blob.shape:
                shapes = f"{places[index].shape}, it was {blob.shape}"
                lost.append(f"Parameter {index} of layer '{name}' has shape {shapes}.")
            elif not context.shapes_only:
                places[index].data[...] = np.asarray(blob.data)
    return Rebuilt(new, tuple(lost))
