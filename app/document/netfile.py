"""The file of a net: reading it, and noticing what other programs do to it."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from engine.errors import FileFormatError, NetcanvasError

__all__ = ["ChangedOnDiskError", "FileState", "digest", "read_net_file"]

_BIGGEST_NET = 2**31
_BIGGEST_KEPT = 8 * 2**20
_CLOCK_TICK = 100_000_000  # nanoseconds; a file written this lately may change again with the same time


def read_net_file(path: Path) -> bytes:
    """Read a file that holds text no longer than a net can be.

    Raises
    ------
    FileFormatError
        When it is larger, or no text.
    OSError
        When it cannot be read.
    """
    size = path.stat().st_size
    if size > _BIGGEST_NET:
        raise FileFormatError(
            f"'{path.name}' has {size / 2**20:.0f} MB, more than a net description can have.",
            next_step="Weights (.caffemodel) are chosen in the training panel, not opened.",
        )
    data = path.read_bytes()
    if b"\0" in data:
        raise FileFormatError(
            f"'{path.name}' is a binary file; expected prototxt text.",
            next_step="Weights (.caffemodel) are chosen in the training panel, not opened.",
        )
    return data


def digest(data: bytes) -> str:
    """Return what tells one content of a file from another."""
    return hashlib.sha256(data).hexdigest()


class ChangedOnDiskError(NetcanvasError):
    """The file was changed by another program since it was read; saving would lose that."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"'{path.name}' was changed by another program since it was opened.",
            next_step="Overwrite it, reload it, or save under another name.",
        )


class FileState:
    """What a file held when a document last read or wrote it.

    Attributes
    ----------
    digest : str or None
        Of that content; None before there was any.
    text : bytes or None
        The content itself, for merging; None where it is too large to be kept.
    """

    def __init__(self) -> None:
        self.digest: str | None = None
        self.text: bytes | None = None
        self._same: tuple[int, int] | None = None

    def took(self, path: Path, data: bytes) -> None:
        """Remember that the file holds ``data``."""
        self.digest = digest(data)
        self.text = data if len(data) <= _BIGGEST_KEPT else None
        self._same = _stamp(path)

    def expect(self, known: str | None) -> None:
        """Remember that the file was last seen with a content of this digest, in another session."""
        if known != self.digest:
            self.digest, self.text, self._same = known, None, None

    def changed(self, path: Path) -> bool:
        """Whether another program wrote something else; a file that is gone does not count.

        The content is looked at only where size or time are not what they were.
        """
        stamp = _stamp(path)
        if self.digest is None or not path.is_file() or (stamp is not None and stamp == self._same):
            return False
        try:
            same = digest(path.read_bytes()) == self.digest
        except OSError:
            return False
        self._same = stamp if same else None
        return not same


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return time and size of a file; None where they cannot tell whether it is still the same."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_mtime_ns, stat.st_size) if time.time_ns() - stat.st_mtime_ns > _CLOCK_TICK else None
