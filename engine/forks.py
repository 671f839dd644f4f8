"""Processes that plugin code forks: none of them goes on with the training that its parent does.

A child that ``os.fork`` made in a layer's method, and that returns from it, would train, write the same snapshots and
report the same run a second time. It is ended where that would begin.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator

__all__ = ["one_process"]

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def one_process() -> Iterator[None]:
    """End, when the block is left, a process that was forked inside of it.

    Its exit code is what its code asked for by ``sys.exit``, 1 after another exception, and 0 otherwise.
    """
    pid, leave = os.getpid(), os._exit
    try:
        yield
    except BaseException as error:
        if os.getpid() != pid:
            leave(_exit_code(error))
        raise
    if os.getpid() != pid:
        _log.warning(
            "A process that a plugin's code forked returned from its layer's method; it was ended. "
            "Let such a process end itself by os._exit(0)."
        )
        leave(0)


def _exit_code(error: BaseException) -> int:
    """Return the code with which Python would end for an exception, or for what caused it, and print what it would."""
    root: BaseException | None = error
    while root is not None and not isinstance(root, SystemExit):
        root = root.__cause__
    code = root.code if root is not None else 1
    if root is None:
        with contextlib.suppress(Exception):
            traceback.print_exception(error)
    elif isinstance(code, str):
        with contextlib.suppress(Exception):
            sys.stderr.write(f"{code}\n")
    return code & 0xFF if isinstance(code, int) else int(code is not None)
