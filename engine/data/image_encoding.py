"""Caffe's arrays as image files, to be stored in databases."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from engine.errors import DataError

__all__ = ["encode_image"]

_JPEG_QUALITY = 95  # OpenCV's
_COMMON = "png, jpg, bmp, tif or webp"


def encode_image(image: npt.NDArray[np.uint8], kind: str, *, quality: int = _JPEG_QUALITY) -> bytes:
    """Return the content of an image file.

    Parameters
    ----------
    image : ndarray of uint8, shape (channels, height, width)
        One channel, or three in the order blue, green, red.
    kind : str
        Ending of the file's name without the dot, in any case.
    quality : int
        Of a JPEG file, 1 to 100.

    Raises
    ------
    DataError
        If files of that kind cannot be written.
    """
    from PIL import Image

    name = Image.registered_extensions().get(f".{kind.lower()}", "")
    pixels = image[0] if image.shape[0] == 1 else np.ascontiguousarray(image[::-1].transpose(1, 2, 0))
    target = io.BytesIO()
    try:
        if name not in Image.SAVE:
            raise KeyError(kind)
        Image.fromarray(pixels).save(target, format=name, **({"quality": quality} if name == "JPEG" else {}))
    except (KeyError, OSError, ValueError) as error:
        raise DataError(
            f"Images cannot be encoded as '{kind}'.", next_step=f"Choose another --encode_type, such as {_COMMON}."
        ) from error
    return target.getvalue()
