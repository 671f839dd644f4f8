"""Looking over the pages of an LMDB file before the library does, which trusts them and would crash on damaged ones.

The layout is that of LMDB 0.9 on 64-bit machines: pages of one size, the first two of them describing the file; the
records hang in a tree of branch and leaf pages, long values in runs of pages of their own. Nothing protects the bytes
of a value: damage there shows when the record is decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine.errors import DataError

__all__ = ["LmdbLayout", "LmdbWalk", "read_layout"]

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_PAGE_HEADER = struct.Struct("=QHHHH")  # number, unused, flags, end of the offsets, start of the nodes
_META = struct.Struct("=16x2I2Q48xI2H5QQQ")  # 48 skipped bytes describe the free pages; page size is their first field
_PAGE_SIZE = struct.Struct("=40xI")
_BRANCH, _LEAF, _KINDS = 0x01, 0x02, 0x6F  # without the mark of pages being written
_LONG = 0x01  # flag of a node whose value has pages of its own
_DUPLICATES = 0x04
_DEEPEST = 32
_SIZES = tuple(1 << power for power in range(8, 17))
_NO_PAGE = 2**64 - 1
_AGAIN = "Copy or download it again, or write it anew."


@dataclass(frozen=True, slots=True)
class LmdbLayout:
    """What the header of a file says.

    Attributes
    ----------
    page_size : int
        Bytes of a page.
    pages : int
        Number of pages in use.
    root : int
        Page at the top of the tree; -1 where there are no records.
    depth : int
        Number of levels of the tree.
    entries : int
        Number of records.
    """

    page_size: int
    pages: int
    root: int
    depth: int
    entries: int


def read_layout(file: Path) -> LmdbLayout:
    """Read and check the header of ``data.mdb``.

    Raises
    ------
    DataError
        If the file cannot be read, is of another kind, or is shorter than it says.
    """
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            first = stream.read(max(_META.size, _PAGE_SIZE.size))
            page_size = _page_size(file, first, size)
            stream.seek(page_size)
            metas = [_meta(file, each, page_size) for each in (first, stream.read(_META.size)) if each]
    except OSError as error:
        raise DataError(f"Database '{file}' cannot be read: {error.strerror or error}.") from error
    layout = max(metas, key=lambda each: each[0])[1]
    wanted = layout.pages * layout.page_size
    if size < wanted:
        raise DataError(
            f"Database '{file}': expected at least {wanted} bytes, as its header says, got {size}: it was cut off.",
            next_step=_AGAIN,
        )
    if len(metas) < 2:
        raise _other_kind(file, f"a file of {size} bytes")
    return layout


def _page_size(file: Path, first: bytes, size: int) -> int:
    if len(first) < _META.size:
        raise _other_kind(file, f"a file of {size} bytes" if size else "an empty file")
    magic, version = struct.unpack_from("=2I", first, 16)
    if magic != _MAGIC:
        raise _other_kind(file, "a file that does not begin like one")
    page_size = int(_PAGE_SIZE.unpack_from(first)[0])
    if version != _VERSION or page_size not in _SIZES:
        raise _other_kind(file, f"one of format {version} with pages of {page_size} bytes, which cannot be read")
    return page_size


def _meta(file: Path, data: bytes, page_size: int) -> tuple[int, LmdbLayout]:
    """Return the age and content of one of the two descriptions."""
    if len(data) < _META.size:  # told as cut off, by what the first one says
        return -1, LmdbLayout(page_size, 2, -1, 0, 0)
    magic, version, _, _, _, flags, depth, _, _, _, entries, root, last, age = _META.unpack_from(data)
    empty = root == _NO_PAGE
    sane = magic == _MAGIC and version == _VERSION and _PAGE_SIZE.unpack_from(data)[0] == page_size
    if not sane or depth > _DEEPEST or flags & _DUPLICATES or last > 2**48 or not (empty or 2 <= root <= last):
        raise damaged(file, "its header")
    return int(age), LmdbLayout(page_size, int(last) + 1, -1 if empty else int(root), int(depth), int(entries))


def damaged(file: Path, what: str) -> DataError:
    """Return the error for a damaged part of a file."""
    return DataError(f"Database '{file}': expected whole pages, got {what} damaged.", next_step=_AGAIN)


def _other_kind(file: Path, got: str) -> DataError:
    return DataError(
        f"Database '{file}': expected an LMDB database, got {got}.",
        next_step="Check that it was written completely, on a 64-bit machine of the same byte order.",
    )


class LmdbWalk:
    """Goes through the tree in key order, a leaf page at a time, and checks every page on its way.

    Parameters
    ----------
    file : Path
        ``data.mdb``.
    layout : LmdbLayout
        Its header.

    Attributes
    ----------
    checked : int
        Number of records, from the first, whose pages were found whole.
    """

    def __init__(self, file: Path, layout: LmdbLayout) -> None:
        self._file, self._layout = file, layout
        self.checked = 0
        self.ended = layout.root < 0
        self._stream: BinaryIO = file.open("rb")
        self._leaves = self._under(layout.root, 1)

    def check(self, record: int) -> None:
        """Make sure that the pages up to a record are whole.

        Raises
        ------
        DataError
            If one is not.
        """
        while record >= self.checked and not self.ended:
            found = next(self._leaves, 0)
            self.checked += found
            if not found:
                self.ended = True
                self._stream.close()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _under(self, number: int, level: int) -> Iterator[int]:
        """Yield the number of records of each leaf below a page."""
        page, offsets = self._page(number, _LEAF if level == self._layout.depth else _BRANCH)
        if level == self._layout.depth:
            self._check_leaf(number, page, offsets)
            yield len(offsets)
            return
        if len(offsets) < 2:
            raise self._damaged(number)
        for child in self._children(number, page, offsets):
            yield from self._under(child, level + 1)

    def _page(self, number: int, kind: int) -> tuple[bytes, memoryview]:
        """Read a page of a kind; return it with the offsets of its nodes."""
        size = self._layout.page_size
        if not 2 <= number < self._layout.pages:
            raise self._damaged(number)
        self._stream.seek(number * size)
        page = self._stream.read(size)
        if len(page) < size:
            raise self._damaged(number)
        stated, _, flags, lower, upper = _PAGE_HEADER.unpack_from(page)
        head = _PAGE_HEADER.size
        if stated != number or flags & _KINDS != kind or lower & 1 or not head < lower <= upper <= size:
            raise self._damaged(number)
        return page, memoryview(page)[head:lower].cast("H")

    def _children(self, number: int, page: bytes, offsets: memoryview) -> Iterator[int]:
        words = memoryview(page).cast("H")
        for at, end in self._nodes(number, page, offsets):
            low, middle, high, key = words[at >> 1 : (at >> 1) + 4]
            if at + 8 + key > end:
                raise self._damaged(number)
            yield low | middle << 16 | high << 32

    def _check_leaf(self, number: int, page: bytes, offsets: memoryview) -> None:
        words = memoryview(page).cast("H")
        size = self._layout.page_size
        for at, end in self._nodes(number, page, offsets):
            low, high, flags, key = words[at >> 1 : (at >> 1) + 4]
            value = low | high << 16
            if not flags & _LONG:
                if at + 8 + key + value > end:
                    raise self._damaged(number)
                continue
            if at + 16 + key > end:
                raise self._damaged(number)
            start = int.from_bytes(page[at + 8 + key : at + 16 + key], "little")
            if start < 2 or start + -(-(value + _PAGE_HEADER.size) // size) > self._layout.pages:
                raise self._damaged(number)

    def _nodes(self, number: int, page: bytes, offsets: memoryview) -> Iterator[tuple[int, int]]:
        """Yield where each node begins and where the page ends."""
        size = self._layout.page_size
        first = _PAGE_HEADER.size + 2 * len(offsets)
        for at in offsets:
            if at & 1 or not first <= at <= size - 8:
                raise self._damaged(number)
            yield at, size

    def _damaged(self, number: int) -> DataError:
        return damaged(self._file, f"page {number}, after {self.checked} records,")
