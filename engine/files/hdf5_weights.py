"""Weights in HDF5 (``.caffemodel.h5``), in the layout of Caffe's ``Net::ToHDF5``.

``data/<layer>/<index>`` holds the parameters of a layer, ``diff/<layer>/<index>`` their gradients where those are
stored. Every layer has a group, if an empty one. A parameter that a layer shares with an earlier one is not stored
again below ``data``. HDF5 takes a ``/`` in a layer's name for a step down, so that such a layer lies in nested groups;
Caffe writes that only where the outer group is there already, we always do. On reading, ``%2F`` in a group's name
stands for ``/`` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import FileFormatError, WeightsError
from engine.files.blobs import StoredBlob
from engine.files.hdf5 import hdf5_image, is_dataset, is_group, open_hdf5, read_floats
from engine.files.stored import StoredLayer, host_blobs, layers_of

__all__ = ["check_hdf5_names", "encode_hdf5_weights", "owned_params", "read_hdf5_layers"]

_ESCAPED_SLASH = "%2F"
_OTHERWISE = "Rename the layer, or set 'snapshot_format: BINARYPROTO' in the solver."


def read_hdf5_layers(path: Path) -> tuple[StoredLayer, ...]:
    """Read the layers of an HDF5 weights file.

    Returns
    -------
    tuple of StoredLayer
        By name; parameters that are not stored, for another layer owns them, are None.

    Raises
    ------
    FileFormatError
        If the file is damaged, or holds no weights.
    """
    with open_hdf5(path) as file:
        data = file.get("data")
        if not is_group(data):
            raise _no_weights(path, file)
        return tuple(_layers(data, ""))


def _no_weights(path: Path, file: Any) -> FileFormatError:
    if "history" in file and "iter" in file:
        return FileFormatError(
            f"Expected a weights file (.caffemodel.h5), but '{path}' looks like a solver state (.solverstate.h5).",
            next_step="Give the .caffemodel.h5 file that was written with it.",
        )
    names = ", ".join(f"'{name}'" for name in list(file)[:10]) or "nothing"
    return FileFormatError(
        f"Expected a weights file with a group 'data' in '{path}', got an HDF5 file that holds {names}.",
        next_step="Weights are in a .caffemodel.h5 file, which training writes with 'snapshot_format: HDF5'.",
    )


def _layers(group: Any, name: str) -> Iterator[StoredLayer]:
    datasets = {key: item for key, item in group.items() if is_dataset(item)}
    indices = [int(key) for key in datasets if key.isdecimal()]
    if name and (indices or not len(group)):
        blobs: list[StoredBlob | None] = [None] * (max(indices, default=-1) + 1)
        for index in indices:
            blobs[index] = StoredBlob(read_floats(datasets[str(index)]), legacy=False)
        yield StoredLayer(name.replace(_ESCAPED_SLASH, "/"), "", tuple(blobs))
    for key, item in group.items():
        if is_group(item):
            yield from _layers(item, f"{name}/{key}" if name else key)


def encode_hdf5_weights(net: Any, *, diffs: bool = False) -> bytes:
    """Return the content of an HDF5 weights file.

    Parameters
    ----------
    net : Net
        Or anything with ``layers``, as for :func:`engine.files.write_weights`.
    diffs : bool
        Store gradients too (the solver's ``snapshot_diff``), those of shared parameters with every layer.

    Raises
    ------
    WeightsError
        If two layers would lie in one place.
    """
    check_hdf5_names(net)
    owned = owned_params(net)
    with hdf5_image() as (file, image):
        data = file.create_group("data")
        diff = file.create_group("diff") if diffs else None
        for layer in layers_of(net):
            for parent in (data, diff):
                if parent is not None and layer.name:
                    parent.require_group(layer.name)
            for index, blob in enumerate(host_blobs(layer)):
                place = f"{layer.name}/{index}" if layer.name else str(index)
                if owned is None or (layer.name, index) in owned:
                    data.create_dataset(place, data=np.asarray(blob.data), track_times=False)
                if diff is not None:
                    diff.create_dataset(place, data=np.asarray(blob.diff), track_times=False)
    return image[0]


def check_hdf5_names(net: Any) -> None:
    """Refuse a net whose layers' names are no paths in an HDF5 file, or would lie in one place there.

    Raises
    ------
    WeightsError
        Naming the layer and the next step.
    """
    groups: set[str] = set()
    values: set[str] = set()
    for layer in layers_of(net):
        steps = layer.name.split("/")
        if (layer.name or len(layer.blobs)) and not {"", "."}.isdisjoint(steps):
            raise WeightsError(
                f"HDF5 weights: expected names of layers that are paths of words, got '{layer.name}'.",
                next_step=_OTHERWISE,
            )
        groups.update("/".join(steps[: count + 1]) for count in range(len(steps)))
        for index in range(len(layer.blobs)):
            place = f"{layer.name}/{index}"
            if place in values:
                raise _clash(f"parameter {index} of layer '{layer.name}'")
            values.add(place)
    for place in sorted(groups & values):
        raise _clash(f"layer '{place}'")


def owned_params(net: Any) -> set[tuple[str, int]] | None:
    """Return layer and index of the parameters that their layers own, or None for a net that does not share any."""
    learnable = getattr(net, "learnable", None)
    return None if learnable is None else {(item.layer, item.index) for item in learnable}


def _clash(what: str) -> WeightsError:
    return WeightsError(
        f"HDF5 weights: expected a place of its own for {what}, got one that another layer takes: names are paths "
        "there.",
        next_step=_OTHERWISE,
    )
