"""Image files as floats between 0 and 1, red first, as Python's image libraries hand them to scripts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import DataError

__all__ = ["read_unit_image"]

Floats = npt.NDArray[np.float32]

_RED_GREEN_BLUE = np.array([0.2125, 0.7154, 0.0721])  # ITU-R BT.709 luma, as scikit-image rounds it
_GREY_MODES = ("1", "L", "I", "I;16", "I;16B", "I;16L", "I;16N", "F")
_DEEPEST = 65535


def read_unit_image(path: Path, *, color: bool = True) -> Floats:
    """Read an image file.

    Parameters
    ----------
    path : Path
    color : bool
        True for three channels, a grey picture's being alike; False for one, of luma 0.2125 red + 0.7154 green +
        0.0721 blue.

    Returns
    -------
    ndarray of float32, shape (height, width, 3) or (height, width, 1)
        Values in [0, 1]: 8-bit ones divided by 255, 16-bit ones by 65535. Transparency is dropped. A picture that was
        taken with the camera turned stays as it is stored.

    Raises
    ------
    OSError
        If the file is missing or not for us to read.
    DataError
        If it is no image.
    """
    from PIL import Image, UnidentifiedImageError

    data = path.read_bytes()
    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = _pixels(image)
    except Exception as error:  # decoders raise whatever they stumble over in damaged files
        reason = "no known kind of image" if isinstance(error, UnidentifiedImageError) else error
        raise DataError(f"Image '{path}' cannot be decoded: {reason}.", next_step="Replace the file.") from error
    if pixels.ndim == 2:
        return np.repeat(pixels[:, :, np.newaxis], 3 if color else 1, axis=2)
    if color:
        return pixels
    grey: Floats = (pixels @ _RED_GREEN_BLUE).astype(np.float32)[:, :, np.newaxis]
    return grey


def _pixels(image: Any) -> Floats:
    """Return an opened image as (height, width) or (height, width, 3)."""
    if image.mode == "1":
        image = image.convert("L")
    elif image.mode not in (*_GREY_MODES, "RGB"):
        image = image.convert("RGB")
    values = np.asarray(image)
    if values.dtype.kind == "f":
        return values.astype(np.float32)
    largest = 255 if values.dtype == np.uint8 else _DEEPEST
    return values.astype(np.float32) / np.float32(largest)
