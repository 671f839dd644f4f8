"""Questions to the operating system about processes: is that one still the one that was meant, and how did it end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

__all__ = ["describe_exit", "is_running", "lower_priority", "start_mark"]

_NICE = 10


def start_mark(pid: int) -> str:
    """Return when a process began, in the system's own ticks, so that a reused pid is not taken for it.

    Empty where the system does not say (anything but Linux) and for a process that has ended.
    """
    fields = _stat_fields(pid)
    return fields[19] if fields and fields[0] not in "ZX" else ""


def is_running(pid: int, mark: str = "") -> bool:
    """Tell whether a process runs: exists, is no zombie, and began at ``mark`` where that is given."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _is_running_on_windows(pid)
    if Path("/proc/self/stat").exists():
        found = start_mark(pid)
        return bool(found) and mark in ("", found)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _stat_fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _is_running_on_windows(pid: int) -> bool:
    import ctypes

    query, still_active = 0x1000, 259
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - the name exists on Windows only
    handle = kernel.OpenProcess(query, False, pid)
    if not handle:
        return False
    try:
        code = ctypes.c_ulong()
        return bool(kernel.GetExitCodeProcess(handle, ctypes.byref(code))) and code.value == still_active
    finally:
        kernel.CloseHandle(handle)


def lower_priority() -> None:
    """Put this process behind the programs that somebody looks at."""
    if hasattr(os, "nice"):
        os.nice(max(0, _NICE - os.nice(0)))


def describe_exit(returncode: int | None) -> str:
    """Say in words how a process ended; ``returncode`` as :class:`subprocess.Popen` gives it, None when unknown."""
    if returncode is None:
        return "its process is gone"
    if returncode >= 0:
        return f"its process ended with exit code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    if name == "SIGKILL":
        return "its process was killed (SIGKILL; the system may have run out of memory)"
    if name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"):
        return f"its process crashed ({name})"
    return f"its process was ended by {name}"
