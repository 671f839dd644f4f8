"""Which detections are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from boxes import areas, overlaps
from detection_files import read_sizes
from image_boxes import to_pixels
from labels import Objects, check_labels, read_labels

from engine.api import Blob, Layer

__all__ = ["DetectionEvaluateLayer"]


class DetectionEvaluateLayer(Layer):
    """Compares detections with objects (SSD's ``DetectionEvaluateLayer``).

    Bottoms: detections ``(1, 1, D, 7)`` as DetectionOutput gives them, and labels as AnnotatedData does. Top:
    ``(1, 1, classes + D, 5)``: for each class but the background a row (-1, class, number of objects, -1, -1), then a
    row (image, label, score, right, wrong) for each detection. Of several detections of one object the best is right
    and the others wrong; one of an object that is hard to recognize is neither, unless ``evaluate_difficult_gt``.

    Boxes are compared in parts of the image, or in pixels if ``name_size_file`` has the images' sizes.
    """

    type = "DetectionEvaluate"
    host_arrays = True

    _image = 0

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``detection_evaluate_param``."""
        param = self.param = self.layer_param.detection_evaluate_param
        if not param.num_classes:
            self.fail("expected num_classes, got none.", next_step="Set it in detection_evaluate_param.")
        if not param.overlap_threshold > 0:
            self.fail(f"expected an overlap_threshold above 0, got {param.overlap_threshold:g}.")
        wanted = range(int(param.num_classes))
        self.labels = [label for label in wanted if label != int(param.background_label_id)]
        written = "" if self.context.shapes_only else param.name_size_file
        self.sizes = [size for _, *size in read_sizes(self, written)] if written else []

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """A row for each class; how many detections there are is known in the forward pass."""
        if bottom[0].axes < 2 or bottom[0].shape[-1] != 7:
            self.fail_shape(f"expected detections of shape (1, 1, D, 7), got {bottom[0].shape}.", bottom=0)
        check_labels(self, bottom[1], 1)
        top[0].reshape(1, 1, len(self.labels) + bottom[0].count // 7, 5)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Judge image by image and label by label."""
        images = read_labels(self, bottom[1], 1, int(self.param.background_label_id))
        rows = bottom[0].data.reshape(-1, 7)
        # a row without a detection still stands for its image
        seen = np.unique(rows[:, 0].astype(np.intp))
        rows = rows[rows[:, 1] != -1]
        items, labels = rows[:, 0].astype(np.intp), rows[:, 1].astype(np.intp)
        parts = [self._counts(images.values(), rows.dtype)]
        for image in seen[seen != -1]:
            objects = images.get(int(image))
            for label in np.unique(labels[items == image]):
                parts.append(self._judge(rows[(items == image) & (labels == label)], objects, int(label)))
            self._image = (self._image + 1) % len(self.sizes) if self.sizes else 0
        verdicts = np.concatenate(parts)
        top[0].reshape(1, 1, len(verdicts), 5)
        top[0].data[...] = verdicts

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing passes."""
        for wanted, blob in zip(propagate_down, bottom, strict=True):
            if wanted:
                blob.diff[...] = 0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """No bottom has a gradient."""
        return False

    def get_state(self) -> dict[str, Any]:
        """Return the number of the image that comes next."""
        return {"image": self._image}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on with an image."""
        self._image = int(state.get("image", 0))

    def _counts(self, images: Any, dtype: Any) -> Any:
        """Return the rows of the classes."""
        rows = np.full((len(self.labels), 5), -1, dtype)
        rows[:, 1] = self.labels
        counted = [each.labels[~each.difficult | self.param.evaluate_difficult_gt] for each in images]
        found = np.concatenate([np.zeros(0, np.intp), *counted])
        rows[:, 2] = [(found == label).sum() for label in self.labels]
        return rows

    def _judge(self, rows: Any, objects: Objects | None, label: int) -> Any:
        """Return the rows of the detections of one label in one image."""
        verdicts = np.zeros((len(rows), 5), rows.dtype)
        mine = objects is not None and objects.labels == label
        if objects is None or not np.any(mine):
            verdicts[:, :3], verdicts[:, 4] = rows[:, :3], 1
            return verdicts
        rows = rows[np.argsort(-rows[:, 2], kind="stable")]
        verdicts[:, :3] = rows[:, :3]
        shared = self._shared(rows[:, 3:], objects.boxes[mine])
        best = shared.argmax(axis=1)
        meets = shared[np.arange(len(rows)), best] >= self.param.overlap_threshold
        counts = ~objects.difficult[mine][best] | self.param.evaluate_difficult_gt
        taken: set[int] = set()
        for index in np.flatnonzero(meets & counts):
            right = int(best[index]) not in taken
            taken.add(int(best[index]))
            verdicts[index, 3:] = (1, 0) if right else (0, 1)
        verdicts[~meets, 4] = 1
        return verdicts

    def _shared(self, found: Any, wanted: Any) -> Any:
        if not self.sizes:
            return overlaps(found, wanted)
        height, width = self.sizes[self._image]
        resize = self.param.resize_param if self.param.HasField("resize_param") else None
        found, wanted = (to_pixels(boxes, height, width, resize) for boxes in (found, wanted))
        return overlaps(found, wanted, edge=1, sizes=(areas(found, edge=1), areas(wanted, edge=1)))
