"""A command in a process of its own, so that somebody is left to say why it ended without a word.

Code of plugins may crash, call ``os._exit`` or use up the memory. The process that was started forks before anything
is loaded, the child runs the command, and the parent sleeps until it ends. Both are in one process group, so that the
terminal reaches the child by itself; what is sent to the parent alone is passed on. The parent ends as the child did,
by the same signal or exit code, and the child never outlives it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from engine.last_words import LastWords, last_words

__all__ = ["end_in_time", "run_supervised"]

#: Commands that run code of plugins for as long as it takes.
_COMMANDS = frozenset({"train", "test", "time", "extract_features", "gradcheck"})

#: Set to run everything in the process that was started, for debuggers and profilers.
_ALONE = "NETCANVAS_ONE_PROCESS"
_PASSED_ON = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
# A signal that reaches the child within so many seconds of the parent's request was sent to both.
_SAME = 0.1
_WAIT = 0.03
# Seconds that threads and exit functions of plugins have when the command is done.
_PATIENCE = 5.0


def run_supervised(arguments: Sequence[str], run: Callable[[Sequence[str]], int]) -> int:
    """Run the program, in a child where the command may run plugins' code and the system can fork.

    Parameters
    ----------
    arguments : sequence of str
        Those of the process, without the program's name.
    run : callable
        Given the arguments, returns an exit code.

    Returns
    -------
    int
        The exit code, in the child as in the parent: the caller goes on to end the process in both. Where a signal
        ended the child, the same signal ends the parent, and nothing is returned.
    """
    can = hasattr(os, "fork") and not (os.environ.get(_ALONE) or sys.gettrace() or sys.getprofile())
    command = next((word for word in arguments if word != "--safe"), "")
    if not can or command not in _COMMANDS:
        return run(arguments)
    words = LastWords()
    requests, send = os.pipe()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    waited_for = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    child = os.fork()
    if child == 0:
        os.close(send)
        _obey(requests)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _in_child(lambda: run(arguments), words)
    os.close(requests)
    status = _wait(child, waited_for, send)
    return _end_as(status, words)


# The child


def _in_child(command: Callable[[], int], words: LastWords) -> int:
    last_words(words)
    leave = os._exit
    os._exit = _telling(words)  # type: ignore[assignment]  # that it never returns cannot be said of a stand-in
    code = 1
    try:
        code = command()
        return code
    finally:
        words.finish()
        end_in_time(code, leave)


def end_in_time(code: int, leave: Callable[[int], Any] = os._exit) -> None:
    """Let the process, whose work is done, end soon, whatever threads and exit functions plugins have left in it.

    Parameters
    ----------
    code : int
        The exit code.
    leave : callable
        What ends a process at once.
    """
    threading.Thread(target=_leave_in_time, args=(leave, code), daemon=True, name="netcanvas end").start()


def _leave_in_time(leave: Callable[[int], Any], code: int) -> None:
    time.sleep(_PATIENCE)
    kept = [each.name for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
    what = f"the threads of a plugin ({', '.join(kept[:3])})" if kept else "what a plugin's code does at exit"
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"netcanvas: all is done; not waiting for {what} any longer.\n")
            sys.stderr.flush()
    leave(code)


def _telling(words: LastWords) -> Callable[[int], Any]:
    """Return ``os._exit`` as it is, but that this process notes from where it was called."""
    leave, pid = os._exit, os.getpid()

    def _exit(status: int) -> Any:
        if os.getpid() == pid:
            frame = sys._getframe(1)
            words.leave(f"os._exit was called at {frame.f_code.co_filename}:{frame.f_lineno}")
        leave(status)

    return _exit


def _obey(requests: int) -> None:
    """Let a thread take signals that the parent passes on, and end the process when the parent is gone."""
    arrived, wakeup = os.pipe()
    for end in (arrived, wakeup):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)  # tells of every signal that comes by itself
    threading.Thread(target=_take, args=(requests, arrived), daemon=True, name="netcanvas supervisor").start()


def _take(requests: int, arrived: int) -> None:
    last: dict[int, float] = {}
    pid = os.getpid()
    while True:
        ready, _, _ = select.select([requests, arrived], [], [])
        _note_arrived(arrived, last)
        if requests not in ready:
            continue
        wanted = os.read(requests, 1)
        if not wanted:
            os.kill(pid, signal.SIGKILL)
        number = wanted[0]
        if time.monotonic() - last.get(number, 0.0) > _SAME:
            select.select([arrived], [], [], _WAIT)
            _note_arrived(arrived, last)
        if time.monotonic() - last.get(number, 0.0) > _SAME:
            os.kill(pid, number)


def _note_arrived(arrived: int, last: dict[int, float]) -> None:
    with contextlib.suppress(BlockingIOError):
        for number in os.read(arrived, 4096):
            last[number] = time.monotonic()


# The parent


def _wait(child: int, waited_for: set[signal.Signals], send: int) -> int:
    """Sleep until the child ends, passing signals on; return its status as :func:`os.waitpid` gives it."""
    signal.signal(signal.SIGCHLD, lambda number, frame: None)  # one that is ignored might not be waited for
    while True:
        number = signal.sigwait(waited_for)
        if number != signal.SIGCHLD:
            with contextlib.suppress(BrokenPipeError):
                os.write(send, bytes([number]))
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


def _end_as(status: int, words: LastWords) -> int:
    code = os.waitstatus_to_exitcode(status)
    asked = (*_PASSED_ON, getattr(signal, "SIGQUIT", 0))
    if not words.finished and -code not in asked:
        sys.stderr.write(f"netcanvas: error: {_obituary(code, words)}\n")
        sys.stderr.flush()
        code = code or 1
    if code < 0:
        _end_by(signal.Signals(-code))
    return code


def _obituary(code: int, words: LastWords) -> str:
    """Say how the process ended and what it was doing."""
    doing = words.doing or "The process"
    if code >= 0:
        at = f" ({words.left_at})" if words.left_at else ""
        return f"{doing}: the process was ended with exit code {code}{at}. Raise an exception instead."
    name = signal.Signals(-code).name
    if -code == signal.SIGKILL:
        return (
            f"{doing}: the process was killed (SIGKILL): by hand, or by the system for want of memory. "
            "Lower the batch size, or look at what the layer allocates."
        )
    return f"{doing}: the process crashed ({name}). Look for native code that is called there."


def _end_by(number: signal.Signals) -> None:
    """End by a signal, as the child did, without a second core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
