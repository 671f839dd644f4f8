"""A lock that the system takes back when its process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["ProcessLock"]


class ProcessLock:
    """An exclusive lock on a file.

    A number of a process in a file would not do: after a crash another program may have the same number, and in a
    container it nearly always has.

    Parameters
    ----------
    path : Path
        The file; it is made when missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock without waiting; return whether it was free."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back, if it is held."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
