"""What a layer is given by the net around it: its phase, its surroundings, and the record of both."""

from __future__ import annotations

import enum
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.base import Backend, Workspace
from engine.blob import Blob
from engine.blob_list import BlobList
from engine.layer_info import LayerInfo

__all__ = ["Binding", "LayerContext", "LowerContext", "Phase"]


class Phase(enum.IntEnum):
    """What a net is built for; numbers as in Caffe, so that ``self.phase == 0`` means training."""

    TRAIN = 0
    TEST = 1

    def __str__(self) -> str:
        return self.name


@dataclass(slots=True)
class LayerContext:
    """What a layer may know of the net around it.

    Attributes
    ----------
    phase : Phase
        What the net is built for.
    backend : Backend
        Where it computes.
    workspace : Workspace
        Scratch memory shared by the net's primitives.
    dtype : dtype
        Element type of new blobs.
    base_dirs : sequence of Path
        Folders against which relative paths are looked up, in order; see :func:`engine.paths.resolve`.
    seed : int or None
        The run's seed; ``None`` asks the system for randomness.
    level, stages : int, sequence of str
        The net's state.
    shapes_only : bool
        Nobody will run the net: fill no memory, start no threads.
    fill_params : bool
        Whether fillers run; off where the parameters come from another net.
    source_opener : callable, optional
        Replaces :func:`engine.data.open_source`, through which data layers reach their files.
    net_name : str
        Name of the net.
    blobs : mapping of Blob
        What the layers before this one made, by name; empty where a layer is by itself.
    """

    phase: Phase
    backend: Backend
    workspace: Workspace
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))
    base_dirs: Sequence[Path] = ()
    seed: int | None = None
    level: int = 0
    stages: Sequence[str] = ()
    shapes_only: bool = False
    fill_params: bool = True
    source_opener: Callable[..., Any] | None = None
    net_name: str = ""
    blobs: Mapping[str, Blob] = field(default_factory=dict)

    def open_source(self, *args: Any, **kwargs: Any) -> Any:
        """Open a data source; arguments are those of :func:`engine.data.open_source`."""
        opener = self.source_opener or importlib.import_module("engine.data").open_source
        return opener(*args, **kwargs)

    def open_output(self, layer_param: Any) -> Any:
        """Prepare the file that a layer writes; see :func:`engine.data.open_hdf5_output`."""
        return importlib.import_module("engine.data").open_hdf5_output(layer_param)

    def open_records(self, source: str, owner: str) -> Any:
        """Open a database of records; see :func:`engine.data.databases.open_database`."""
        return importlib.import_module("engine.data.databases").open_database(source, self.base_dirs, owner)

    def read_mean(self, written: str, owner: str) -> npt.NDArray[np.float32]:
        """Read a ``mean_file``; see :func:`engine.data.transform.read_mean`."""
        module = importlib.import_module("engine.data.transform")
        mean: npt.NDArray[np.float32] = module.read_mean(written, self.base_dirs, owner)
        return mean

    def decode_image(self, data: bytes, *, color: bool | None = None) -> npt.NDArray[np.uint8]:
        """Decode an image file held in memory; see :func:`engine.data.images.decode_image`."""
        pixels: npt.NDArray[np.uint8] = importlib.import_module("engine.data.images").decode_image(data, color=color)
        return pixels

    def encode_image(self, image: npt.NDArray[np.uint8], kind: str, *, quality: int = 95) -> bytes:
        """Return an image as an image file; see :func:`engine.data.image_encoding.encode_image`."""
        module = importlib.import_module("engine.data.image_encoding")
        data: bytes = module.encode_image(image, kind, quality=quality)
        return data

    def read_blob(self, path: Path) -> npt.NDArray[Any]:
        """Read a file of one blob; see :func:`engine.files.read_blob`."""
        values: npt.NDArray[Any] = importlib.import_module("engine.files").read_blob(path)
        return values


@dataclass(frozen=True, slots=True)
class LowerContext:
    """What :meth:`engine.layer.Layer.lower` is given.

    Attributes
    ----------
    bottom, top : sequence of Blob
        The layer's blobs, already reshaped.
    phase : Phase
        What the net is built for.
    """

    bottom: Sequence[Blob]
    top: Sequence[Blob]
    phase: Phase


@dataclass(slots=True)
class Binding:
    """What a net gave a layer.

    The net reads it here, not from the layer, whose attributes belong to the user's code.

    Attributes
    ----------
    layer_param, context, info, phase, blobs, param_propagate_down
        As the attributes of :class:`engine.layer.Layer`.
    name, type : str
        As the file has them.
    rng : Generator or None
        The layer's random stream, once it was used.
    """

    layer_param: Any
    context: LayerContext
    info: LayerInfo
    name: str
    type: str
    phase: Phase
    blobs: BlobList
    param_propagate_down: list[bool] = field(default_factory=list)
    rng: np.random.Generator | None = None
