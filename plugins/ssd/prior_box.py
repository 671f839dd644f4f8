"""Boxes of given sizes and forms around each position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Blob, Layer

__all__ = ["PriorBoxLayer"]

_SAME = 1e-6  # ratios that differ by less are one
_VARIANCE = 0.1


class PriorBoxLayer(Layer):
    """Prior boxes (SSD's ``PriorBoxLayer``; Liu et al. 2016, section 2.2).

    Bottoms: features ``(N, C, H, W)``, and the images, whose size counts unless ``img_size``, or ``img_h`` and
    ``img_w``, is set. Top: ``(1, 2, H * W * boxes * 4)``: corners xmin, ymin, xmax, ymax in parts of the image's width
    and height, then their variances. Only shapes are looked at, and no gradient passes.

    The boxes at a position: for each ``min_size`` the square of that side, the square with the geometric mean of
    ``min_size`` and ``max_size`` where there is one, then the other ratios. Sizes are cut to whole pixels.
    """

    type = "PriorBox"
    host_arrays = True

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``prior_box_param``."""
        param = self.layer_param.prior_box_param
        self.clip, self.offset = bool(param.clip), float(param.offset)
        self.sizes = self._box_sizes(param)
        self.variance = [float(value) for value in param.variance] or [_VARIANCE]
        if len(self.variance) not in (1, 4) or min(self.variance) <= 0:
            self.fail(f"expected one variance above 0, or four, got {self.variance}.", next_step="Set 1 or 4 of them.")
        self.image = self._pair(param, "img_size", "img_h", "img_w", "pixels")
        self.step = self._pair(param, "step", "step_h", "step_w", "pixels")
        if self.image is None and len(bottom) < 2:
            self.fail("expected img_size or a second bottom, got neither.", next_step="Connect the images.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Two rows of four numbers for each box."""
        if bottom[0].axes != 4:
            self.fail_shape(f"expected features of shape (N, C, H, W), got {bottom[0].shape}.", bottom=0)
        top[0].reshape(1, 2, bottom[0].height * bottom[0].width * len(self.sizes) * 4)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Write corners and variances."""
        rows, columns = bottom[0].height, bottom[0].width
        high, wide = self.image or (bottom[1].height, bottom[1].width)
        step_h, step_w = self.step or (np.float32(high) / np.float32(rows), np.float32(wide) / np.float32(columns))
        y = (np.arange(rows, dtype=np.float32) + np.float32(self.offset)) * np.float32(step_h)
        x = (np.arange(columns, dtype=np.float32) + np.float32(self.offset)) * np.float32(step_w)
        boxes = np.empty((rows, columns, len(self.sizes), 4))
        half = self.sizes.astype(np.float64) / 2
        boxes[..., 0] = (x[np.newaxis, :, np.newaxis] - half[:, 0]) / wide
        boxes[..., 1] = (y[:, np.newaxis, np.newaxis] - half[:, 1]) / high
        boxes[..., 2] = (x[np.newaxis, :, np.newaxis] + half[:, 0]) / wide
        boxes[..., 3] = (y[:, np.newaxis, np.newaxis] + half[:, 1]) / high
        if self.clip:
            boxes.clip(0, 1, out=boxes)
        top[0].data[0, 0] = boxes.ravel()
        top[0].data[0, 1].reshape(-1, len(self.variance))[...] = self.variance

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing passes: only shapes were looked at."""
        for wanted, blob in zip(propagate_down, bottom, strict=True):
            if wanted:
                blob.diff[...] = 0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """No bottom has a gradient."""
        return False

    def _box_sizes(self, param: Any) -> Any:
        """Return width and height of the boxes at a position, shape (boxes, 2), float32."""
        least, largest = [int(size) for size in param.min_size], [int(size) for size in param.max_size]
        if not param.min_size or min(param.min_size) <= 0:
            self.fail("expected a min_size above 0.", next_step="Set min_size in prior_box_param.")
        if largest and (
            len(largest) != len(least) or any(a <= b for a, b in zip(param.max_size, param.min_size, strict=True))
        ):
            self.fail(
                f"expected no max_size, or a larger one for each of {len(least)} min_size, "
                f"got {[float(size) for size in param.max_size]}.",
                next_step="Give one max_size for each min_size.",
            )
        ratios = [np.float32(1)]
        for ratio in map(np.float32, param.aspect_ratio):
            if all(abs(ratio - other) >= _SAME for other in ratios):
                ratios += [ratio, np.float32(1 / ratio)] if param.flip else [ratio]
        sizes = []
        for index, side in enumerate(least):
            sizes.append((side, side))
            if largest:
                sizes.append((np.sqrt(side * largest[index]),) * 2)
            others = [ratio for ratio in ratios if abs(ratio - 1) >= _SAME]
            sizes += [(side * np.sqrt(ratio), side / np.sqrt(ratio)) for ratio in others]
        return np.array(sizes, np.float32)

    def _pair(self, param: Any, both: str, high: str, wide: str, unit: str) -> tuple[float, float] | None:
        """Return height and width given by one field or by two, or None where neither is."""
        apart = param.HasField(high) or param.HasField(wide)
        if not apart and not param.HasField(both):
            return None
        if apart and param.HasField(both):
            self.fail(f"expected {both}, or {high} and {wide}, got both.", next_step=f"Remove {both}.")
        values = (getattr(param, high), getattr(param, wide)) if apart else (getattr(param, both),) * 2
        if min(values) <= 0:
            step = f"Set {high} and {wide}, in {unit}."
            self.fail(f"expected sizes above 0, got {values[0]:g} and {values[1]:g}.", next_step=step)
        return values
