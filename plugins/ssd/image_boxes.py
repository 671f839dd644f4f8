"""Boxes on their way from an image that was resized to the image that it was."""

from __future__ import annotations

from typing import Any

import numpy as np
from boxes import areas

__all__ = ["clip_boxes", "project", "to_pixels"]

_FIT_SMALL, _FIT_LARGE = 2, 3  # ResizeParameter.Resize_mode


def clip_boxes(boxes: Any, height: float = 1, width: float = 1) -> Any:
    """Cut boxes at the edge of an image."""
    return np.minimum(np.maximum(boxes, 0), np.array([width, height, width, height], boxes.dtype))


def project(boxes: Any, window: Any) -> tuple[Any, Any]:
    """Return boxes in parts of a window, cut at its edge, and which of them lie in it.

    Parameters
    ----------
    boxes : ndarray, shape (G, 4)
    window : ndarray, shape (4,)
        In the same units.
    """
    sides = np.tile(window[2:] - window[:2], 2)
    meet = ((boxes[:, :2] < window[2:]) & (boxes[:, 2:] > window[:2])).all(axis=1)
    projected = clip_boxes((boxes - np.tile(window[:2], 2)) / sides)
    return projected, meet & (areas(projected) > 0)


def to_pixels(boxes: Any, height: int, width: int, resize: Any) -> Any:
    """Return boxes in pixels of the image as it was (SSD's ``OutputBBox``).

    Parameters
    ----------
    boxes : ndarray, shape (D, 4)
        In parts of the image as it was looked at.
    height, width : int
        Size of the image as it was.
    resize : ResizeParameter or None
        What was done to it.
    """
    scale = np.array([width, height, width, height], boxes.dtype)
    if resize is None or resize.resize_mode not in (_FIT_SMALL, _FIT_LARGE):
        return clip_boxes(boxes) * scale
    if resize.resize_mode == _FIT_SMALL:
        if not (resize.height_scale and resize.width_scale):
            return clip_boxes(boxes) * scale
        seen = np.array([resize.width_scale, resize.height_scale] * 2, boxes.dtype)
        return clip_boxes(boxes * seen, height, width)
    aspect, wanted = width / height, resize.width / resize.height
    window = np.array([0, 0, 1, 1], boxes.dtype)
    if aspect > wanted:
        bar = (resize.height - resize.width / aspect) / 2 / resize.height
        window[1], window[3] = bar, 1 - bar
    else:
        bar = (resize.width - resize.height * aspect) / 2 / resize.width
        window[0], window[2] = bar, 1 - bar
    return project(boxes, window)[0] * scale
