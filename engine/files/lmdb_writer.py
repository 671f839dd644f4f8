"""Writing LMDB databases of ``Datum`` records, as Caffe's own tools do."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import lmdb

from engine.errors import DataError

__all__ = ["is_whole", "write_datums", "write_records"]

_FIRST_SIZE = 16 << 20
_GROWTH = 2
_BATCH = 1000
_STALE_SECONDS = 3600.0


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
        Keys, rising, and values.

    Returns
    -------
    int
        Number of records.

    Raises
    ------
    DataError
        If the folder exists, or the database cannot be written.
    """
    target = Path(path)
    if target.exists():
        raise DataError(f"Database '{target}' exists already.", next_step="Remove it or choose another name.")
    _remove_leftovers(target)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        count = _write(aside, iter(records))
        _publish(aside, target)
    except (lmdb.Error, OSError) as error:
        raise DataError(f"Database '{target}' cannot be written: {error}.", next_step="Check the disk.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return count


def is_whole(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder holds a database whose file is as long as it should be."""
    file = Path(path) / "data.mdb"
    if not file.is_file() or not file.stat().st_size:
        return False
    try:
        with lmdb.open(str(path), readonly=True, lock=False, create=False) as environment:
            pages = environment.info()["last_pgno"] + 1
            size = environment.stat()["psize"] * pages
    except lmdb.InvalidError:
        return False
    except lmdb.Error:  # in use by this process already, so it could be opened before
        return True
    return bool(file.stat().st_size >= size)


def _write(folder: Path, records: Iterator[tuple[bytes, bytes]]) -> int:
    count = 0
    folder.mkdir(parents=True)
    with lmdb.open(str(folder), map_size=_FIRST_SIZE) as environment:
        while batch := list(islice(records, _BATCH)):
            _put(environment, batch)
            count += len(batch)
        environment.sync(True)
    return count


def _put(environment: Any, batch: list[tuple[bytes, bytes]]) -> None:
    """Write a batch in one transaction, growing the database until it fits."""
    while True:
        try:
            with environment.begin(write=True) as transaction:
                for key, value in batch:
                    transaction.put(key, value, append=True)
            return
        except lmdb.MapFullError:
            environment.set_mapsize(environment.info()["map_size"] * _GROWTH)


def _publish(aside: Path, target: Path) -> None:
    """Give the finished database its name; one that another process finished first stays."""
    try:
        os.rename(aside, target)
    except OSError:
        if not (target / "data.mdb").is_file():
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
