"""LMDB databases, read in key order from several places at once."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lmdb

from engine.data.lmdb_check import LmdbWalk, read_layout
from engine.errors import DataError

__all__ = ["LmdbReader"]


class _Environments:
    """The databases this process has open.

    LMDB allows a file to be opened only once in a process, so readers of one path share its environment. It is closed
    when the last of them lets go.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: weakref.WeakValueDictionary[Path, _Environment] = weakref.WeakValueDictionary()

    def open(self, path: Path) -> _Environment:
        key = path.resolve()
        with self._lock:
            environment = self._open.get(key)
            if environment is None:
                environment = _Environment(path)
                self._open[key] = environment
            return environment


class _Environment:
    """One open database; closes itself when nothing refers to it any more."""

    def __init__(self, path: Path) -> None:
        file = path / "data.mdb" if path.is_dir() else path
        layout = read_layout(file)
        try:
            self.handle = lmdb.open(
                str(path), subdir=path.is_dir(), readonly=True, lock=False, create=False, readahead=True, meminit=False
            )
        except lmdb.Error as error:
            raise DataError(
                f"Database '{path}': expected an LMDB database, got one that cannot be opened ({error}).",
                next_step="Check that it was written completely and that no other library of this process holds it.",
            ) from error
        weakref.finalize(self, self.handle.close)
        self._walk = LmdbWalk(file, layout)
        weakref.finalize(self, self._walk.close)
        self._lock = threading.Lock()

    def check(self, record: int) -> int:
        """Make sure that the pages up to a record are whole; return the number of records known to be."""
        with self._lock:
            self._walk.check(record)
            return sys.maxsize if self._walk.ended else self._walk.checked


_environments = _Environments()


class LmdbReader:
    """A cursor that runs through a database in key order and starts over after the last record.

    The database is opened for reading only and without a lock file, so it may lie on a read-only disk and be read by
    any number of processes.

    Parameters
    ----------
    path : Path
        The folder that holds ``data.mdb``, or such a file itself.

    Raises
    ------
    DataError
        If the path is missing, not an LMDB database, or empty.

    Attributes
    ----------
    path : Path
    entries : int
        Number of records.
    record : int
        Index of the next record, from 0 to ``entries - 1``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._environment = _environments.open(path)
        self._checked = self._environment.check(0)
        self._transaction = self._environment.handle.begin(buffers=True)
        self.entries: int = self._transaction.stat()["entries"]
        self._cursor = self._transaction.cursor()
        self.record = 0
        if not self._cursor.first():
            self.close()
            raise DataError(f"Database '{path}': expected records, got an empty database.")

    def next(self) -> tuple[bytes, memoryview]:
        """Return key and value of the next record; the value is valid until the reader is closed."""
        key, value = bytes(self._cursor.key()), self._cursor.value()
        self.skip(1)
        return key, value

    def skip(self, count: int) -> None:
        """Pass over ``count`` records."""
        for _ in range(count % self.entries if count >= self.entries else count):
            self.record += 1
            if self.record >= self._checked:
                self._checked = self._environment.check(self.record)
            try:
                if not self._cursor.next():
                    self._cursor.first()
                    self.record = 0
            except lmdb.Error as error:
                raise DataError(
                    f"Database '{self.path}', at record {self.record}: expected readable data, got '{error}'.",
                    next_step="Copy or write the database again.",
                ) from error

    def get_state(self) -> dict[str, Any]:
        """Return the position as index and key of the next record."""
        return {"record": self.record, "key": bytes(self._cursor.key()).hex()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to a saved position: to its key, or by counting if the database has that key no more."""
        self._checked = self._environment.check(min(int(state["record"]), self.entries - 1))
        if self._cursor.set_key(bytes.fromhex(str(state["key"]))):
            self.record = int(state["record"])
            return
        self._cursor.first()
        self.record = 0
        self.skip(int(state["record"]) % self.entries)

    def close(self) -> None:
        """End the transaction; the database itself is closed with its last reader."""
        self._cursor.close()
        self._transaction.abort()
        del self._environment
