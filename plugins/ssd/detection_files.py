"""Files of detections for the evaluation programs of VOC, COCO and ILSVRC."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from image_boxes import to_pixels

from engine.api import Layer, resolve

__all__ = ["DetectionWriter", "open_writer", "read_sizes"]

_FORMATS = ("VOC", "COCO", "ILSVRC")


@dataclass(slots=True)
class DetectionWriter:
    """Collects detections, and writes them when those of all images are there.

    Attributes
    ----------
    folder : Path
    prefix : str
        First part of the files' names.
    format : str
        ``VOC``: a file for each label, lines of image, score and corners. ``COCO``: one JSON file. ``ILSVRC``: one
        file, lines of image, label, score and corners.
    labels : dict of str
        Names of the labels by number.
    background : int
    images : sequence of (str, int, int)
        Name, height and width of each image, in pixels.
    count : int
        Number of images after which files are written.
    resize : ResizeParameter or None
        How the images were resized before they were looked at.
    """

    folder: Path
    prefix: str
    format: str
    labels: dict[int, str]
    background: int
    images: Sequence[tuple[str, int, int]]
    count: int
    resize: Any
    _done: int = 0
    _found: list[dict[str, Any]] = field(default_factory=list)

    def add(self, rows: Any) -> None:
        """Add the detections of the next image: rows (label, score, xmin, ymin, xmax, ymax)."""
        name, height, width = self.images[self._done]
        boxes = to_pixels(rows[:, 2:], height, width, self.resize).astype(np.float64)
        for (label, score, *_), (x1, y1, x2, y2) in zip(rows.tolist(), boxes.tolist(), strict=True):
            box = [_hundredths(value) for value in (x1, y1, x2 - x1, y2 - y1)]
            self._found.append({"image": name, "label": int(label), "box": box, "score": score})
        self._done += 1
        if self._done == self.count:
            self._write()
            self._done, self._found = 0, []

    def get_state(self) -> dict[str, Any]:
        """Return what was collected, as JSON-able values."""
        return {"images": self._done, "found": list(self._found)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on with what :meth:`get_state` returned."""
        self._done, self._found = int(state["images"]), list(state["found"])

    def _write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.format == "VOC":
            for label, name in self.labels.items():
                if label != self.background:
                    lines = [_line(each["image"], each) for each in self._found if each["label"] == label]
                    self._put(f"{self.prefix}{name}.txt", "".join(lines))
        elif self.format == "ILSVRC":
            lines = [_line(f"{each['image']} {each['label']}", each) for each in self._found]
            self._put(f"{self.prefix}.txt", "".join(lines))
        else:
            rows = [
                {
                    "image_id": _number(each["image"]),
                    "category_id": _number(self.labels[each["label"]]),
                    "bbox": each["box"],
                    "score": each["score"],
                }
                for each in self._found
            ]
            self._put(f"{self.prefix}.json", json.dumps(rows, indent=4) + "\n")

    def _put(self, name: str, text: str) -> None:
        path = self.folder / name
        aside = path.with_name(f"{path.name}.part")
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)


def open_writer(layer: Layer, param: Any, background: int) -> DetectionWriter | None:
    """Return what writes the detections of a layer, or None where ``save_output_param`` asks for no files.

    As in SSD's Caffe, files need a folder, the labels' names, and the images' names and sizes.
    """
    if not (param.output_directory and param.label_map_file and param.name_size_file):
        return None
    if param.output_format not in _FORMATS:
        layer.fail(
            f"expected one of {', '.join(_FORMATS)} as output_format, got '{param.output_format}'.",
            next_step="Correct it in save_output_param.",
        )
    images = read_sizes(layer, param.name_size_file)
    count = int(param.num_test_image) if param.HasField("num_test_image") else len(images)
    if not 0 < count <= len(images):
        layer.fail(
            f"expected a num_test_image of 1 to {len(images)}, got {count}.",
            next_step="name_size_file has a line for each image.",
        )
    labels = {
        int(item.label): str(item.name)
        for item in layer.read_message("LabelMap", _find(layer, param.label_map_file)).item
    }
    return DetectionWriter(
        Path(param.output_directory),
        param.output_name_prefix,
        param.output_format,
        labels,
        background,
        images,
        count,
        param.resize_param if param.HasField("resize_param") else None,
    )


def read_sizes(layer: Layer, written: str) -> list[tuple[str, int, int]]:
    """Read a file of names, heights and widths, separated by white space."""
    path = _find(layer, written)
    words = path.read_text(encoding="utf-8").split()
    try:
        return [(name, int(h), int(w)) for name, h, w in zip(*(words[start::3] for start in range(3)), strict=True)]
    except ValueError:
        layer.fail(f"expected lines of name, height and width in '{path}'.", next_step="Correct the file.")


def _find(layer: Layer, written: str) -> Path:
    found = resolve(written, layer.context.base_dirs)
    if not found.found:
        tried = ", ".join(f"'{path}'" for path in found.tried)
        layer.fail(f"file '{written}' was not found; tried {tried}.", next_step="Correct the path.")
    return found.path


def _line(start: str, found: dict[str, Any]) -> str:
    x, y, width, height = map(int, found["box"])
    return f"{start} {found['score']:g} {x} {y} {x + width} {y + height}\n"


def _hundredths(value: float) -> float:
    """Round to two digits, halves away from zero."""
    return math.copysign(math.floor(abs(value) * 100 + 0.5) / 100, value)


def _number(text: str) -> Any:
    """Return a name that is a number as one, as COCO's programs expect it."""
    return int(text) if text.lstrip("-").isdigit() else text
