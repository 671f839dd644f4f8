"""Text files that list what a layer reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.data.images import Bytes, read_image
from engine.errors import DataError, MissingDataError
from engine.paths import resolve, search_folders

__all__ = ["ImageList", "find_listed", "open_list", "read_image_list", "read_listed"]

_LABEL = re.compile(r"[+-]?\d+")
_LARGEST = 2**31 - 1
_SHOWN = 200  # characters of a wrong line; a file that is no list may be one line


@dataclass(frozen=True, slots=True)
class ImageList:
    """Image files with their labels.

    Attributes
    ----------
    file : Path
        The list.
    paths : tuple of str
        As the list has them.
    labels : ndarray of int32
        One for each path.
    lines : ndarray of int32
        The line of each path, from 1.
    """

    file: Path
    paths: tuple[str, ...]
    labels: npt.NDArray[np.int32]
    lines: npt.NDArray[np.int32]


def open_list(written: str, folders: Sequence[Path], owner: str, what: str, field: str) -> tuple[Path, str]:
    """Find a list and return its path and text.

    Parameters
    ----------
    written : str
        Path as the net spells it.
    folders : sequence of Path
        Folders to look in.
    owner : str
        What the messages name, such as ``Layer 'faces' (ImageData)``.
    what : str
        What it lists, such as ``images``.
    field : str
        The field that names it, such as ``image_data_param.source``.

    Raises
    ------
    DataError
        If there is no such file, or it is no text.
    """
    found = resolve(written, folders)
    if not written or not found.path.is_file():
        got = f"'{written}'; tried " + ", ".join(f"'{path}'" for path in found.tried) if written else "none"
        kind = MissingDataError if written and not found.found else DataError
        raise kind(
            f"{owner}: expected a text file that lists {what} in {field}, got {got}.",
            next_step="Put the list there, or correct the path.",
        )
    try:
        data = found.path.read_bytes()
    except OSError as error:
        raise DataError(f"{owner}: the list '{found.path}' cannot be read: {error.strerror or error}.") from error
    if b"\0" in data:
        raise DataError(
            f"{owner}: expected a text file that lists {what}, got '{found.path}', which is not text.",
            next_step=f"Name a text file with the paths of the {what} in it.",
        )
    return found.path, data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def find_listed(written: str, source: Path, line: int, folders: Sequence[Path], owner: str) -> Path:
    """Return the file that a line of a list names; relative paths are looked for beside the list, too.

    Raises
    ------
    DataError
        If it is not there; the message names list, line and the paths tried.
    """
    found = resolve(written, folders)
    if not found.found:
        found = resolve(written, tuple(dict.fromkeys((*folders, *search_folders(source.parent)))))
    if found.found:
        return found.path
    tried = ", ".join(f"'{path}'" for path in found.tried)
    step = "Put the file there, correct the list, or set root_folder."
    if "\t" in written:
        step = "Separate path and label by a blank; a tab is taken as part of the path."
    raise DataError(f"{owner}: '{written}', listed in {source}:{line}, was not found; tried {tried}.", next_step=step)


def read_listed(
    written: str, source: Path, line: int, folders: Sequence[Path], owner: str, *, color: bool, size: tuple[int, int]
) -> Bytes:
    """Read the image that a line of a list names.

    Parameters
    ----------
    written : str
        Path as the list spells it, behind the root folder.
    source : Path
        The list.
    line : int
        The line, from 1.
    folders : sequence of Path
        Folders to look in, and beside the list.
    owner : str
        What the messages name.
    color : bool
        Three channels, else one.
    size : tuple of int
        Height and width that it is brought to; zeros leave it as it is.

    Returns
    -------
    ndarray of uint8, shape (channels, height, width)

    Raises
    ------
    DataError
        If it is not there or no image; the message names list and line.
    """
    path = find_listed(written, source, line, folders, owner)
    try:
        return read_image(path, color=color, height=size[0], width=size[1])
    except DataError as error:
        raise DataError(
            f"{owner}: {error.message[:-1]}; listed in {source}:{line}.", next_step=error.next_step
        ) from error


def read_image_list(written: str, folders: Sequence[Path], owner: str) -> ImageList:
    """Read the list of an ``ImageData`` layer: on each line a path, a blank, and a whole number as label.

    The last blank of a line separates path and label, so that paths may have blanks in them. A line without a blank is
    a path with label 0. (Caffe's ``ImageDataLayer``, which also reads a label of 0 from what is no number; that is
    refused here. Empty lines are passed over.)

    Raises
    ------
    DataError
        If the list cannot be had, names nothing, or a label is no whole number.
    """
    file, text = open_list(written, folders, owner, "images", "image_data_param.source")
    paths: list[str] = []
    labels: list[int] = []
    lines: list[int] = []
    for number, whole in enumerate(text.split("\n"), start=1):
        line = whole.rstrip()
        if not line:
            continue
        path, blank, label = line.rpartition(" ")
        if not blank:
            path, label = line, "0"
        value = int(label) if label.isdecimal() or _LABEL.fullmatch(label) else _LARGEST + 1
        if abs(value) > _LARGEST:
            raise DataError(
                f"{owner}: expected a path, a blank and a whole number in {file}:{number}, got '{line[:_SHOWN]}'.",
                next_step="Write the label, a whole number, at the end of the line.",
            )
        paths.append(path)
        labels.append(value)
        lines.append(number)
    if not paths:
        raise DataError(f"{owner}: expected paths of images in '{file}', got an empty list.")
    return ImageList(file, tuple(paths), np.array(labels, np.int32), np.array(lines, np.int32))
