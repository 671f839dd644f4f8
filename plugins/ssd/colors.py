"""Changing colours and contrast of images at random."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["distort", "from_hsv", "to_hsv"]

_SHIFT = 12  # hue and saturation are computed with fixed commas, as OpenCV does


def distort(image: Any, param: Any, rng: np.random.Generator) -> Any:
    """Change brightness, contrast, saturation, hue and the order of the channels (SSD's ``ApplyDistort``).

    Contrast is changed second or, as often, last but one.

    Parameters
    ----------
    image : ndarray of uint8, shape (3, height, width)
        Blue, green, red.
    param : DistortionParameter
    rng : Generator
    """
    early = rng.random() > 0.5
    image = _brightness(image, param, rng)
    if early:
        image = _contrast(image, param, rng)
    image = _saturation(image, param, rng)
    image = _hue(image, param, rng)
    if not early:
        image = _contrast(image, param, rng)
    if rng.random() < param.random_order_prob:
        image = image[rng.permutation(3)]
    return image


def _brightness(image: Any, param: Any, rng: np.random.Generator) -> Any:
    if rng.random() >= param.brightness_prob:
        return image
    return _bytes(image + np.float32(rng.uniform(-param.brightness_delta, param.brightness_delta)))


def _contrast(image: Any, param: Any, rng: np.random.Generator) -> Any:
    if rng.random() >= param.contrast_prob:
        return image
    factor = np.float32(rng.uniform(param.contrast_lower, param.contrast_upper))
    return _bytes(image * factor) if abs(factor - 1) > 1e-3 else image


def _saturation(image: Any, param: Any, rng: np.random.Generator) -> Any:
    if rng.random() >= param.saturation_prob:
        return image
    hsv = to_hsv(image)
    hsv[1] = _bytes(hsv[1] * np.float32(rng.uniform(param.saturation_lower, param.saturation_upper)))
    return from_hsv(hsv)


def _hue(image: Any, param: Any, rng: np.random.Generator) -> Any:
    if rng.random() >= param.hue_prob:
        return image
    delta = np.float32(rng.uniform(-param.hue_delta, param.hue_delta))
    if not delta:
        return image
    hsv = to_hsv(image)
    hsv[0] = _bytes(hsv[0] + delta)
    return from_hsv(hsv)


def to_hsv(image: Any) -> Any:
    """Return hue (0 to 179), saturation and value of (blue, green, red), all bytes (OpenCV's ``COLOR_BGR2HSV``)."""
    blue, green, red = image.astype(np.int32)
    value = np.maximum(np.maximum(blue, green), red)
    spread = value - np.minimum(np.minimum(blue, green), red)
    counts = np.maximum(np.arange(256), 1)
    of_value = np.rint((255 << _SHIFT) / counts).astype(np.int32)
    of_spread = np.rint((180 << _SHIFT) / (6.0 * counts)).astype(np.int32)
    half = 1 << (_SHIFT - 1)
    saturation = (spread * of_value[value] + half) >> _SHIFT
    hue = np.where(
        value == red, green - blue, np.where(value == green, blue - red + 2 * spread, red - green + 4 * spread)
    )
    hue = (hue * of_spread[spread] + half) >> _SHIFT
    hue += np.where(hue < 0, 180, 0)
    return np.stack((hue, saturation, value)).astype(np.uint8)


def from_hsv(image: Any) -> Any:
    """Return (blue, green, red) of hue, saturation and value (OpenCV's ``COLOR_HSV2BGR``)."""
    _, saturation, value = image.astype(np.float32)
    saturation, value = saturation / np.float32(255), value / np.float32(255)
    place = (np.arange(256, dtype=np.float32) * np.float32(6 / 180)) % np.float32(6)
    planes = []
    for start in (1, 3, 5):
        # how much a hue takes off this channel: nothing over a third of the circle, all over another
        turn = (place + np.float32(start)) % np.float32(6)
        taken = np.minimum(turn, 4 - turn).clip(0, 1)
        planes.append(value * (1 - saturation * taken[image[0]]))
    return _bytes(np.stack(planes) * np.float32(255))


def _bytes(values: Any) -> Any:
    return np.rint(values).clip(0, 255).astype(np.uint8)
