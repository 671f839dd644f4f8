"""Encoded images (JPEG, PNG and what else Pillow reads) as Caffe's arrays."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from engine.errors import DataError

__all__ = ["decode_image"]


def decode_image(data: bytes, *, color: bool | None = None) -> npt.NDArray[np.uint8]:
    """Decode an image file held in memory.

    Parameters
    ----------
    data : bytes
        The file's contents.
    color : bool, optional
        True for three channels, False for one, None for as many as were stored.

    Returns
    -------
    ndarray of uint8, shape (channels, height, width)
        Channels in the order blue, green, red, as Caffe has them.

    Raises
    ------
    DataError
        If the bytes are not an image that can be read.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            grey = image.mode in ("1", "L", "I", "I;16", "F") if color is None else not color
            pixels = np.asarray(image.convert("L" if grey else "RGB"), dtype=np.uint8)
    except (UnidentifiedImageError, OSError) as error:
        raise DataError(
            f"expected an encoded image, got {len(data)} bytes that cannot be decoded ({error})."
        ) from error
    if pixels.ndim == 2:
        return pixels[np.newaxis]
    return np.ascontiguousarray(pixels[:, :, ::-1].transpose(2, 0, 1))
