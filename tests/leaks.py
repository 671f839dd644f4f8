"""Threads and processes that a test began and did not end."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

#: What a library begins once and keeps for good.
_KEPT = frozenset({"tqdm_monitor"})
_GRACE = 20.0  # seconds; what was told to stop may be in the middle of a piece of work, on a busy machine


class Running:
    """The threads of this process and the processes that it started, as they are now."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._processes = _children()

    def check_nothing_new(self) -> None:
        """Fail the test if something runs that did not run then."""
        begun = [thread for thread in threading.enumerate() if thread not in self._threads and thread.name not in _KEPT]
        for thread in begun:
            thread.join(_GRACE)
        left = [thread.name for thread in begun if thread.is_alive()]
        if left:
            pytest.fail(f"threads outlive the test: {left}")
        processes = _children() - self._processes
        if processes:
            pytest.fail(f"processes outlive the test: {[_command(each) for each in processes]}")


def _children() -> set[int]:
    """Processes that this one started and that run; none where the system does not tell."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in os.listdir("/proc/self/task"):
            with contextlib.suppress(OSError):
                found.update(map(int, Path(f"/proc/self/task/{task}/children").read_text().split()))
    return {child for child in found if _state(child) not in ("Z", "")}


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return str(process)
