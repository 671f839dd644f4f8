"""Opening binary files without reading them whole, and saying what a wrong one looks like."""

from __future__ import annotations

import mmap
from pathlib import Path

from engine.errors import FileFormatError
from engine.schema import FileKind, describe_kind, sniff
from engine.schema.wire import WireError, iter_fields

__all__ = ["damaged", "map_file"]


def map_file(path: Path, wanted: FileKind) -> memoryview:
    """Return the bytes of a binary file of one kind, mapped and not read.

    Parameters
    ----------
    path : Path
    wanted : FileKind
        ``WEIGHTS``, ``SOLVER_STATE`` or ``BLOB``.

    Returns
    -------
    memoryview
        Read-only; the file stays mapped as long as the view, or an array on it, is in use.

    Raises
    ------
    FileFormatError
        If the file cannot be read, is damaged, or is of another kind; the message says what it looks like.
    """
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileFormatError(f"'{path}' cannot be read: {reason}.", next_step="Check the path.") from error
    view = memoryview(content)
    kind = sniff(content)
    if kind is wanted:
        return view
    if kind is FileKind.BINARY:
        try:
            for _ in iter_fields(view):
                pass
        except WireError as error:
            raise damaged(path, wanted, error) from error
    looks_like, step = describe_kind(content, wanted)
    raise FileFormatError(f"Expected {wanted.value}, but '{path}' looks like {looks_like}.", next_step=step)


def damaged(path: Path, wanted: FileKind, error: Exception) -> FileFormatError:
    """Return the error for a file that is broken inside."""
    return FileFormatError(
        f"'{path}' is no {wanted.value.removeprefix('a ')}, or it is damaged: {error}.",
        next_step="Download or copy it again, and compare its size with the original's.",
    )
