"""What plugin code must leave alone in its process, and how its faults are seen from inside."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import sys

from engine.plugins.roots import plugin_finder
from engine.plugins.tampering import SharedNames

__all__ = ["Guard", "answer_signals", "place_in_dump", "stack_signal"]

#: Memory, in bytes, beyond which a process is not used for the next question.
_MUCH = 1 << 30
_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<where>.+)$', re.MULTILINE)


class Guard:
    """The process as it was before any plugin was imported: names of shared modules, working directory, stack."""

    def __init__(self) -> None:
        self._before = SharedNames()
        self._folder, self._depth = _working_directory(), sys.getrecursionlimit()
        self._memory = _most_memory()

    def replaced(self) -> list[str]:
        """Return what was replaced since the last time and put back, and what still is, such as ``numpy.zeros``."""
        finder = plugin_finder()
        undone, finder.replaced = finder.replaced, []
        return list(dict.fromkeys([*undone, *map(str, self._before.replaced())]))

    def is_spent(self) -> bool:
        """Whether the next question needs a process of its own.

        That is where this one has had much memory, or where plugin code left it in another working directory, with
        less room for calls within calls, or without its modules.
        """
        if _working_directory() != self._folder or sys.getrecursionlimit() < self._depth or __name__ not in sys.modules:
            return True
        return _most_memory() > max(_MUCH, self._memory)


def _most_memory() -> int:
    """Return how much memory, in bytes, the process had at most; on Linux, what started it counts as well."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return ""


def stack_signal() -> int:
    """Return the signal that makes a process print where it is, or 0 where there is none."""
    return int(getattr(signal, "SIGUSR1", 0))


def answer_signals() -> None:
    """Print where the process is on the error output when asked, also from inside an endless loop."""
    faulthandler.enable()
    number = stack_signal()
    if number and hasattr(faulthandler, "register"):
        faulthandler.register(number, all_threads=False)


def place_in_dump(output: str) -> tuple[str, int, str]:
    """Return file, line and function of the innermost frame that is not ours in what :func:`answer_signals` printed.

    Returns
    -------
    tuple of (str, int, str)
        ``("", 0, "")`` where there is none.
    """
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    start = output.rfind("(most recent call first)")
    for match in _FRAME.finditer(output, max(start, 0)) if start >= 0 else ():
        if not match["file"].startswith((ours, "<frozen")):
            return match["file"], int(match["line"]), match["where"]
    return "", 0, ""
