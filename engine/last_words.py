"""What a process is doing, noted where another can read it after the process has died without a word.

A crash, ``os._exit`` or the system's memory killer ends a process at once. Whoever waits for it then knows by the note
which layer was running. Notes cost a copy of some bytes into shared memory, and nothing where nobody asked for them.
"""

from __future__ import annotations

import mmap
from contextvars import ContextVar
from pathlib import Path

__all__ = ["LastWords", "last_words", "read_doing"]

_SIZE = 512
_FINISHED = 0
_DOING = 1
_LEFT_AT = _DOING + _SIZE


class LastWords:
    """A note in memory that is shared with the processes forked after it was made.

    Parameters
    ----------
    path : Path, optional
        A file that the memory stands for, so that any process can read what was noted last, see :func:`read_doing`. It
        is made, or emptied; the system writes it out when it sees fit, and no note waits for that.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            self._memory = mmap.mmap(-1, 1 + 2 * _SIZE)
            return
        with path.open("wb+") as file:
            file.write(bytes(1 + 2 * _SIZE))  # all of it: a hole that a full disk cannot fill would kill the process
            file.flush()
            self._memory = mmap.mmap(file.fileno(), 1 + 2 * _SIZE)

    @staticmethod
    def entry(text: str) -> bytes:
        """Return a text as :meth:`note` takes it; long ones are cut."""
        return text.encode("utf-8", "backslashreplace")[:_SIZE].ljust(_SIZE, b"\0")

    def note(self, entry: bytes = b"\0" * _SIZE) -> None:
        """Say what is being done now; nothing in particular by default."""
        self._memory[_DOING:_LEFT_AT] = entry

    def leave(self, text: str) -> None:
        """Say from where the process is about to be ended."""
        self._memory[_LEFT_AT : _LEFT_AT + _SIZE] = self.entry(text)

    def finish(self) -> None:
        """Say that the process has done what it was to do, well or not."""
        self._memory[_FINISHED] = 1

    @property
    def finished(self) -> bool:
        """Whether :meth:`finish` was called."""
        return self._memory[_FINISHED] == 1

    @property
    def doing(self) -> str:
        """What was being done; empty for nothing in particular."""
        return self._text(_DOING)

    @property
    def left_at(self) -> str:
        """From where the process ended itself; empty where that is not known."""
        return self._text(_LEFT_AT)

    def _text(self, start: int) -> str:
        return _decoded(self._memory[start : start + _SIZE])


def read_doing(path: Path) -> str:
    """Return what a process was doing whose notes stand in a file; empty where there is none, or nothing in it."""
    try:
        return _decoded(path.read_bytes()[_DOING:_LEFT_AT])
    except OSError:
        return ""


def _decoded(entry: bytes) -> str:
    return entry.rstrip(b"\0").decode("utf-8", "replace")


_words: ContextVar[LastWords | None] = ContextVar("last words", default=None)


def last_words(words: LastWords | None = None) -> LastWords | None:
    """Return where this process notes what it does, or None where nobody will read it; given one, begin with that."""
    if words is not None:
        _words.set(words)
    return _words.get()
