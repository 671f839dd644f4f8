"""Reading weights files: a ``NetParameter`` whose layers carry blobs (``.caffemodel``), or HDF5 (``.caffemodel.h5``).

The formats of all three ages of Caffe are read: layers with type names, numbered types (V1), and settings nested one
level deeper (V0). Values are used where they lie in the mapped file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from engine.files.blobs import StoredBlob, decode_blob, stored_blob_from_proto
from engine.files.hdf5 import is_hdf5
from engine.files.hdf5_weights import read_hdf5_layers
from engine.files.opening import damaged, map_file
from engine.files.stored import StoredLayer
from engine.schema import FileKind, load_schema
from engine.schema.wire import WireError, iter_fields

__all__ = ["read_stored_layers", "read_weights"]

# Field numbers: layers of a NetParameter, and name, type, blobs and nested settings of a layer, by the format's age.
_LAYER, _LAYER_V1 = 100, 2
_NAME, _TYPE, _BLOBS = 1, 2, 7
_NAME_V1, _BLOBS_V1, _NESTED_V0 = 4, 6, 1
_NAME_V0, _BLOBS_V0 = 1, 50


def read_weights(path: str | os.PathLike[str]) -> Any:
    """Read a weights file as a message.

    Parameters
    ----------
    path : path
        A ``.caffemodel`` file, told by its content and not by its name.

    Returns
    -------
    NetParameter message
        Layers of the older formats stay in ``layers``.

    Raises
    ------
    FileFormatError
        If the file cannot be read, is damaged or is of another kind; the message says what it looks like.
    """
    file = Path(path)
    map_file(file, FileKind.WEIGHTS).release()  # which checks it; to decode from the mapping would hold it twice
    try:
        return load_schema().message("NetParameter").FromString(file.read_bytes())
    except DecodeError as error:
        raise damaged(file, FileKind.WEIGHTS, error) from error


def read_stored_layers(source: str | os.PathLike[str] | Any) -> tuple[StoredLayer, ...]:
    """Read the layers of a weights file, leaving their values where they are in the file.

    Parameters
    ----------
    source : path or NetParameter message
        A file in Caffe's binary format or in HDF5, told by its content and not by its name.

    Returns
    -------
    tuple of StoredLayer
        In the order of the file, layers without blobs among them; by name for HDF5.

    Raises
    ------
    FileFormatError
        As for :func:`read_weights`.
    """
    if not isinstance(source, str | os.PathLike):
        return tuple(_layers_of_message(source))
    path = Path(source)
    if is_hdf5(path):
        return read_hdf5_layers(path)
    view = map_file(path, FileKind.WEIGHTS)
    try:
        return tuple(_layers_of_bytes(view))
    except WireError as error:
        raise damaged(path, FileKind.WEIGHTS, error) from error


def _layers_of_message(net: Any) -> Iterator[StoredLayer]:
    for old in net.layers:
        layer = old.layer if old.HasField("layer") else old
        yield StoredLayer(layer.name or old.name, "", _blobs_of_message(layer.blobs or old.blobs))
    for layer in net.layer:
        yield StoredLayer(layer.name, layer.type, _blobs_of_message(layer.blobs))


def _blobs_of_message(blobs: Any) -> tuple[StoredBlob, ...]:
    return tuple(stored_blob_from_proto(blob) for blob in blobs)


def _layers_of_bytes(net: memoryview) -> Iterator[StoredLayer]:
    for number, _, value in iter_fields(net):
        if isinstance(value, int):
            continue
        if number == _LAYER:
            yield _layer(value, _NAME, _BLOBS, _TYPE)
        elif number == _LAYER_V1:
            nested = [part for field, _, part in iter_fields(value) if field == _NESTED_V0]
            if nested and isinstance(nested[-1], memoryview):
                yield _layer(nested[-1], _NAME_V0, _BLOBS_V0)
            else:
                yield _layer(value, _NAME_V1, _BLOBS_V1)


def _layer(data: memoryview, name_field: int, blobs_field: int, type_field: int = 0) -> StoredLayer:
    texts = {name_field: "", type_field: ""}
    blobs: list[StoredBlob] = []
    for number, _, value in iter_fields(data):
        if isinstance(value, int):
            continue
        if number == blobs_field:
            blobs.append(decode_blob(value))
        elif number in texts:
            texts[number] = value.tobytes().decode("utf-8", "replace")
    return StoredLayer(texts[name_field], texts.get(type_field, ""), tuple(blobs))
