"""Images as ``scipy.misc`` once read, resized and wrote them, for old layers that import it.

Names, arguments and results are those of SciPy 1.1, the last version that had them all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

__all__ = ["bytescale", "fromimage", "imread", "imresize", "imrotate", "imsave", "toimage"]

_KINDS = {
    "nearest": Image.Resampling.NEAREST,
    "lanczos": Image.Resampling.LANCZOS,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "cubic": Image.Resampling.BICUBIC,
}


def bytescale(
    data: npt.ArrayLike, cmin: float | None = None, cmax: float | None = None, high: int = 255, low: int = 0
) -> npt.NDArray[np.uint8]:
    """Scale values linearly to bytes from ``low`` to ``high``; bytes stay as they are."""
    values = np.asarray(data)
    if values.dtype == np.uint8:
        return values
    least = values.min() if cmin is None else cmin
    most = values.max() if cmax is None else cmax
    scale = float(high - low) / (float(most - least) or 1.0)
    scaled = (values.astype(np.float64) - least) * scale + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def toimage(arr: npt.ArrayLike, mode: str | None = None, **limits: Any) -> Image.Image:
    """Return an image of a grey (H, W) or coloured (H, W, 3 or 4) array."""
    values = np.asarray(arr)
    if mode == "F":
        return Image.fromarray(values.astype(np.float32))
    image = Image.fromarray(bytescale(values, **limits))
    return image if mode is None else image.convert(mode)


def fromimage(im: Image.Image, flatten: bool = False, mode: str | None = None) -> npt.NDArray[Any]:
    """Return the values of an image; in grey as float32 with ``flatten``."""
    if mode is not None:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    return np.array(im)


def imread(name: str | Path, flatten: bool = False, mode: str | None = None) -> npt.NDArray[Any]:
    """Read an image file."""
    with Image.open(name) as image:
        return fromimage(image, flatten=flatten, mode=mode)


def imsave(name: str | Path, arr: npt.ArrayLike, format: str | None = None) -> None:
    """Write an image file."""
    toimage(arr).save(name, format)


def imresize(arr: npt.ArrayLike, size: Any, interp: str = "bilinear", mode: str | None = None) -> npt.NDArray[Any]:
    """Resize an image by a percentage (int), a factor (float) or to (height, width)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, int | np.integer):
        wanted = (int(image.width * size / 100.0), int(image.height * size / 100.0))
    elif isinstance(size, float | np.floating):
        wanted = (int(image.width * float(size)), int(image.height * float(size)))
    else:
        wanted = (int(size[1]), int(size[0]))
    return fromimage(image.resize(wanted, resample=_KINDS[interp]))


def imrotate(arr: npt.ArrayLike, angle: float, interp: str = "bilinear") -> npt.NDArray[Any]:
    """Rotate an image counter-clockwise by degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=_KINDS[interp]))
