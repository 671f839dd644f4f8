"""Images with boxes in a database, as detectors read them."""

from __future__ import annotations

from pathlib import Path

import lmdb
import numpy as np

from engine.data.image_encoding import encode_image
from engine.registry import default_registry
from tests.plugins.forks import Values

SIZE = (24, 36)  # height and width of the images
Boxes = list[tuple[int, int, list[float], bool]]  # label, instance, corners, difficult


def records(count: int = 6, *, size: tuple[int, int] = SIZE) -> list[tuple[Values, Boxes]]:
    """Return images with a few boxes each, none in the third."""
    rng = np.random.default_rng(1)
    found = []
    for index in range(count):
        image = rng.integers(0, 256, (3, *size), dtype=np.uint8)
        boxes: Boxes = []
        for instance in range(0 if index == 2 else 1 + index % 3):
            low = rng.uniform(0, 0.5, 2)
            corners = np.concatenate((low, low + rng.uniform(0.2, 0.5, 2))).astype(np.float32).tolist()
            boxes.append((1 + instance % 2, instance, corners, instance == 1))
        found.append((image, sorted(boxes, key=lambda each: each[0])))
    return found


def write(path: Path, rows: list[tuple[Values, Boxes]], *, encode: str = "png", typed: bool = True) -> Path:
    make = default_registry().schema().message("AnnotatedDatum")
    with lmdb.open(str(path), map_size=1 << 24) as environment, environment.begin(write=True) as transaction:
        for index, (image, boxes) in enumerate(rows):
            message = make()
            datum = message.datum
            datum.channels, datum.height, datum.width, datum.label = *image.shape, index
            datum.encoded = bool(encode)
            datum.data = encode_image(image, encode) if encode else image.tobytes()
            if typed:
                message.type = message.BBOX
            for label in sorted({box[0] for box in boxes}):
                group = message.annotation_group.add(group_label=label)
                for of, instance, corners, difficult in boxes:
                    if of == label:
                        box = group.annotation.add(instance_id=instance).bbox
                        box.xmin, box.ymin, box.xmax, box.ymax = corners
                        box.difficult = difficult
            transaction.put(f"{index:04d}".encode(), message.SerializeToString())
    return path
