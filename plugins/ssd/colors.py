"""Changing colours and contrast of images at random."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["distort", "from_hsv", "from_ycrcb", "to_grey", "to_hsv", "to_lab", "to_ycrcb"]

_SHIFT = 12  # hue and saturation are computed with fixed commas, as OpenCV does
_PARTS = 14  # so are brightness and the differences of colour
_TO_XYZ = np.array(  # of linear blue, green, red; divided by the white point D65
    [[0.180423, 0.357580, 0.412453], [0.072169, 0.715160, 0.212671], [0.950227, 0.119193, 0.019334]], np.float64
) / np.array([[0.950456], [1.0], [1.088754]])


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


def to_grey(image: Any) -> Any:
    """Return the brightness of (blue, green, red) (OpenCV's ``COLOR_BGR2GRAY``)."""
    blue, green, red = image.astype(np.int32)
    return _shifted(4899 * red + 9617 * green + 1868 * blue).astype(np.uint8)


def to_ycrcb(image: Any) -> Any:
    """Return brightness and the differences of red and of blue to it (OpenCV's ``COLOR_BGR2YCrCb``)."""
    grey = to_grey(image).astype(np.int32)
    middle = 128 << _PARTS
    reds = _shifted((image[2] - grey) * 11682 + middle)
    blues = _shifted((image[0] - grey) * 9241 + middle)
    return np.stack((grey, reds, blues)).clip(0, 255).astype(np.uint8)


def from_ycrcb(image: Any) -> Any:
    """Return (blue, green, red) of brightness and differences (OpenCV's ``COLOR_YCrCb2BGR``)."""
    grey, reds, blues = image.astype(np.int32)
    reds, blues = reds - 128, blues - 128
    planes = (_shifted(29049 * blues), _shifted(-5636 * blues - 11698 * reds), _shifted(22987 * reds))
    return (grey + np.stack(planes)).clip(0, 255).astype(np.uint8)


def to_lab(image: Any) -> Any:
    """Return lightness (0 to 100) and the axes a and b of (blue, green, red), float32 (CIE 1976, of sRGB, white D65).

    OpenCV's ``COLOR_BGR2Lab`` of floats differs by less than 0.5, as it looks values up between others.
    """
    parts = np.arange(256) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)[image]
    x, y, z = np.tensordot(_TO_XYZ, linear, axes=1)
    roots = [np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116) for t in (x, y, z)]
    lightness = np.where(y > 0.008856, 116 * roots[1] - 16, 903.3 * y)
    return np.stack((lightness, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2]))).astype(np.float32)


def _shifted(values: Any) -> Any:
    """Divide by 2**14 and round."""
    return (values + (1 << _PARTS - 1)) >> _PARTS


def _bytes(values: Any) -> Any:
    return np.rint(values).clip(0, 255).astype(np.uint8)
