"""Writing files so that nothing the user had is ever half-overwritten.

The new content goes into a file beside the old one, is flushed to the disk, and takes its name in one step.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_write", "atomic_writer"]


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the content of a file, wholly or not at all.

    Parameters
    ----------
    path : path
        The file; where it is a symbolic link, the file that the link leads to is replaced. Its permissions stay. What
        is there and is no file, such as ``/dev/stdout`` or a pipe, is written to and stays what it is.
    data : bytes

    Raises
    ------
    OSError
        If the file cannot be written; it is as it was then.
    """
    with atomic_writer(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_writer(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file whose content takes effect when the block ends without an exception.

    Parameters
    ----------
    path : path
        As for :func:`atomic_write`.

    Yields
    ------
    file : binary file
        Lies in the folder of ``path``, under a hidden name.
    """
    try:
        target = Path(path).resolve()
    except RuntimeError as error:  # of links that lead in a circle, before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path)) from error
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as device:
            yield device
        return
    aside = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            _copy_permissions(target, aside)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == str(aside):
            error.filename = str(target)  # nobody knows the hidden name
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _copy_permissions(source: Path, target: Path) -> None:
    """Give ``target`` the mode, and where we may the group, of ``source``, if that exists."""
    try:
        status = source.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "chown") and status.st_gid != target.stat().st_gid:
        with contextlib.suppress(OSError):
            os.chown(target, -1, status.st_gid)
    target.chmod(stat.S_IMODE(status.st_mode))


def _flush_folder(folder: Path) -> None:
    """Make the new name durable; some file systems and Windows cannot, which does no harm."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
