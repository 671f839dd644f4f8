"""The file of a net: reading it, and noticing what other programs do to it."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from engine.errors import FileFormatError, NetcanvasError

__all__ = ["ChangedOnDiskError", "FileState", "LayoutNotSavedError", "digest", "is_same_file", "read_net_file"]

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


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by whatever links and spellings; a path that cannot be followed does not."""
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


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


class LayoutNotSavedError(NetcanvasError):
    """The net is saved, but not what the user arranged of it, which goes beside."""

    def __init__(self, path: Path, error: OSError) -> None:
        self.path = path
        super().__init__(
            f"The net is saved, but how it is arranged is not: '{path.name}' cannot be written, "
            f"{error.strerror or error}.",
            next_step="Save again when that is mended.",
        )


class FileState:
    """What a file held when a document last read or wrote it.

    Attributes
    ----------
    digest : str or None
        Of that content; None before there was any.
    text : bytes or None
        The content itself, for merging; None where it is too large to be kept.
    gone : bool
        Whether the file was away when it was last looked for; see :meth:`look_for`.
    taken : bool
        Whether a folder had its name then.
    """

    def __init__(self) -> None:
        self.digest: str | None = None
        self.text: bytes | None = None
        self.gone = self.taken = False
        self._same: tuple[int, int] | None = None
        self._place: tuple[int, int] | None = None

    def took(self, path: Path, data: bytes) -> None:
        """Remember that the file holds ``data``."""
        self.digest = digest(data)
        self.text = data if len(data) <= _BIGGEST_KEPT else None
        self.gone = self.taken = False
        self._same = _stamp(path)
        self._place = _place(path)

    def look_for(self, path: Path) -> bool:
        """See whether the file is there; return whether that is news. A folder of that name is no file."""
        before = self.gone, self.taken
        self.gone, self.taken = _absence(path)
        if not self.gone:
            self._place = _place(path)
        return (self.gone, self.taken) != before

    def is_news(self, path: Path) -> bool:
        """Whether :meth:`look_for` or :meth:`changed` have something to say; changes nothing, so any thread may ask."""
        absence = _absence(path)
        if absence != (self.gone, self.taken):
            return True
        stamp = _stamp(path)
        if self.digest is None or absence[0] or (stamp is not None and stamp == self._same):
            return False
        try:
            return digest(path.read_bytes()) != self.digest
        except OSError:
            return False

    def moved_to(self, path: Path) -> Path | None:
        """Return the file in the same folder that this one, which is gone, was renamed to; None if that is not known.

        It is the same file of the disk with the same content: a number of the disk alone is soon given away again.
        """
        try:
            with os.scandir(path.parent) as entries:
                files = [Path(each.path) for each in entries if each.is_file(follow_symlinks=False)]
            found = next((each for each in files if self._place is not None and _place(each) == self._place), None)
            return found if found is not None and digest(found.read_bytes()) == self.digest else None
        except OSError:
            return None

    def expect(self, known: str | None) -> None:
        """Remember that the file was last seen with a content of this digest, in another session."""
        if known != self.digest:
            self.digest, self.text, self._same = known, None, None

    def changed(self, path: Path) -> bool:
        """Whether another program wrote something else; a file that is gone does not count.

        The content is looked at only where size or time are not what they were.
        """
        stamp = _stamp(path)
        if self.digest is None or not os.path.isfile(path) or (stamp is not None and stamp == self._same):
            return False
        try:
            same = digest(path.read_bytes()) == self.digest
        except OSError:
            return False
        self._same = stamp if same else None
        return not same


def _absence(path: Path) -> tuple[bool, bool]:
    """Return whether there is no such file, and whether that is because a folder has its name."""
    is_folder = os.path.isdir(path)
    return is_folder or not os.path.exists(path), is_folder


def _place(path: Path) -> tuple[int, int] | None:
    """Return which file of which disk a path leads to; None where there is none, or the system does not say."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino) if stat.st_ino else None


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return time and size of a file; None where they cannot tell whether it is still the same."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_mtime_ns, stat.st_size) if time.time_ns() - stat.st_mtime_ns > _CLOCK_TICK else None
