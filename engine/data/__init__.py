"""Sources of training data.

:func:`open_source` serves the built-in data layers through their layer context. What it returns is a
:class:`BatchSource`: an endless sequence of batches whose position can be saved and restored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.data.batches import Batch, BatchSource, random_stream
from engine.data.datum_source import DatumSource
from engine.data.hdf5_source import Hdf5Source
from engine.data.transform import Transform
from engine.errors import DataError

__all__ = [
    "Batch",
    "BatchSource",
    "DatumSource",
    "Hdf5Source",
    "Transform",
    "open_datum_source",
    "open_hdf5_source",
    "open_source",
    "random_stream",
]


def open_source(kind: str, layer_param: Any, **settings: Any) -> BatchSource:
    """Open the source of a data layer.

    Parameters
    ----------
    kind : {"datum", "hdf5"}
        Selects :func:`open_datum_source` or :func:`open_hdf5_source`.
    layer_param : LayerParameter
    **settings
        As for the function selected.

    Raises
    ------
    DataError
        If the data cannot be had, or the kind is unknown.
    """
    match kind:
        case "datum":
            return open_datum_source(layer_param, **settings)
        case "hdf5":
            return open_hdf5_source(layer_param, **settings)
    raise DataError(f"Layer '{layer_param.name}': expected a source of kind 'datum' or 'hdf5', got '{kind}'.")


def open_datum_source(layer_param: Any, *, train: bool, seed: int, folders: Sequence[Path] = ()) -> BatchSource:
    """Open what a ``Data`` layer reads.

    Parameters
    ----------
    layer_param : LayerParameter
        Its ``data_param``, ``transform_param`` and tops are used.
    train : bool
        Whether the phase is TRAIN.
    seed : int
        Seed of all that is drawn.
    folders : sequence of Path
        Folders in which relative paths are looked for.

    Returns
    -------
    BatchSource
        Batches of images, shape (batch_size, channels, height, width), and of labels, shape (batch_size,), where the
        layer has two tops.

    Raises
    ------
    DataError
        If the database cannot be had or the settings do not fit it; the message names the paths.
    """
    return DatumSource(
        layer_param.data_param,
        layer_param.transform_param,
        train=train,
        labels=len(layer_param.top) > 1,
        seed=seed,
        folders=folders,
        owner=f"Layer '{layer_param.name}' ({layer_param.type})",
    )


def open_hdf5_source(layer_param: Any, *, seed: int, folders: Sequence[Path] = ()) -> BatchSource:
    """Open what an ``HDF5Data`` layer reads.

    Parameters
    ----------
    layer_param : LayerParameter
        Its ``hdf5_data_param`` and tops are used.
    seed : int
        Seed of shuffling.
    folders : sequence of Path
        Folders in which relative paths are looked for.

    Returns
    -------
    BatchSource
        Batches with one array a top, rows along the first axis.

    Raises
    ------
    DataError
        If the files cannot be had, do not fit each other, or ``transform_param`` is set, which the layer cannot apply.
    """
    owner = f"Layer '{layer_param.name}' ({layer_param.type})"
    if layer_param.HasField("transform_param"):
        raise DataError(
            f"{owner}: expected no transform_param, which Caffe's HDF5Data never applies, got one.",
            next_step="Write transformed values into the files, or remove transform_param.",
        )
    return Hdf5Source(layer_param.hdf5_data_param, tuple(layer_param.top), seed=seed, folders=folders, owner=owner)
