"""The numbers of blobs that are embedded in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from engine.prototxt.parts import Scalar

__all__ = ["Numbers"]

# Of what the reader takes for numbers in a row: plain decimal ones, parted by blanks, commas and field names.
_ONE_NUMBER = re.compile(r"(?<![A-Za-z0-9_.+-])-?[0-9.][0-9.eE+-]*")
_AFTER_NUMBER = re.compile(r"[ \t\n\r,]")
_CHUNK = 1 << 20


class Numbers(Scalar):
    """Many numbers in a row that are kept as one piece: those of a blob that is embedded in a file.

    ``text`` goes from the first number to the last, with the field names or commas between them. One object for each
    number would take twenty times the memory of the text.
    """

    __slots__ = ()

    def values(self) -> Iterator[npt.NDArray[np.float64]]:
        """Return the numbers, some at a time."""
        start, text = 0, self.text
        while start < len(text):
            gap = _AFTER_NUMBER.search(text, start + _CHUNK)
            end = gap.end() if gap is not None else len(text)
            yield np.array(_ONE_NUMBER.findall(text, start, end), np.float64)
            start = end

    def texts(self) -> Iterator[str]:
        """Return the numbers one by one, as they are written."""
        return (match[0] for match in _ONE_NUMBER.finditer(self.text))

    def __repr__(self) -> str:
        return f"Numbers({self.text[:20]!r}...)"
