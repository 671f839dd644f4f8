"""LevelDB databases, read in key order from several places at once; needs the extra ``netcanvas[leveldb]``."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import DataError

__all__ = ["LevelDbReader"]

_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.1


def _library(path: Path) -> Any:
    try:
        import plyvel
    except ImportError as error:
        raise DataError(
            f"Database '{path}': expected the package 'plyvel', which reads LevelDB, got none ({error}).",
            next_step='Run: pip install "netcanvas[leveldb]"; or convert the database to LMDB.',
        ) from error
    return plyvel


class _Databases:
    """The databases this process has open; LevelDB lets only one opener in, so readers of one path share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: weakref.WeakValueDictionary[Path, _Database] = weakref.WeakValueDictionary()

    def open(self, path: Path) -> _Database:
        key = path.resolve()
        with self._lock:
            database = self._open.get(key)
            if database is None:
                database = self._open[key] = _Database(path)
            return database


class _Database:
    """One open database; closes itself when nothing refers to it any more."""

    def __init__(self, path: Path) -> None:
        plyvel = _library(path)
        patience = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self.handle = plyvel.DB(str(path), create_if_missing=False, paranoid_checks=True)
                break
            except (plyvel.Error, OSError) as error:
                if "lock" in str(error).lower() and time.monotonic() < patience:  # the editor may be looking at it
                    time.sleep(_POLL_SECONDS)
                    continue
                raise DataError(
                    f"Database '{path}': expected a LevelDB database, got one that cannot be opened ({error}).",
                    next_step="Check that it is whole, that its folder can be written to, which LevelDB needs even for "
                    "reading, and that no other process has it open.",
                ) from error
        weakref.finalize(self, self.handle.close)


_databases = _Databases()


class LevelDbReader:
    """A cursor that runs through a database in key order and starts over after the last record.

    Checksums are verified, so that a damaged block is an error and never a wrong record.

    Parameters
    ----------
    path : Path
        The folder of the database.

    Raises
    ------
    DataError
        If the package ``plyvel`` is absent, or the database is damaged, in use by another process, or empty.

    Attributes
    ----------
    path : Path
    record : int
        Index of the next record, from 0.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = 0
        self._errors: Any = _library(path).Error
        self._database = _databases.open(path)
        self._cursor = self._database.handle.raw_iterator(verify_checksums=True)
        try:
            with self._named():
                self._cursor.seek_to_first()
                empty = not self._cursor.valid()
            if empty:
                raise DataError(f"Database '{path}': expected records, got an empty database.")
        except DataError:
            self.close()
            raise

    def next(self) -> tuple[bytes, bytes]:
        """Return key and value of the next record."""
        with self._named():
            key, value = self._cursor.key(), self._cursor.value()
        self.skip(1)
        return key, value

    def skip(self, count: int) -> None:
        """Pass over ``count`` records."""
        with self._named():
            for _ in range(count):
                self.record += 1
                self._cursor.next()
                if not self._cursor.valid():
                    self._cursor.seek_to_first()
                    self.record = 0

    def get_state(self) -> dict[str, Any]:
        """Return the position as index and key of the next record."""
        with self._named():
            return {"record": self.record, "key": self._cursor.key().hex()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to a saved position: to its key, or by counting if the database has that key no more."""
        key = bytes.fromhex(str(state["key"]))
        with self._named():
            self._cursor.seek(key)
            if self._cursor.valid() and self._cursor.key() == key:
                self.record = int(state["record"])
                return
            self._cursor.seek_to_first()
        self.record = 0
        self.skip(int(state["record"]))

    def close(self) -> None:
        """End the cursor; the database itself is closed with its last reader."""
        self._cursor.close()
        self.__dict__.pop("_database", None)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Turn what the library raises into an error that names the database and the record."""
        try:
            yield
        except self._errors as error:
            raise DataError(
                f"Database '{self.path}', at record {self.record}: expected readable data, got '{error}'.",
                next_step="Copy or write the database again.",
            ) from error
