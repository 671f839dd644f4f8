"""Noise on images."""

from __future__ import annotations

from typing import Any

import numpy as np
from colors import to_hsv

from engine.api import Layer

__all__ = ["add_noise", "check_noise"]

_LEFT_OUT = ("clahe", "convert_to_lab", "hist_eq")
_STEP = 64  # of colours, with posterize


def check_noise(layer: Layer, param: Any) -> None:
    """Refuse what :func:`add_noise` does not have."""
    wanted = [name for name in _LEFT_OUT if getattr(param, name)]
    if param.jpeg > 0:
        wanted.append("jpeg")
    if wanted:
        layer.fail(f"noise_param: {', '.join(wanted)} is not offered.", next_step="Remove it from the net.")


def add_noise(image: Any, param: Any, rng: np.random.Generator) -> Any:
    """Put noise on an image (SSD's ``ApplyNoise``), always: as there, ``prob`` is not looked at.

    Parameters
    ----------
    image : ndarray of uint8, shape (channels, height, width)
    param : NoiseParameter
    rng : Generator
    """
    if param.decolorize:
        image = np.repeat(_grey(image)[np.newaxis], 3, axis=0)
    if param.gauss_blur:
        image = _blurred(image)
    if param.erode:
        # over a cross, which is OpenCV's ellipse of 3 x 3 pixels
        padded = np.pad(image, ((0, 0), (1, 1), (1, 1)), constant_values=255)
        across = np.minimum(np.minimum(padded[:, 1:-1, :-2], padded[:, 1:-1, 2:]), padded[:, 1:-1, 1:-1])
        image = np.minimum(across, np.minimum(padded[:, :-2, 1:-1], padded[:, 2:, 1:-1]))
    if param.posterize:
        image = image // _STEP * _STEP + np.uint8(_STEP // 2)
    if param.inverse:
        image = ~image
    if param.saltpepper:
        image = _salted(image, param.saltpepper_param, rng)
    return to_hsv(image) if param.convert_to_hsv else image


def _grey(image: Any) -> Any:
    blue, green, red = image.astype(np.int32)
    return ((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14).astype(np.uint8)


def _blurred(image: Any) -> Any:
    """Return the image under a Gaussian of 7 x 7 pixels with a deviation of 1.5, mirrored at its edge."""
    reach = np.arange(-3, 4)
    weights = np.exp(-(reach**2) / (2 * 1.5**2))
    weights /= weights.sum()
    padded = np.pad(image.astype(np.float64), ((0, 0), (3, 3), (3, 3)), "reflect")
    down = sum(w * padded[:, i : i + image.shape[1]] for i, w in enumerate(weights))
    across = sum(w * down[:, :, i : i + image.shape[2]] for i, w in enumerate(weights))
    return np.rint(across).clip(0, 255).astype(np.uint8)


def _salted(image: Any, param: Any, rng: np.random.Generator) -> Any:
    channels, height, width = image.shape
    count = int(np.floor(param.fraction * height * width))
    values = np.resize(np.array(param.value or [0], np.float32), channels).astype(np.uint8)
    image = image.copy()
    image[:, rng.integers(height, size=count), rng.integers(width, size=count)] = values[:, np.newaxis]
    return image
