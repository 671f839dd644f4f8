"""Regions worth a closer look, from scores and offsets of anchors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Blob, Layer, Phase

__all__ = ["ProposalLayer", "make_anchors", "move_boxes", "suppress"]

_RATIOS = (0.5, 1.0, 2.0)
_SCALES = (8.0, 16.0, 32.0)
_BLOCK = 256  # boxes that are compared with each other at once


class ProposalLayer(Layer):
    """Proposals of a region proposal network (Faster R-CNN's proposal layer; Ren et al. 2015, section 3.3).

    Bottoms: scores ``(N, 2 * A, H, W)``, background first, offsets ``(N, 4 * A, H, W)``, and image sizes, a row
    (height, width, scale) for each image, or one for all; a fourth column is the scale across, where it differs.
    Tops: regions ``(R, 5)`` as rows (image, x1, y1, x2, y2), and their scores ``(R, 1)`` if there is a second one.

    The anchors at a position are ordered by ratio, then by scale. A box is moved by its offsets, cut at the edge of the
    image, and left out where a side is shorter than ``min_size`` times the scale. Of the ``pre_nms_topn`` best, those
    that overlap a better one by more than ``nms_thresh`` are left out, and the ``post_nms_topn`` best of the rest are
    the regions of that image. Corners belong to a box: it is ``x2 - x1 + 1`` wide. No gradient passes.
    """

    type = "Proposal"
    host_arrays = True

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``proposal_param`` and make the anchors of one position."""
        param = self.layer_param.proposal_param
        self.stride, self.least = int(param.feat_stride), float(param.min_size)
        self.before, self.after = int(param.pre_nms_topn), int(param.post_nms_topn)
        if self.phase == Phase.TRAIN:
            self.before = int(param.train_pre_nms_topn) if param.HasField("train_pre_nms_topn") else self.before
            self.after = int(param.train_post_nms_topn) if param.HasField("train_post_nms_topn") else self.after
        self.threshold = float(param.nms_thresh)
        self.anchors = make_anchors(int(param.base_size), list(param.ratio) or _RATIOS, list(param.scale) or _SCALES)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check the shapes; the number of regions is known after the forward pass."""
        scores, offsets, sizes = bottom
        count = len(self.anchors)
        for index, (blob, times) in enumerate(((scores, 2), (offsets, 4))):
            if blob.axes != 4 or blob.shape[1] != times * count:
                self.fail_shape(
                    f"expected shape (N, {times} * {count} anchors, H, W), got {blob.shape}.",
                    bottom=index,
                    next_step="Let ratio and scale fit the layer before.",
                )
        if scores.shape[0] != offsets.shape[0] or scores.shape[2:] != offsets.shape[2:]:
            self.fail_shape(f"expected the size of the scores, {scores.shape}, got {offsets.shape}.", bottom=1)
        if sizes.axes < 2 or sizes.shape[0] not in (1, scores.shape[0]) or sizes.count < 3 * sizes.shape[0]:
            self.fail_shape(
                f"expected one row (height, width, scale) for each of {scores.shape[0]} images, got {sizes.shape}.",
                bottom=2,
            )
        if top[0].axes != 2:
            top[0].reshape(1, 5)
            if len(top) > 1:
                top[1].reshape(1, 1)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Propose regions image by image."""
        sizes = bottom[2].data.reshape(bottom[2].shape[0], -1)
        regions, scores = [], []
        for image in range(bottom[0].shape[0]):
            size = sizes[min(image, len(sizes) - 1)]
            boxes, values = self._propose(bottom[0].data[image], bottom[1].data[image], size)
            regions.append(np.insert(boxes, 0, image, axis=1))
            scores.append(values)
        rows = np.concatenate(regions)
        top[0].reshape(rows.shape)
        top[0].data[...] = rows
        if len(top) > 1:
            top[1].reshape(len(rows), 1)
            top[1].data[...] = np.concatenate(scores)[:, np.newaxis]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing passes: where the boxes lie is taken as given."""
        for wanted, blob in zip(propagate_down, bottom, strict=True):
            if wanted:
                blob.diff[...] = 0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """No bottom has a gradient."""
        return False

    def _propose(self, scores: Any, offsets: Any, size: Any) -> tuple[Any, Any]:
        """Return boxes (R, 4) and scores (R,) of one image."""
        count = len(self.anchors)
        height, width = scores.shape[1:]
        dtype = scores.dtype.type
        values = scores[count:].transpose(1, 2, 0).ravel()
        y, x = np.meshgrid(np.arange(height) * self.stride, np.arange(width) * self.stride, indexing="ij")
        shifts = np.stack((x, y, x, y), axis=-1)[:, :, np.newaxis]
        anchors = (shifts + self.anchors).reshape(-1, 4).astype(dtype)
        boxes = move_boxes(anchors, offsets.reshape(count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4))
        edge = size[[1, 0, 1, 0]] - 1
        boxes = np.maximum(np.minimum(boxes, edge), 0)
        least_high = dtype(self.least) * size[2]
        least_wide = dtype(self.least) * (size[3] if len(size) > 3 else size[2])
        large = (boxes[:, 2] - boxes[:, 0] + 1 >= least_wide) & (boxes[:, 3] - boxes[:, 1] + 1 >= least_high)
        boxes, values = boxes[large], values[large]
        order = np.argsort(-values, kind="stable")[: self.before or None]
        boxes, values = boxes[order], values[order]
        kept = suppress(boxes, self.threshold, self.after)
        return boxes[kept], values[kept]


def make_anchors(base_size: int, ratios: Sequence[float], scales: Sequence[float]) -> Any:
    """Return the anchors of one position, shape (ratios * scales, 4), as x1, y1, x2, y2 around a square at the origin.

    Width and height of a ratio are rounded to whole pixels before they are scaled (``generate_anchors`` of
    py-faster-rcnn).
    """
    centre = 0.5 * (base_size - 1)
    ratio = np.asarray(ratios, np.float64)
    widths = np.rint(np.sqrt(base_size * base_size / ratio))
    heights = np.rint(widths * ratio)
    sides = np.stack((widths, heights), axis=1)[:, np.newaxis] * np.asarray(scales, np.float64)[:, np.newaxis]
    reach = 0.5 * (sides.reshape(-1, 2) - 1)
    return np.concatenate((centre - reach, centre + reach), axis=1)


def move_boxes(boxes: Any, offsets: Any) -> Any:
    """Move boxes by offsets (x, y, log width, log height), relative to their size; both (R, 4)."""
    sides = boxes[:, 2:] - boxes[:, :2] + 1
    centres = boxes[:, :2] + 0.5 * sides
    centres = offsets[:, :2] * sides + centres
    half = 0.5 * (np.exp(offsets[:, 2:]) * sides)
    return np.concatenate((centres - half, centres + half), axis=1)


def suppress(boxes: Any, threshold: float, most: int = 0) -> list[int]:
    """Return the indices of the boxes that overlap no better one by more than a threshold.

    The boxes of a block are compared with those kept before, and what is left of them with each other, all at once.

    Parameters
    ----------
    boxes : ndarray, shape (R, 4)
        The best first.
    threshold : float
        Intersection over union.
    most : int
        How many to return; 0 for all.
    """
    boxes = np.ascontiguousarray(boxes.T)
    kept: list[int] = []
    for start in range(0, boxes.shape[1], _BLOCK):
        block = boxes[:, start : start + _BLOCK]
        left = np.arange(block.shape[1])
        if kept:
            left = left[(_overlaps(boxes[:, kept], block) <= threshold).all(axis=0)]
        near = _overlaps(block[:, left], block[:, left]) > threshold
        gone = np.zeros(len(left), bool)
        for place, index in enumerate(left):
            if gone[place]:
                continue
            kept.append(start + int(index))
            if most and len(kept) == most:
                return kept
            gone |= near[place]
    return kept


def _overlaps(first: Any, second: Any) -> Any:
    """Return intersection over union of every box of one set with every box of another, (4, A) and (4, B) to (A, B)."""
    first = first[:, :, np.newaxis]
    shared = _common(first, second, 0)
    shared *= _common(first, second, 1)
    of_first, of_second = ((box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (first, second))
    union = of_first + of_second
    union -= shared
    shared /= union
    return shared


def _common(first: Any, second: Any, axis: int) -> Any:
    """Return how many pixels boxes have in common along an axis; most of the time of a proposal is spent here."""
    side = np.minimum(first[axis + 2], second[axis + 2])
    side -= np.maximum(first[axis], second[axis])
    side += 1
    return np.maximum(side, 0, out=side)
