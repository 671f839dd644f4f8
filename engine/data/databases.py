"""Databases of records, whatever library holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from engine.data.lmdb_reader import LmdbReader
from engine.errors import DataError, MissingDataError
from engine.paths import ResolvedPath, resolve

__all__ = ["RecordReader", "open_database"]


class RecordReader(Protocol):
    """A cursor that runs through a database in key order and starts over after the last record."""

    @property
    def path(self) -> Path:
        """The database."""

    def next(self) -> tuple[bytes, bytes | memoryview]:
        """Return key and value of the next record; the value is valid until the reader is closed."""

    def skip(self, count: int) -> None:
        """Pass over ``count`` records."""

    def get_state(self) -> dict[str, Any]:
        """Return the position as index and key of the next record."""

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to a saved position: to its key, or by counting if the database has that key no more."""

    def close(self) -> None:
        """Let go of the database."""


def open_database(written: str, folders: Sequence[Path], owner: str) -> RecordReader:
    """Open the database a net names, whatever ``backend`` says: its kind is read from its files.

    Parameters
    ----------
    written : str
        Path as the net spells it.
    folders : sequence of Path
        Folders to look in.
    owner : str
        What the messages name, such as ``Layer 'mnist' (Data)``.

    Raises
    ------
    DataError
        If it is missing, of a kind that cannot be read, damaged, or empty.
    """
    found = resolve(written, folders)
    if not written or not found.found:
        raise _missing(written, found, owner)
    path = found.path
    if not path.is_dir() or (path / "data.mdb").exists():
        return LmdbReader(path)
    if (path / "CURRENT").exists():
        from engine.data.leveldb_reader import LevelDbReader

        return LevelDbReader(path)
    raise DataError(
        f"{owner}: expected a database in '{path}', got a folder without data.mdb (LMDB) or CURRENT (LevelDB).",
        next_step="Name the folder that holds the database's files.",
    )


def _missing(written: str, found: ResolvedPath, owner: str) -> DataError:
    if not written:
        step = "Name it there."
        return DataError(f"{owner}: expected the path of a database in data_param.source, got none.", next_step=step)
    tried = ", ".join(f"'{path}'" for path in found.tried)
    step = "Put the data there, or correct the path."
    return MissingDataError(f"{owner}: database '{written}' was not found; tried {tried}.", next_step=step)
