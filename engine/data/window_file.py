"""The file of a ``WindowData`` layer: images, and windows in each with what they show."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from engine.data.lists import open_list
from engine.errors import DataError

__all__ = ["WindowList", "Windows", "read_windows"]

_BLOCK = re.compile(r"^[ \t]*#(?=\s)", re.MULTILINE)
_HEAD = ("image's number", "path", "number of channels", "height", "width", "number of windows")
_VALUES = 6  # class, overlap, x1, y1, x2, y2
_CHANNELS = 3


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of one kind, a row for each.

    Attributes
    ----------
    image, label, line : ndarray of int32, shape (windows,)
        Place of the image in the file, class, and line of the file.
    box : ndarray of int32, shape (windows, 4)
        x1, y1, x2, y2 in pixels, both ends inside.
    """

    image: npt.NDArray[np.int32]
    label: npt.NDArray[np.int32]
    line: npt.NDArray[np.int32]
    box: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.image)


@dataclass(frozen=True, slots=True)
class WindowList:
    """What a window file says.

    Attributes
    ----------
    file : Path
    paths : tuple of str
        Images, as the file has them.
    lines : tuple of int
        The line at which each image begins.
    foreground, background : Windows
        Windows that show an object, and windows that show none, whose label is 0; those between are left out.
    """

    file: Path
    paths: tuple[str, ...]
    lines: tuple[int, ...]
    foreground: Windows
    background: Windows


def read_windows(
    written: str, folders: Sequence[Path], owner: str, *, fg_threshold: float, bg_threshold: float
) -> WindowList:
    """Read a window file (Caffe's ``WindowDataLayer``).

    For each image it has ``# number``, the path, channels, height, width, number of windows, and for each window
    ``class overlap x1 y1 x2 y2``, all separated by white space. The number counts images from 0.

    Parameters
    ----------
    written : str
        Path as the net spells it.
    folders : sequence of Path
        Folders to look in.
    owner : str
        What the messages name.
    fg_threshold, bg_threshold : float
        A window shows an object from the first overlap on, and none below the second.

    Raises
    ------
    DataError
        If the file cannot be had or does not have this form; the message names the line.
    """
    file, text = open_list(written, folders, owner, "windows", "window_data_param.source")
    starts = [match.start() for match in _BLOCK.finditer(text)]
    if text[: starts[0] if starts else None].strip() or not starts:
        got = "something before it" if starts else "none" if text.strip() else "an empty file"
        raise DataError(f"{owner}: expected '# 0' at the beginning of '{file}', got {got}.")
    reader = _Reader(file, owner, np.float32(fg_threshold), np.float32(bg_threshold))
    line, last = 1, 0
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        line += text.count("\n", last, start)
        last = start
        reader.take(number, text[start:end], line)
    return reader.result()


class _Reader:
    """Collects images one after another."""

    def __init__(self, file: Path, owner: str, fg: np.float32, bg: np.float32) -> None:
        self._file, self._owner, self._fg, self._bg = file, owner, fg, bg
        self._paths: list[str] = []
        self._lines: list[int] = []
        self._kinds: tuple[list[Windows], list[Windows]] = ([], [])

    def take(self, number: int, block: str, line: int) -> None:
        """Take the block of one image, which begins at a line."""
        head = block.split(None, len(_HEAD) + 1)[1:]
        rest = head.pop() if len(head) > len(_HEAD) else ""
        if len(head) < len(_HEAD):
            self._fail(line, f"expected {', '.join(_HEAD)} after '#', got {len(head)} of them")
        counts = [self._whole(text, line, what) for text, what in zip(head, _HEAD, strict=True) if what != "path"]
        index, channels, _, _, windows = counts
        if index != number:
            self._fail(line, f"expected images numbered from 0, so {number}, got {index}")
        if channels != _CHANNELS:
            self._fail(line, f"expected {_CHANNELS} channels, since windows are cut from colour images, got {channels}")
        self._paths.append(head[1])
        self._lines.append(line)
        self._take_windows(number, windows, rest, line + block[: len(block) - len(rest)].count("\n"))

    def _take_windows(self, number: int, count: int, text: str, line: int) -> None:
        values = _numbers(text)
        if values is None or values.size != _VALUES * count:
            self._explain(count, number, text.split(), line)
        values = values.reshape(count, _VALUES)
        whole = np.ascontiguousarray(values[:, [0, 2, 3, 4, 5]])
        if (bad := np.flatnonzero((whole != np.rint(whole)).any(axis=1))).size:
            self._fail(line + int(bad[0]), "expected whole numbers as class and corners of a window")
        overlap = values[:, 1].astype(np.float32)
        label = values[:, 0].astype(np.int32)
        foreground = overlap >= self._fg
        if (bad := np.flatnonzero(foreground & (label <= 0))).size:
            self._fail(line + int(bad[0]), f"expected a class above 0 for a window with an object, got {label[bad[0]]}")
        lines = line + np.arange(count, dtype=np.int32)
        box = values[:, 2:].astype(np.int32)
        images = np.full(count, number, np.int32)
        for kind, rows in enumerate((foreground, ~foreground & (overlap < self._bg))):
            labels = label[rows] if kind == 0 else np.zeros(int(rows.sum()), np.int32)
            self._kinds[kind].append(Windows(images[rows], labels, lines[rows], box[rows]))

    def _explain(self, count: int, number: int, words: list[str], line: int) -> NoReturn:
        """Raise the error for windows that cannot be read."""
        if len(words) != _VALUES * count:
            got = f"{len(words) / _VALUES:g} times {_VALUES} values"
            self._fail(line, f"expected {count} windows of {_VALUES} values for image {number}, got {got}")
        wrong = next((index for index, word in enumerate(words) if not _is_number(word)), 0)
        self._fail(line + wrong // _VALUES, f"expected numbers, got '{words[wrong]}'")

    def result(self) -> WindowList:
        """Return what was collected."""
        foreground, background = (
            Windows(
                np.concatenate([part.image for part in parts]),
                np.concatenate([part.label for part in parts]),
                np.concatenate([part.line for part in parts]),
                np.concatenate([part.box for part in parts]),
            )
            for parts in self._kinds
        )
        for windows, what, field in ((foreground, "shows an object", "fg"), (background, "shows background", "bg")):
            if not len(windows):
                raise DataError(
                    f"{self._owner}: expected a window that {what} in '{self._file}', got none.",
                    next_step=f"Add windows, or change {field}_threshold.",
                )
        return WindowList(self._file, tuple(self._paths), tuple(self._lines), foreground, background)

    def _whole(self, text: str, line: int, what: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = -1
        if value < 0:
            self._fail(line, f"expected a whole number as {what}, got '{text}'")
        return value

    def _fail(self, line: int, message: str) -> NoReturn:
        raise DataError(
            f"{self._owner}: {self._file}:{line}: {message}.",
            next_step="Each image has: # number, path, channels, height, width, number of windows, and the windows.",
        )


def _numbers(text: str) -> npt.NDArray[np.float64] | None:
    """Return the numbers of a text, or None where something else is in it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # which numpy gives for text that is no number
            return np.fromstring(text, np.float64, sep=" ")
    except (DeprecationWarning, ValueError):
        return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
