"""Damaged databases end no process: every page is looked over before the library, which trusts it, does."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import lmdb
import numpy as np
import pytest

from engine.data.lmdb_check import LmdbWalk, read_layout
from engine.data.lmdb_reader import LmdbReader
from engine.errors import DataError

PAGE = 4096
META, BRANCH, LEAF, LONG = 8, 1, 2, 4


def write(folder: Path, count: int, size: int) -> Path:
    with lmdb.open(str(folder), map_size=1 << 25) as environment, environment.begin(write=True) as transaction:
        for index in range(count):
            transaction.put(b"%08d" % index, bytes([index % 256]) * size)
    return folder / "data.mdb"


def pages(file: Path, kind: int) -> list[int]:
    data = file.read_bytes()
    return [at for at in range(0, len(data), PAGE) if struct.unpack_from("=H", data, at + 10)[0] == kind]


def read_all(file: Path) -> int:
    reader = LmdbReader(file.parent)
    try:
        return sum(len(reader.next()[1]) for _ in range(min(reader.entries, 10_000)))
    finally:
        reader.close()


@pytest.mark.parametrize(("count", "size"), [(1, 3), (3000, 40), (300, 5000), (12, 4000)])
def test_whole_databases_are_passed_and_counted(tmp_path: Path, count: int, size: int) -> None:
    file = write(tmp_path / "db", count, size)
    layout = read_layout(file)
    assert (layout.entries, layout.page_size) == (count, PAGE)
    walk = LmdbWalk(file, layout)
    walk.check(0)
    assert 0 < walk.checked <= count
    walk.check(count)
    assert walk.ended and walk.checked == count
    assert read_all(file) == count * size


def test_pages_are_checked_as_they_are_needed(tmp_path: Path) -> None:
    file = write(tmp_path / "db", 3000, 40)
    last = max(pages(file, LEAF))
    _change(file, last + 10, b"\xff\xff")
    reader = LmdbReader(tmp_path / "db")
    reader.next()
    with pytest.raises(
        DataError, match=rf"data.mdb': expected whole pages, got page {last // PAGE}, after \d+ records"
    ):
        reader.skip(2999)
    reader.close()


def _change(file: Path, at: int, new: bytes) -> None:
    data = bytearray(file.read_bytes())
    data[at : at + len(new)] = new
    file.write_bytes(data)


def node(file: Path, page: int, index: int = 0) -> int:
    """Return the place of a node in the file."""
    return page + int(struct.unpack_from("=H", file.read_bytes(), page + 16 + 2 * index)[0])


FAULTS: dict[str, Callable[[Path], tuple[int, bytes]]] = {
    "page number": lambda file: (pages(file, LEAF)[0], b"\x01"),
    "kind of a page": lambda file: (pages(file, LEAF)[0] + 10, b"\x04"),
    "a branch for a leaf": lambda file: (pages(file, BRANCH)[0] + 10, b"\x02"),
    "end of the offsets": lambda file: (pages(file, LEAF)[0] + 12, b"\xf0\xff"),
    "no offsets": lambda file: (pages(file, LEAF)[0] + 12, b"\x10\x00"),
    "one child": lambda file: (pages(file, BRANCH)[0] + 12, b"\x12\x00"),
    "offset beyond the page": lambda file: (pages(file, LEAF)[0] + 16, b"\xfe\xff"),
    "offset into the header": lambda file: (pages(file, LEAF)[0] + 16, b"\x02\x00"),
    "size of a value": lambda file: (node(file, pages(file, LEAF)[0]), b"\xff\xff\xff\x7f"),
    "size of a key": lambda file: (node(file, pages(file, LEAF)[0]) + 6, b"\xff\xff"),
    "child beyond the file": lambda file: (node(file, pages(file, BRANCH)[0]), b"\xff\xff\xff\x7f"),
    "child that is its own parent": lambda file: (
        node(file, pages(file, BRANCH)[0]),
        struct.pack("=I", pages(file, BRANCH)[0] // PAGE),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_damaged_pages_are_refused(tmp_path: Path, fault: str) -> None:
    file = write(tmp_path / "db", 3000, 40)
    _change(file, *FAULTS[fault](file))
    with pytest.raises(DataError, match="data.mdb': expected whole pages, got page"):
        read_all(file)


def test_a_long_value_beyond_the_file_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "db", 30, 5000)
    _change(file, node(file, pages(file, LEAF)[0]) + 8 + 8, struct.pack("=Q", 2**40))
    with pytest.raises(DataError, match="expected whole pages"):
        read_all(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got an empty file"),
        (b"\0" * 100, "got a file of 100 bytes"),
        (b"\0" * 9000, "does not begin like one"),
        (b"SQLite format 3\0" * 600, "does not begin like one"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "data.mdb").write_bytes(content)
    with pytest.raises(
        DataError, match=f"expected an LMDB database, {message if 'got' in message else '.*' + message}"
    ):
        LmdbReader(tmp_path)


@pytest.mark.parametrize(
    ("place", "new", "message"),
    [
        (20, b"\x09", "format 9"),
        (40, b"\x00\x00\x00\x00", "pages of 0 bytes"),
        (40, b"\x01\x10\x00\x00", "pages of 4097 bytes"),
        (PAGE + 128, b"\xff\xff\xff\x00", "its header damaged"),  # root of the tree
        (PAGE + 94, b"\xff", "its header damaged"),  # depth of the tree
    ],
)
def test_damaged_headers_are_refused(tmp_path: Path, place: int, new: bytes, message: str) -> None:
    file = write(tmp_path / "db", 10, 40)
    _change(file, place, new)
    with pytest.raises(DataError, match=message):
        LmdbReader(tmp_path / "db")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each damaged file is read in a forked process")
@pytest.mark.parametrize(("count", "size"), [(2000, 40), (60, 5000)])
def test_flipped_bits_give_an_error_or_data_and_never_a_crash(tmp_path: Path, count: int, size: int) -> None:
    file = write(tmp_path / "db", count, size)
    whole = file.read_bytes()
    places = [at for kind in (META, BRANCH, LEAF) for at in pages(file, kind)]
    random = np.random.default_rng(count)
    outcomes = []
    for _ in range(60):
        place = int(random.choice(places)) + int(random.choice([random.integers(160), random.integers(PAGE)]))
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(random.integers(8))
        file.unlink()
        file.write_bytes(damaged)
        outcomes.append(_outcome(file))
    assert set(outcomes) == {0, 1}, outcomes


def _outcome(file: Path) -> int:
    """Read in a process of its own: 0 for data, 1 for an error of ours, anything else for a crash."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            read_all(file)
            os._exit(0)
        except DataError:
            os._exit(1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
