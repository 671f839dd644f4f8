"""Databases appear whole or not at all."""

from __future__ import annotations

import os

import lmdb
import numpy as np
import pytest

from engine.errors import DataError
from engine.files import array_to_datum, datum_to_array
from engine.files.lmdb_writer import is_whole, write_datums, write_records
from engine.schema import load_schema


def contents(path):
    with lmdb.open(str(path), readonly=True, lock=False) as environment, environment.begin() as transaction:
        return [(bytes(key), bytes(value)) for key, value in transaction.cursor()]


def test_datums(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(12, 1, 4, 5), dtype=np.uint8)
    assert write_datums(tmp_path / "db", (array_to_datum(image, index) for index, image in enumerate(images))) == 12
    records = contents(tmp_path / "db")
    assert [key for key, _ in records] == [b"%08d" % index for index in range(12)]
    for index, (_, value) in enumerate(records):
        datum = load_schema().message("Datum").FromString(value)
        assert datum.label == index
        np.testing.assert_array_equal(datum_to_array(datum), images[index])


def test_database_grows_as_needed(tmp_path):
    value = os.urandom(20_000)
    count = write_records(tmp_path / "db", ((b"%05d" % index, value) for index in range(3000)))
    assert count == 3000
    assert len(contents(tmp_path / "db")) == 3000
    assert is_whole(tmp_path / "db")


def test_interrupted_writer_leaves_nothing_under_the_name(tmp_path):
    def records():
        for index in range(1500):
            yield b"%05d" % index, b"x"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_records(tmp_path / "db", records())
    assert not list(tmp_path.iterdir())


def test_existing_database_is_not_touched(tmp_path):
    write_records(tmp_path / "db", [(b"a", b"1")])
    with pytest.raises(DataError, match="exists already"):
        write_records(tmp_path / "db", [(b"b", b"2")])
    assert contents(tmp_path / "db") == [(b"a", b"1")]


def test_old_leftovers_are_removed_and_young_ones_kept(tmp_path):
    for name, age in (("old", 7200), ("young", 0)):
        folder = tmp_path / f".db.{name}.tmp"
        folder.mkdir()
        changed = folder.stat().st_mtime - age
        os.utime(folder, (changed, changed))
    write_records(tmp_path / "db", [(b"a", b"1")])
    assert sorted(file.name for file in tmp_path.iterdir()) == [".db.young.tmp", "db"]


@pytest.mark.parametrize("size", [0, 100, 5000, 40_000])
def test_truncated_database_is_not_whole(tmp_path, size):
    write_records(tmp_path / "db", ((b"%05d" % index, bytes(900)) for index in range(200)))
    assert is_whole(tmp_path / "db")
    os.truncate(tmp_path / "db" / "data.mdb", size)
    assert not is_whole(tmp_path / "db")


def test_folder_without_database_is_not_whole(tmp_path):
    assert not is_whole(tmp_path)
    assert not is_whole(tmp_path / "none")
