"""New databases of both kinds: whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from engine.errors import DataError
from engine.files.new_database import DATABASE_KINDS, new_database


def contents(path: Path, kind: str) -> list[tuple[bytes, bytes]]:
    if kind == "leveldb":
        plyvel = pytest.importorskip("plyvel")
        with plyvel.DB(str(path), create_if_missing=False) as database:
            return list(database)
    with lmdb.open(str(path), readonly=True, lock=False) as environment, environment.begin() as transaction:
        return [(bytes(key), bytes(value)) for key, value in transaction.cursor()]


@pytest.fixture(params=DATABASE_KINDS)
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "leveldb":
        pytest.importorskip("plyvel")
    yield request.param


@pytest.mark.parametrize("order", ["rising", "falling"])
def test_records_come_back_in_key_order(tmp_path: Path, kind: str, order: str) -> None:
    records = [(b"%05d" % index, os.urandom(2000)) for index in range(2500)]
    with new_database(tmp_path / "new" / "db", kind) as database:
        for key, value in records if order == "rising" else reversed(records):
            database.put(key, value)
        assert not (tmp_path / "new" / "db").exists()
    assert contents(tmp_path / "new" / "db", kind) == records
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["db"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, DataError])
def test_an_exception_passes_and_leaves_nothing(tmp_path: Path, kind: str, error: type[BaseException]) -> None:
    def write() -> None:
        with new_database(tmp_path / "db", kind) as database:
            for index in range(1500):
                database.put(b"%05d" % index, b"x")
            raise error("stop")

    with pytest.raises(error, match="^stop"):
        write()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["folder", "file", "dead link"])
def test_what_exists_is_refused_and_stays(tmp_path: Path, kind: str, what: str) -> None:
    target = tmp_path / "db"
    if what == "folder":
        target.mkdir()
    elif what == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "gone")
    with pytest.raises(DataError, match="exists already"), new_database(target, kind):
        raise AssertionError
    assert [path.name for path in tmp_path.iterdir()] == ["db"]


def test_the_library_of_leveldb_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plyvel", None)
    with (
        pytest.raises(DataError, match="package 'plyvel'.*netcanvas\\[leveldb\\]"),
        new_database(tmp_path / "db", "leveldb"),
    ):
        raise AssertionError
    assert not list(tmp_path.iterdir())


def test_a_key_too_long_for_lmdb_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="1 to 511 bytes, got one of 600: 'aaaa"),
        new_database(tmp_path / "db") as database,
    ):
        database.put(b"a" * 600, b"")


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", no_space)
    with (
        pytest.raises(DataError, match="db' cannot be written: No space left"),
        new_database(tmp_path / "db") as database,
    ):
        database.put(b"a", b"1")
    assert not list(tmp_path.iterdir())
