"""Image files (JPEG, PNG and what else Pillow reads) as Caffe's arrays."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.data.resizing import resize_bytes
from engine.errors import DataError

__all__ = ["Bytes", "decode_image", "read_image"]

Bytes = npt.NDArray[np.uint8]

_WIDE = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # modes of more than 8 bits
_GREY = ("1", "L", *_WIDE)
_DEEPEST = 65535


def decode_image(data: bytes, *, color: bool | None = None, height: int = 0, width: int = 0) -> Bytes:
    """Decode an image file held in memory.

    Parameters
    ----------
    data : bytes
        The file's contents.
    color : bool, optional
        True for three channels, False for one, None for as many as were stored, transparency included.
    height, width : int
        Size to which the image is resized, in pixels; 0 keeps it.

    Returns
    -------
    ndarray of uint8, shape (channels, height, width)
        Channels in the order blue, green, red, as Caffe has them. A picture that was taken with the camera turned is
        turned upright where ``color`` is given. (OpenCV's ``imdecode``, which Caffe calls.)

    Raises
    ------
    DataError
        If the bytes are not an image that can be read.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = _pixels(image, color)
    except Exception as error:  # decoders raise whatever they stumble over in damaged files
        reason = "no known kind of image" if isinstance(error, UnidentifiedImageError) else error
        what = "an empty file" if not data else f"{len(data)} bytes that cannot be decoded ({reason})"
        raise DataError(f"expected an encoded image, got {what}.") from error
    if height and width:
        pixels = resize_bytes(pixels, height, width)
    if pixels.ndim == 2:
        return pixels[np.newaxis]
    planes = np.empty((pixels.shape[2], *pixels.shape[:2]), np.uint8)
    for index in range(len(planes)):
        planes[index] = pixels[:, :, 2 - index if index < 3 else index]
    return planes


def read_image(path: Path, *, color: bool = True, height: int = 0, width: int = 0) -> Bytes:
    """Read an image file; parameters and result are those of :func:`decode_image`.

    Raises
    ------
    DataError
        If the file is missing or is no image; the message names it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"Image '{path}' cannot be read: {error.strerror or error}.") from error
    try:
        return decode_image(data, color=color, height=height, width=width)
    except DataError as error:
        raise DataError(f"Image '{path}': {error.message}", next_step="Replace the file, or leave it out.") from error


def _pixels(image: Any, color: bool | None) -> Bytes:
    """Return an opened image as (height, width) or (height, width, channels), red first."""
    if color is None:
        return _as_stored(image)
    if image.getexif().get(0x0112, 1) != 1:  # taken with the camera turned
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    if image.mode in _WIDE:
        grey = _eight_bits(image)
        return np.repeat(grey[:, :, np.newaxis], 3, axis=2) if color else grey
    if color:
        return np.asarray(image if image.mode == "RGB" else image.convert("RGB"), dtype=np.uint8)
    return _grey(image)


def _as_stored(image: Any) -> Bytes:
    if image.mode in _WIDE:
        raise ValueError("it has more than 8 bits a channel, which needs force_color or force_gray")
    if image.mode in _GREY:
        return np.asarray(image.convert("L"), dtype=np.uint8)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        return np.asarray(image.convert("RGBA"), dtype=np.uint8)
    return np.asarray(image.convert("RGB"), dtype=np.uint8)


def _grey(image: Any) -> Bytes:
    """Return one channel: JPEG's own brightness, or 0.299 red + 0.587 green + 0.114 blue."""
    if image.format == "JPEG":
        image.draft("L", image.size)
    if image.mode in ("1", "L", "LA"):
        return np.asarray(image.convert("L"), dtype=np.uint8)
    red, green, blue = np.moveaxis(np.asarray(image.convert("RGB"), dtype=np.uint8).astype(np.int32), 2, 0)
    if image.format == "PNG":  # its library rounds down
        return _bytes((9798 * red + 19235 * green + 3735 * blue) >> 15)
    return _bytes((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14)


def _eight_bits(image: Any) -> Bytes:
    """Return the upper 8 of 16 bits."""
    values = np.asarray(image)
    if values.dtype.kind == "f":
        return _bytes(np.rint(values).clip(0, 255))
    return _bytes(values.astype(np.int64).clip(0, _DEEPEST) >> 8)


def _bytes(values: npt.NDArray[Any]) -> Bytes:
    return values.astype(np.uint8)
