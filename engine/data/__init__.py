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
from engine.data.hdf5_output import Hdf5Output
from engine.data.hdf5_source import Hdf5Source
from engine.data.image_source import ImageListSource
from engine.data.memory_source import MemorySource
from engine.data.pair_source import ImagePairSource
from engine.data.transform import Transform
from engine.data.window_source import WindowSource
from engine.errors import DataError

__all__ = [
    "Batch",
    "BatchSource",
    "DatumSource",
    "Hdf5Output",
    "Hdf5Source",
    "ImageListSource",
    "ImagePairSource",
    "MemorySource",
    "Transform",
    "WindowSource",
    "open_datum_source",
    "open_hdf5_output",
    "open_hdf5_source",
    "open_image_source",
    "open_memory_source",
    "open_pair_source",
    "open_source",
    "open_window_source",
    "random_stream",
]


def open_source(kind: str, layer_param: Any, *, train: bool, seed: int, folders: Sequence[Path] = ()) -> BatchSource:
    """Open the source of a data layer.

    Parameters
    ----------
    kind : {"datum", "hdf5", "image pairs", "images", "memory", "windows"}
        Selects one of the functions below.
    layer_param : LayerParameter
    train : bool
        Whether the phase is TRAIN.
    seed : int
        Seed of all that is drawn.
    folders : sequence of Path
        Folders in which relative paths are looked for.

    Raises
    ------
    DataError
        If the data cannot be had, or the kind is unknown.
    """
    match kind:
        case "datum":
            return open_datum_source(layer_param, train=train, seed=seed, folders=folders)
        case "hdf5":
            return open_hdf5_source(layer_param, seed=seed, folders=folders)
        case "image pairs":
            return open_pair_source(layer_param, train=train, seed=seed, folders=folders)
        case "images":
            return open_image_source(layer_param, train=train, seed=seed, folders=folders)
        case "memory":
            return open_memory_source(layer_param, train=train, seed=seed, folders=folders)
        case "windows":
            return open_window_source(layer_param, seed=seed, folders=folders)
    known = "'datum', 'hdf5', 'image pairs', 'images', 'memory' or 'windows'"
    raise DataError(f"{_owner(layer_param)}: expected a source of kind {known}, got '{kind}'.")


def _owner(layer_param: Any) -> str:
    return f"Layer '{layer_param.name}' ({layer_param.type})"


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
        owner=_owner(layer_param),
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
    owner = _owner(layer_param)
    if layer_param.HasField("transform_param"):
        raise DataError(
            f"{owner}: expected no transform_param, which Caffe's HDF5Data never applies, got one.",
            next_step="Write transformed values into the files, or remove transform_param.",
        )
    return Hdf5Source(layer_param.hdf5_data_param, tuple(layer_param.top), seed=seed, folders=folders, owner=owner)


def open_image_source(layer_param: Any, *, train: bool, seed: int, folders: Sequence[Path] = ()) -> BatchSource:
    """Open what an ``ImageData`` layer reads; parameters and errors are those of :func:`open_datum_source`.

    Returns
    -------
    BatchSource
        Batches of images, shape (batch_size, channels, height, width), and of labels, shape (batch_size,).
    """
    return ImageListSource(
        layer_param.image_data_param,
        layer_param.transform_param,
        train=train,
        seed=seed,
        folders=folders,
        owner=_owner(layer_param),
    )


def open_pair_source(layer_param: Any, *, train: bool, seed: int, folders: Sequence[Path] = ()) -> BatchSource:
    """Open what a ``DenseImageData`` layer reads; parameters and errors are those of :func:`open_datum_source`.

    The layer's message has ``dense_image_data_param``, as in SegNet's dialect or from a plugin.

    Returns
    -------
    BatchSource
        Batches of images, shape (batch_size, channels, height, width), and of labels, shape (batch_size, 1, height,
        width), both sides divided by ``label_divide_factor``.
    """
    return ImagePairSource(
        layer_param.dense_image_data_param,
        layer_param.transform_param,
        train=train,
        seed=seed,
        folders=folders,
        owner=_owner(layer_param),
    )


def open_memory_source(layer_param: Any, *, train: bool, seed: int, folders: Sequence[Path] = ()) -> MemorySource:
    """Make the source of a ``MemoryData`` layer, to which a program hands its arrays.

    Parameters and errors are those of :func:`open_datum_source`.
    """
    return MemorySource(
        layer_param.memory_data_param,
        layer_param.transform_param,
        train=train,
        seed=seed,
        folders=folders,
        owner=_owner(layer_param),
    )


def open_window_source(layer_param: Any, *, seed: int, folders: Sequence[Path] = ()) -> BatchSource:
    """Open what a ``WindowData`` layer reads; parameters and errors are those of :func:`open_datum_source`.

    Returns
    -------
    BatchSource
        Batches of windows, shape (batch_size, 3, crop_size, crop_size), and of classes, shape (batch_size,).
    """
    return WindowSource(
        layer_param.window_data_param,
        layer_param.transform_param,
        seed=seed,
        folders=folders,
        owner=_owner(layer_param),
    )


def open_hdf5_output(layer_param: Any) -> Hdf5Output:
    """Prepare the file that an ``HDF5Output`` layer writes; it is made with the first rows.

    Raises
    ------
    DataError
        If it cannot be written where ``hdf5_output_param.file_name`` says.
    """
    return Hdf5Output(layer_param.hdf5_output_param.file_name, _owner(layer_param))
