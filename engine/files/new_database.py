"""New databases of records, LMDB or LevelDB, which appear under their names only when they are whole."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import lmdb

from engine.errors import DataError

__all__ = ["DATABASE_KINDS", "RecordSink", "check_new", "new_database"]

DATABASE_KINDS = ("lmdb", "leveldb")

_FIRST_SIZE = 16 << 20
_GROWTH = 2
_BATCH_RECORDS = 1000
_BATCH_BYTES = 64 << 20
_STALE_SECONDS = 3600.0
_LEVELDB_BLOCK = 65536  # Caffe's


class RecordSink(Protocol):
    """Takes the records of a new database."""

    def put(self, key: bytes, value: bytes) -> None:
        """Add a record; rising keys are the fastest."""


def check_new(path: str | os.PathLike[str]) -> Path:
    """Return a path as one for a new database.

    Raises
    ------
    DataError
        If something is there already.
    """
    target = Path(path)
    if os.path.lexists(target):
        raise DataError(f"Database '{target}' exists already.", next_step="Remove it or choose another name.")
    return target


@contextmanager
def new_database(path: str | os.PathLike[str], kind: str = "lmdb") -> Iterator[RecordSink]:
    """Write a new database within a ``with`` block; leaving it with an exception leaves nothing behind.

    Parameters
    ----------
    path : path
        Folder of the database; must not exist.
    kind : {"lmdb", "leveldb"}
        LevelDB needs the package ``plyvel``.

    Yields
    ------
    RecordSink

    Raises
    ------
    DataError
        If the folder exists, the database cannot be written, or the package for its kind is absent.
    """
    target = check_new(path)
    _remove_leftovers(target)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    with _naming(target, lmdb.Error, OSError):
        aside.mkdir(parents=True)
    sink: _LmdbSink | _LevelDbSink | None = None
    try:
        sink = _LevelDbSink(aside, target) if kind == "leveldb" else _LmdbSink(aside, target)
        yield sink
        sink.finish()
        with _naming(target, OSError):
            _publish(aside, target)
    finally:
        if sink is not None:
            sink.close()
        shutil.rmtree(aside, ignore_errors=True)


class _Batches:
    """Collects records, so that each transaction takes many."""

    def __init__(self) -> None:
        self._batch: list[tuple[bytes, bytes]] = []
        self._bytes = 0

    def put(self, key: bytes, value: bytes) -> None:
        self._batch.append((key, value))
        self._bytes += len(value)
        if len(self._batch) >= _BATCH_RECORDS or self._bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        batch, self._batch, self._bytes = self._batch, [], 0
        if batch:
            self.write(batch)

    def write(self, batch: list[tuple[bytes, bytes]]) -> None:
        raise NotImplementedError


class _LmdbSink(_Batches):
    def __init__(self, folder: Path, target: Path) -> None:
        super().__init__()
        self._target = target
        self._last = b""
        with _naming(target, lmdb.Error, OSError):
            self._environment = lmdb.open(str(folder), map_size=_FIRST_SIZE)
        self._longest: int = self._environment.max_key_size()

    def put(self, key: bytes, value: bytes) -> None:
        if not 0 < len(key) <= self._longest:
            raise DataError(
                f"Database '{self._target}': expected keys of 1 to {self._longest} bytes, got one of {len(key)}: "
                f"'{key[:60].decode('utf-8', 'backslashreplace')}...'.",
                next_step="Shorten the name, or write LevelDB, which takes keys of any length.",
            )
        super().put(key, value)

    def write(self, batch: list[tuple[bytes, bytes]]) -> None:
        """Write a batch in one transaction, growing the database until it fits."""
        with _naming(self._target, lmdb.Error, OSError):
            while True:
                try:
                    self._put_all(batch)
                    return
                except lmdb.MapFullError:
                    self._environment.set_mapsize(self._environment.info()["map_size"] * _GROWTH)

    def _put_all(self, batch: list[tuple[bytes, bytes]]) -> None:
        last = self._last
        with self._environment.begin(write=True) as transaction:
            for key, value in batch:
                transaction.put(key, value, append=key > last)
                last = max(last, key)
        self._last = last

    def finish(self) -> None:
        self.flush()
        with _naming(self._target, lmdb.Error, OSError):
            self._environment.sync(True)
            self._environment.close()

    def close(self) -> None:
        self._environment.close()


class _LevelDbSink(_Batches):
    def __init__(self, folder: Path, target: Path) -> None:
        super().__init__()
        self._target = target
        plyvel = _leveldb_library(target)
        self._errors: tuple[type[Exception], ...] = (plyvel.Error, OSError)
        with _naming(target, *self._errors):
            self._database = plyvel.DB(str(folder), create_if_missing=True, block_size=_LEVELDB_BLOCK)

    def write(self, batch: list[tuple[bytes, bytes]]) -> None:
        with _naming(self._target, *self._errors), self._database.write_batch() as writes:
            for key, value in batch:
                writes.put(key, value)

    def finish(self) -> None:
        self.flush()
        with _naming(self._target, *self._errors):
            self._database.close()

    def close(self) -> None:
        self._database.close()


def _leveldb_library(target: Path) -> Any:
    try:
        import plyvel
    except ImportError as error:
        raise DataError(
            f"Database '{target}': expected the package 'plyvel', which writes LevelDB, got none ({error}).",
            next_step='Run: pip install "netcanvas[leveldb]"; or write LMDB.',
        ) from error
    return plyvel


@contextmanager
def _naming(target: Path, *errors: type[Exception]) -> Iterator[None]:
    """Turn what goes wrong in a library into an error that names the database."""
    try:
        yield
    except errors as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise DataError(f"Database '{target}' cannot be written: {reason}.", next_step="Check the disk.") from error


def _publish(aside: Path, target: Path) -> None:
    """Give the finished database its name; one that another process finished first stays."""
    try:
        os.rename(aside, target)
    except OSError:
        if not any((target / file).is_file() for file in ("data.mdb", "CURRENT")):
            raise


def _remove_leftovers(target: Path) -> None:
    """Remove what an interrupted writer left behind, but not what one may be writing just now."""
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        try:
            old = time.time() - leftover.stat().st_mtime > _STALE_SECONDS
        except OSError:
            continue
        if old:
            shutil.rmtree(leftover, ignore_errors=True)
