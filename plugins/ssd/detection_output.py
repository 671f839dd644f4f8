"""Detections from predicted boxes and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from boxes import check_predictions, decode, keep_best_adaptively, read_priors
from detection_files import DetectionWriter, open_writer

from engine.api import Blob, Layer

__all__ = ["DetectionOutputLayer"]


class DetectionOutputLayer(Layer):
    """What was detected (SSD's ``DetectionOutputLayer``).

    Bottoms: coded boxes ``(N, P * box classes * 4)``, scores ``(N, P * num_classes)``, prior boxes ``(1, 2, P * 4)``;
    a fourth one, the images, is not looked at. Top: ``(1, 1, detections, 7)``, rows (image, label, score, xmin, ymin,
    xmax, ymax), ordered by image, label, and falling score. Where nothing is detected at all, there is a row for each
    image with -1 in place of the rest.

    For each class but the background, the ``top_k`` best boxes above ``confidence_threshold`` are looked at, and those
    that overlap a better one by more than ``nms_threshold`` are left out; of what an image is left with, the
    ``keep_top_k`` best are kept. With ``save_output_param`` they are also written to files. ``visualize`` shows
    nothing here.
    """

    type = "DetectionOutput"
    host_arrays = True

    _writer: DetectionWriter | None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``detection_output_param``."""
        param = self.param = self.layer_param.detection_output_param
        if not param.num_classes:
            self.fail("expected num_classes, got none.", next_step="Set it in detection_output_param.")
        self.classes, self.background = int(param.num_classes), int(param.background_label_id)
        self.box_classes = 1 if param.share_location else self.classes
        self.least = float(param.confidence_threshold) if param.HasField("confidence_threshold") else -np.inf
        nms = param.nms_param
        self.threshold, self.eta = float(nms.nms_threshold), float(nms.eta)
        self.top_k = int(nms.top_k) if nms.HasField("top_k") else -1
        if self.threshold < 0 or not 0 < self.eta <= 1:
            self.fail(
                f"expected an nms_threshold of 0 or more and an eta above 0 and up to 1, got {self.threshold:g} and "
                f"{self.eta:g}.",
                next_step="Correct nms_param.",
            )
        self._writer = None if self.context.shapes_only else open_writer(self, param.save_output_param, self.background)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check the numbers of boxes against each other; how many are detected is known after the forward pass."""
        check_predictions(self, bottom, self.box_classes, self.classes)
        top[0].reshape(1, 1, 1, 7)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Detect image by image."""
        priors, variances = read_priors(bottom[2].data)
        images = bottom[0].shape[0]
        coded = bottom[0].data.reshape(images, len(priors), self.box_classes, 4).transpose(0, 2, 1, 3)
        code, in_target = self.param.code_type, self.param.variance_encoded_in_target
        boxes = decode(coded, priors, variances, code, in_target=in_target)
        scores = bottom[1].data.reshape(images, len(priors), self.classes).transpose(0, 2, 1)
        found = [self._detect(boxes[image], scores[image]) for image in range(images)]
        rows = np.concatenate([np.insert(each, 0, image, axis=1) for image, each in enumerate(found)])
        if not len(rows):
            rows = np.full((images, 7), -1, boxes.dtype)
            rows[:, 0] = np.arange(images)
        top[0].reshape(1, 1, len(rows), 7)
        top[0].data[...] = rows
        if self._writer is not None:
            for each in found:
                self._writer.add(each)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing passes: a detection is no function that has a slope."""
        for wanted, blob in zip(propagate_down, bottom, strict=True):
            if wanted:
                blob.diff[...] = 0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """No bottom has a gradient."""
        return False

    def get_state(self) -> dict[str, Any]:
        """Return what is to be written yet."""
        return {} if self._writer is None else self._writer.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on with what is to be written."""
        if self._writer is not None and state:
            self._writer.set_state(state)

    def _detect(self, boxes: Any, scores: Any) -> Any:
        """Return the detections of one image as rows (label, score, xmin, ymin, xmax, ymax)."""
        parts = [np.zeros((0, 6), boxes.dtype)]
        for label in range(self.classes):
            if label == self.background:
                continue
            mine, chances = boxes[0 if self.param.share_location else label], scores[label]
            kept = keep_best_adaptively(
                mine, chances, least=self.least, threshold=self.threshold, eta=self.eta, top_k=self.top_k
            )
            labels = np.full((len(kept), 1), label, boxes.dtype)
            parts.append(np.concatenate((labels, chances[kept, np.newaxis], mine[kept]), axis=1))
        rows = np.concatenate(parts)
        most = self.param.keep_top_k
        if -1 < most < len(rows):
            rows = rows[np.sort(np.argsort(-rows[:, 1], kind="stable")[:most])]
        return rows
