"""Lists of images with labels, as Caffe's tools take them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DataError

__all__ = ["ListedImage", "read_image_list"]

_LABELS = range(-(2**31), 2**31)  # Datum.label is an int32
_SHOWN = 200  # characters of a wrong line; a file that is no list may be one line


@dataclass(frozen=True, slots=True)
class ListedImage:
    """One image of a list.

    Attributes
    ----------
    name : str
        Path as written, relative to some root folder; bytes that are no UTF-8 are escaped as the system does it.
    label : int
    """

    name: str
    label: int


def read_image_list(path: Path) -> list[ListedImage | None]:
    """Read the lines ``PATH LABEL`` of a list; paths may hold spaces.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of (ListedImage or None)
        One for each line, None for empty ones, which count in Caffe's keys.

    Raises
    ------
    DataError
        If a line is something else, or none names an image; the message names file and line.
    OSError
        If the file cannot be read.
    """
    lines = os.fsdecode(path.read_bytes()).removesuffix("\n").split("\n")
    images = [_image(path, number, line) for number, line in enumerate(lines, start=1)]
    if not any(images):
        raise DataError(f"'{path}': expected lines with a path and a label, got none.", next_step="Name the list.")
    return images


def _image(path: Path, number: int, line: str) -> ListedImage | None:
    if not line.strip():
        return None
    name, _, label = line.strip().replace("\t", " ").rpartition(" ")
    try:
        value = int(label)
    except ValueError:
        name, value = "", 0
    if not name.strip() or value not in _LABELS:
        raise DataError(
            f"{path}:{number}: expected a path and a label, which is a whole number, got {line.strip()[:_SHOWN]!r}.",
            next_step="Write each line as 'folder/image.jpg 7'.",
        )
    return ListedImage(name.rstrip(), value)
