"""Resizing arrays of floats as the image libraries under pycaffe did it, without smoothing when an image shrinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.compat.caffe.missing import ArrayError

__all__ = ["resize_image"]

Floats = npt.NDArray[np.float32]
_Doubles = npt.NDArray[Any]
_Places = Callable[[int, int], _Doubles]

_COLOR_CHANNELS = (1, 3)  # these pycaffe gave to scikit-image, all others to scipy


def resize_image(im: npt.NDArray[np.generic], new_dims: Sequence[int], interp_order: int = 1) -> Floats:
    """Resize an image.

    Parameters
    ----------
    im : ndarray, shape (height, width, channels) or (height, width)
    new_dims : sequence of 2 ints
        New height and width.
    interp_order : {1, 0}
        1 to interpolate linearly along each axis, 0 to take the nearest pixel.

    Returns
    -------
    ndarray of float32, shape (*new_dims, channels) or new_dims

    Raises
    ------
    ArrayError
        For another order, or an array that is no image.

    Notes
    -----
    With one channel or three, pixel centres lie at ``i + 0.5``, and what lies outside counts as the image's smallest
    value, so that the outermost pixels of an enlarged image are darker (``skimage.transform.resize`` with
    ``mode='constant'``, as it was when Caffe's models were published: without ``anti_aliasing``). With any other
    number of channels the corner pixels stay in the corners (``scipy.ndimage.zoom``). Differences from these
    functions stay below 1e-6 of the image's range.
    """
    image = np.asarray(im)
    height, width = (int(size) for size in new_dims)
    if image.ndim not in (2, 3) or 0 in image.shape or min(height, width) < 1:
        raise ArrayError(
            f"caffe.io.resize_image: expected an image of shape (height, width, channels) and a new size, "
            f"got shape {image.shape} and {tuple(new_dims)}."
        )
    if interp_order not in (0, 1):
        raise ArrayError(
            f"caffe.io.resize_image: expected interp_order 0 or 1, got {interp_order}.",
            next_step="Resize with Pillow or scikit-image where a smoother curve is needed.",
        )
    values = image.astype(np.float64)
    low = values.min()
    values -= low
    places = _by_centres if image.ndim == 2 or image.shape[2] in _COLOR_CHANNELS else _by_corners
    along = _nearest if interp_order == 0 else _linear
    values = along(along(values, height, 0, places), width, 1, places)
    values += low
    return values.astype(np.float32)


def _by_centres(old: int, new: int) -> _Doubles:
    """Return where the new pixels lie in the old ones' counting, centre over centre of what they cover."""
    where: _Doubles = (np.arange(new) + 0.5) * (old / new) - 0.5
    return where


def _by_corners(old: int, new: int) -> _Doubles:
    """Return where the new pixels lie in the old ones' counting, first over first and last over last."""
    where: _Doubles = np.arange(new) * ((old - 1) / max(new - 1, 1))
    return where


def _linear(values: _Doubles, new: int, axis: int, places: _Places) -> _Doubles:
    """Interpolate along an axis; beyond both ends the values are 0."""
    old = values.shape[axis]
    if old == new:
        return values
    where = places(old, new)
    before = np.floor(where).astype(np.intp)
    share = where - before
    ends = np.stack((np.where(before >= 0, 1 - share, 0), np.where(before + 1 < old, share, 0)))
    first, second = ends.reshape(2, *(-1 if i == axis else 1 for i in range(values.ndim)))
    result: _Doubles = values.take(before.clip(0, old - 1), axis) * first
    result += values.take((before + 1).clip(0, old - 1), axis) * second
    return result


def _nearest(values: _Doubles, new: int, axis: int, places: _Places) -> _Doubles:
    old = values.shape[axis]
    return values.take(np.floor(places(old, new) + 0.5).astype(np.intp).clip(0, old - 1), axis)
