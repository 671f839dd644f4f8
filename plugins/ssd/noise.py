"""Noise on images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from colors import from_ycrcb, to_grey, to_hsv, to_lab, to_ycrcb
from equalizing import equalize, equalize_parts

from engine.api import Layer

__all__ = ["add_noise", "check_noise"]

_STEP = 64  # of colours, with posterize
_BLUR = (9, 29, 55, 70, 55, 29, 9)  # a Gaussian with a deviation of 1.5 pixels, in parts of 256
_COLOURED = ("decolorize", "convert_to_hsv", "convert_to_lab")


def check_noise(layer: Layer, param: Any) -> None:
    """Refuse values that :func:`add_noise` cannot use."""
    values = len(param.saltpepper_param.value)
    if values not in (0, 1, 3):
        layer.fail(
            f"expected one value, or one for each of 3 channels, in saltpepper_param, got {values}.",
            next_step="Correct it in noise_param.",
        )


def add_noise(layer: Layer, image: Any, param: Any) -> Any:
    """Put noise on an image (SSD's ``ApplyNoise``), always: as there, ``prob`` is not looked at.

    Parameters
    ----------
    layer : Layer
        Its stream is drawn from, and its errors are raised.
    image : ndarray of uint8, shape (channels, height, width)
        One channel, or blue, green and red.
    param : NoiseParameter

    Returns
    -------
    ndarray, shape (channels, height, width)
        Of float32 with ``convert_to_lab``, else of uint8.
    """
    _check_channels(layer, image, param)
    if param.decolorize:
        image = np.repeat(to_grey(image)[np.newaxis], 3, axis=0)
    if param.gauss_blur:
        image = _blurred(image)
    if param.hist_eq:
        image = _brightness_through(equalize, image)
    if param.clahe:
        image = _brightness_through(equalize_parts, image)
    if param.jpeg > 0:
        data = layer.context.encode_image(image, "jpg", quality=min(max(int(param.jpeg), 1), 100))
        image = layer.context.decode_image(data, color=len(image) == 3)
    if param.erode:
        image = _eroded(image)
    if param.posterize:
        image = image // _STEP * _STEP + np.uint8(_STEP // 2)
    if param.inverse:
        image = ~image
    if param.saltpepper:
        image = _salted(image, param.saltpepper_param, layer.rng)
    if param.convert_to_hsv:
        image = to_hsv(image)
    return to_lab(image) if param.convert_to_lab else image


def _check_channels(layer: Layer, image: Any, param: Any) -> None:
    asked = [name for name in _COLOURED if getattr(param, name)]
    if len(image) not in (1, 3) or (asked and len(image) != 3):
        layer.fail(
            f"expected images of 3 channels with {', '.join(asked) or 'noise_param'}, got {len(image)}.",
            next_step="Set force_color in transform_param, or remove that noise.",
        )


def _brightness_through(change: Callable[[Any], Any], image: Any) -> Any:
    """Return an image whose brightness went through a function of planes."""
    if len(image) == 1:
        return change(image[0])[np.newaxis]
    planes = to_ycrcb(image)
    planes[0] = change(planes[0])
    return from_ycrcb(planes)


def _blurred(image: Any) -> Any:
    """Return the image under a Gaussian of 7 x 7 pixels, mirrored at its edge (OpenCV's ``GaussianBlur``)."""
    _, height, width = image.shape
    sums: Any = np.pad(image, ((0, 0), (3, 3), (3, 3)), "reflect").astype(np.int32)
    sums = sum(w * sums[:, :, i : i + width] for i, w in enumerate(_BLUR))
    sums = sum(w * sums[:, i : i + height] for i, w in enumerate(_BLUR))
    return ((sums + (1 << 15)) >> 16).astype(np.uint8)


def _eroded(image: Any) -> Any:
    """Return the least values over crosses of 5 pixels, which are OpenCV's ellipses of 3 x 3."""
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)), constant_values=255)
    across = np.minimum(np.minimum(padded[:, 1:-1, :-2], padded[:, 1:-1, 2:]), padded[:, 1:-1, 1:-1])
    return np.minimum(across, np.minimum(padded[:, :-2, 1:-1], padded[:, 2:, 1:-1]))


def _salted(image: Any, param: Any, rng: np.random.Generator) -> Any:
    channels, height, width = image.shape
    count = int(np.floor(np.float32(param.fraction) * np.float32(width) * np.float32(height)))
    values = np.resize(np.array(param.value or [0], np.float32), channels).astype(np.uint8)
    image = image.copy()
    image[:, rng.integers(height, size=count), rng.integers(width, size=count)] = values[:, np.newaxis]
    return image
