"""``caffe.io``: images, and arrays as Caffe's messages.

Images are float32 arrays in [0, 1] of shape (height, width, channels), red first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import files
from engine.compat.caffe.interpolation import Floats, resize_image
from engine.compat.caffe.missing import ArrayError
from engine.compat.caffe.proto import caffe_pb2
from engine.compat.caffe.transformer import Transformer
from engine.data.unit_images import read_unit_image

__all__ = [
    "Transformer",
    "array_to_blobproto",
    "array_to_datum",
    "arraylist_to_blobprotovector_str",
    "blobproto_to_array",
    "blobprotovector_str_to_arraylist",
    "caffe_pb2",
    "datum_to_array",
    "flip_image",
    "load_image",
    "oversample",
    "resize_image",
]

_LEGACY_AXES = ("num", "channels", "height", "width")
_CROPS = 10


def load_image(filename: str | os.PathLike[str], color: bool = True) -> Floats:
    """Read an image file.

    Parameters
    ----------
    filename : path
    color : bool
        True for three channels whatever the file holds, False for one.

    Returns
    -------
    ndarray of float32, shape (height, width, 3) or (height, width, 1)
        In [0, 1]; see :func:`engine.data.unit_images.read_unit_image`.
    """
    return read_unit_image(Path(filename), color=color)


def oversample(images: Sequence[npt.NDArray[Any]], crop_dims: Sequence[int]) -> Floats:
    """Crop each image in its four corners and its centre, and mirror these.

    Parameters
    ----------
    images : sequence of ndarray, shape (height, width, channels)
        All of one size.
    crop_dims : sequence of 2 ints
        Height and width of a crop.

    Returns
    -------
    ndarray of float32, shape (10 * len(images), *crop_dims, channels)
        For each image: top left, top right, bottom left, bottom right, centre; then the same five mirrored.
    """
    height, width = (int(size) for size in crop_dims)
    rows, columns, channels = np.shape(images[0])
    if height > rows or width > columns:
        raise ArrayError(
            f"caffe.io.oversample: expected images of at least {height} x {width}, got {rows} x {columns}.",
            next_step="Resize the images first, or ask for smaller crops.",
        )
    corners = [(top, left) for top in (0, rows - height) for left in (0, columns - width)]
    places = [*corners, ((rows - height) // 2, (columns - width) // 2)]
    crops = np.empty((len(images), _CROPS, height, width, channels), np.float32)
    half = len(places)
    for image, of_image in zip(images, crops, strict=True):
        for crop, (top, left) in zip(of_image, places, strict=False):
            crop[...] = image[top : top + height, left : left + width]
        of_image[half:] = of_image[:half, :, ::-1]
    return crops.reshape(-1, height, width, channels)


def flip_image(im: npt.NDArray[Any], scale: float = 128, is_flow: bool = False) -> npt.NDArray[Any]:
    """Mirror an image left to right, as the fork for video (LRCN) does.

    Parameters
    ----------
    im : ndarray, shape (height, width, channels)
    scale : float
        For optical flow: the value from which that across, the first channel, is subtracted.
    is_flow : bool
        Whether the image is optical flow.
    """
    flipped = im[:, ::-1].copy()
    if is_flow:
        flipped[:, :, 0] = scale - flipped[:, :, 0]
    return flipped


def array_to_blobproto(arr: npt.NDArray[Any], diff: npt.NDArray[Any] | None = None) -> Any:
    """Return an array, and its gradient if given, as a ``BlobProto`` of float32 values."""
    data = np.asarray(arr, dtype=np.float32)
    return files.blob_to_proto(data, None if diff is None else np.asarray(diff, dtype=np.float32))


def blobproto_to_array(blob: Any, return_diff: bool = False) -> npt.NDArray[np.float64]:
    """Return the values, or the gradients, of a ``BlobProto`` in its shape.

    Returns
    -------
    ndarray of float64
        Of four axes where the message gives the numbers of old files.
    """
    kind = "diff" if return_diff else "data"
    values = np.array(getattr(blob, f"double_{kind}") or getattr(blob, kind), dtype=np.float64)
    legacy = any(blob.HasField(axis) for axis in _LEGACY_AXES)
    shape = tuple(getattr(blob, axis) for axis in _LEGACY_AXES) if legacy else tuple(blob.shape.dim)
    try:
        return values.reshape(shape)
    except ValueError:
        raise ArrayError(
            f"BlobProto: expected {kind} of shape {shape}, got {values.size} values.",
            next_step="Get the file again that it came from." if values.size else f"The message holds no {kind}.",
        ) from None


def arraylist_to_blobprotovector_str(arraylist: Iterable[npt.NDArray[Any]]) -> bytes:
    """Return arrays as a serialized ``BlobProtoVector``."""
    vector = caffe_pb2.BlobProtoVector()
    vector.blobs.extend(array_to_blobproto(array) for array in arraylist)
    return bytes(vector.SerializeToString())


def blobprotovector_str_to_arraylist(str: bytes) -> list[npt.NDArray[np.float64]]:
    """Return the arrays of a serialized ``BlobProtoVector``."""
    vector = caffe_pb2.BlobProtoVector.FromString(str)
    return [blobproto_to_array(blob) for blob in vector.blobs]


def array_to_datum(arr: npt.NDArray[Any], label: int | None = None) -> Any:
    """Return an array as a ``Datum`` message.

    Parameters
    ----------
    arr : ndarray of uint8 or float, shape (channels, height, width)
        Bytes are stored as bytes, floats as floats; other types are refused, for they would be stored as something
        else.
    label : int, optional

    Raises
    ------
    ArrayError
        If the array has another number of axes, or another type.
    """
    array = np.asarray(arr)
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise ArrayError(
            f"caffe.io.array_to_datum: expected an array of uint8 or float, got {array.dtype}.",
            next_step="Say which is meant: array.astype(numpy.uint8) or array.astype(numpy.float32).",
        )
    datum = files.array_to_datum(array)
    datum.ClearField("label")
    if label is not None:
        datum.label = int(label)
    return datum


def datum_to_array(datum: Any) -> npt.NDArray[Any]:
    """Return the values of a ``Datum`` as an array of shape (channels, height, width).

    Returns
    -------
    ndarray of uint8 or float64
    """
    array = files.datum_to_array(datum)
    return array if array.dtype == np.uint8 else array.astype(np.float64)
