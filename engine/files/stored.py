"""What files of weights and solver states hold, whatever their format, and the nets they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.files.blobs import FloatArray, StoredBlob

__all__ = ["StoredLayer", "StoredState", "host_blobs", "layers_of"]


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """A layer of a weights file.

    Attributes
    ----------
    name : str
    type : str
        Empty for files of the older formats and for HDF5.
    blobs : tuple of StoredBlob or None
        None, in HDF5 only, stands for a parameter that is stored with the layer that owns it.
    """

    name: str
    type: str
    blobs: tuple[StoredBlob | None, ...]


@dataclass(frozen=True, slots=True)
class StoredState:
    """A solver state read from a file; the names are those of Caffe's ``SolverState`` message.

    Attributes
    ----------
    iter : int
        Number of iterations done.
    learned_net : str
        Path of the weights that belong to the state, as written; may be empty.
    history : tuple of ndarray
        Memory of the update rule, one array for each learnable blob, or two sets of them for Adam and AdaDelta.
    current_step : int
        Number of learning-rate drops done.
    """

    iter: int
    learned_net: str
    history: tuple[FloatArray, ...]
    current_step: int


def layers_of(net: Any) -> Sequence[Any]:
    """Return what stands for the layers of a net: its nodes, if it has any, whose names user code cannot change."""
    layers: Sequence[Any] = getattr(net, "nodes", None) or net.layers
    return layers


def host_blobs(layer: Any) -> Sequence[Any]:
    """Return a layer's blobs with host arrays; a layer that computes on a device keeps views of its own."""
    blobs: Sequence[Any] = getattr(layer.blobs, "on_host", layer.blobs)
    return blobs
