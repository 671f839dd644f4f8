"""What a process is doing, noted where another can read it after the process has died without a word.

A crash, ``os._exit`` or the system's memory killer ends a process at once. Whoever waits for it then knows by the note
which layer was running. Notes cost a copy of some bytes into shared memory, and nothing where nobody asked for them.
"""

from __future__ import annotations

import mmap
from contextvars import ContextVar

__all__ = ["LastWords", "last_words"]

_SIZE = 512
_FINISHED = 0
_DOING = 1
_LEFT_AT = _DOING + _SIZE


class LastWords:
    """A note in memory that is shared with the processes forked after it was made."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1 + 2 * _SIZE)

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
        return self._memory[start : start + _SIZE].rstrip(b"\0").decode("utf-8", "replace")


_words: ContextVar[LastWords | None] = ContextVar("last words", default=None)


def last_words(words: LastWords | None = None) -> LastWords | None:
    """Return where this process notes what it does, or None where nobody will read it; given one, begin with that."""
    if words is not None:
        _words.set(words)
    return _words.get()
