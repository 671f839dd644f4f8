"""An image with the boxes of its objects, and what is done to both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from boxes import areas
from image_boxes import clip_boxes, project
from resizing import LINEAR, pad_to, resize

__all__ = ["AnnotatedImage", "crop", "expand", "move_boxes", "resize_image", "resized_boxes", "resized_size"]

_FIT_SMALL, _FIT_LARGE = 2, 3  # ResizeParameter.Resize_mode
_MIN_OVERLAP = 1  # EmitConstraint.EmitType


@dataclass(frozen=True, slots=True)
class AnnotatedImage:
    """An image with its objects.

    Attributes
    ----------
    pixels : ndarray of uint8, shape (channels, height, width)
    boxes : ndarray of float32, shape (G, 4)
        In parts of the image's width and height.
    facts : ndarray of float32, shape (G, 3)
        Label, number of the instance, and whether it is hard to recognize.
    """

    pixels: Any
    boxes: Any
    facts: Any


def move_boxes(image: AnnotatedImage, window: Any, constraint: Any | None) -> AnnotatedImage:
    """Return the image with its boxes in parts of a window, without those that are not kept.

    Parameters
    ----------
    image : AnnotatedImage
        Its pixels stay.
    window : ndarray of float32, shape (4,)
        In parts of the image.
    constraint : EmitConstraint or None
        Which boxes are kept: those whose centre lies in the window, or whose area does in part; all that reach into
        it where there is none.
    """
    projected, kept = project(image.boxes, window)
    if constraint is not None:
        kept &= _emitted(image.boxes, window, constraint)
    return replace(image, boxes=projected[kept], facts=image.facts[kept])


def crop(image: AnnotatedImage, patch: Any, constraint: Any | None) -> AnnotatedImage:
    """Cut a patch out, given in parts of the image (SSD's ``CropImage``)."""
    _, height, width = image.pixels.shape
    window = clip_boxes(patch)
    left, upper, right, lower = window * np.array([width, height, width, height], np.float32)
    x, y = int(left), int(upper)
    wide, high = max(int(right - left), 1), max(int(lower - upper), 1)
    moved = move_boxes(image, window, constraint)
    return replace(moved, pixels=image.pixels[:, y : y + high, x : x + wide])


def expand(
    image: AnnotatedImage, ratio: float, fill: Any, constraint: Any | None, rng: np.random.Generator
) -> AnnotatedImage:
    """Put an image somewhere into one that is larger by a factor (SSD's ``ExpandImage``).

    ``fill`` has the bytes around it, shape (channels,).
    """
    channels, height, width = image.pixels.shape
    high, wide = int(np.float32(height) * np.float32(ratio)), int(np.float32(width) * np.float32(ratio))
    y, x = int(rng.uniform(0, high - height)), int(rng.uniform(0, wide - width))
    larger = np.empty((channels, high, wide), np.uint8)
    larger[...] = fill[:, np.newaxis, np.newaxis]
    larger[:, y : y + height, x : x + width] = image.pixels
    window = np.array([-x / width, -y / height, (wide - x) / width, (high - y) / height], np.float32)
    return replace(move_boxes(image, window, constraint), pixels=larger)


def resized_size(param: Any, height: int, width: int) -> tuple[int, int]:
    """Return height and width after ``resize_param`` (SSD's ``InferNewSize``)."""
    high, wide = int(param.height), int(param.width)
    if param.resize_mode == _FIT_SMALL:
        aspect = np.float32(width) / np.float32(height)
        if aspect < np.float32(wide) / np.float32(high):
            high = int(np.float32(wide) / aspect)
        else:
            wide = int(aspect * np.float32(high))
    return high, wide


def resize_image(pixels: Any, param: Any, rng: np.random.Generator) -> Any:
    """Resize as ``resize_param`` says (SSD's ``ApplyResize``); of several interpolations one is drawn."""
    modes = list(param.interp_mode) or [LINEAR]
    mode = modes[int(rng.integers(len(modes)))] if len(modes) > 1 else modes[0]
    channels, height, width = pixels.shape
    high, wide = resized_size(param, height, width)
    if param.resize_mode != _FIT_LARGE:
        return resize(pixels, high, wide, mode)
    aspect = np.float32(width) / np.float32(height)
    if aspect > np.float32(wide) / np.float32(high):
        inner = (max(int(np.float32(wide) / aspect), 1), wide)
    else:
        inner = (high, max(int(aspect * np.float32(high)), 1))
    values = np.resize(np.array(param.pad_value or [0], np.float32), channels)
    return pad_to(resize(pixels, *inner, mode), high, wide, param.pad_mode, values)


def resized_boxes(boxes: Any, param: Any, height: int, width: int) -> Any:
    """Return boxes in parts of the resized image (SSD's ``UpdateBBoxByResizePolicy``)."""
    # part of the new image's width and height that the old image fills
    inner = np.ones(2, np.float32)
    if param.resize_mode == _FIT_LARGE:
        aspect, wanted = width / height, param.width / param.height
        inner[:] = (1, wanted / aspect) if aspect > wanted else (aspect / wanted, 1)
    start = (1 - inner) / 2
    low = start + np.maximum(boxes[:, :2] * inner, 0)
    return np.concatenate((low, start + np.minimum(boxes[:, 2:] * inner, 1)), axis=1)


def _emitted(boxes: Any, window: Any, constraint: Any) -> Any:
    """Return which boxes an ``EmitConstraint`` keeps."""
    if constraint.emit_type != _MIN_OVERLAP:
        centres = (boxes[:, :2] + boxes[:, 2:]) / 2
        return ((centres >= window[:2]) & (centres <= window[2:])).all(axis=1)
    start, end = np.maximum(boxes[:, :2], window[:2]), np.minimum(boxes[:, 2:], window[2:])
    shared = np.where((end >= start).all(axis=1), (end - start).prod(axis=1), 0)
    return np.divide(shared, areas(boxes), out=np.zeros_like(shared), where=shared > 0) > constraint.emit_overlap
