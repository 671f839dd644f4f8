"""Writing LMDB databases of ``Datum`` records, as Caffe's own tools do."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.errors import DataError
from engine.files.new_database import new_database

__all__ = ["is_whole", "write_datums", "write_records"]


def write_datums(path: str | os.PathLike[str], datums: Iterable[Any]) -> int:
    """Write ``Datum`` messages under the keys ``00000000``, ``00000001`` and so on.

    Parameters and errors are those of :func:`write_records`.
    """
    return write_records(path, (((b"%08d" % index), datum.SerializeToString()) for index, datum in enumerate(datums)))


def write_records(path: str | os.PathLike[str], records: Iterable[tuple[bytes, bytes]]) -> int:
    """Write a new database, which appears under its name only when it is whole.

    Parameters
    ----------
    path : path
        Folder of the database; must not exist.
    records : iterable of (bytes, bytes)
        Keys and values.

    Returns
    -------
    int
        Number of records.

    Raises
    ------
    DataError
        If the folder exists, or the database cannot be written.
    """
    count = 0
    with new_database(path) as database:
        for key, value in records:
            database.put(key, value)
            count += 1
    return count


def is_whole(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder holds a database whose file is as long as it should be."""
    from engine.data.lmdb_check import read_layout  # that package imports this one

    try:
        read_layout(Path(path) / "data.mdb")
    except DataError:
        return False
    return True
