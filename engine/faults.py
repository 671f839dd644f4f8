"""Which exceptions are faults of code that we call, and how they are told."""

from __future__ import annotations

import opcode

__all__ = ["is_fault", "text_of"]

_RAISE = opcode.opmap["RAISE_VARARGS"]


def is_fault(error: BaseException) -> bool:
    """Whether an exception is a fault of the code that was called, and not the user's wish to stop.

    All are, ``SystemExit`` too: a plugin that calls ``exit()`` does not end the process. A ``KeyboardInterrupt`` is the
    user's unless a ``raise`` statement of that code made it.
    """
    return not isinstance(error, KeyboardInterrupt) or _is_raised_by_hand(error)


def _is_raised_by_hand(error: BaseException) -> bool:
    """Whether the innermost frame of an exception stands at a ``raise`` statement, as no interrupt's does."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code.co_code
    return 0 <= trace.tb_lasti < len(code) and code[trace.tb_lasti] == _RAISE


def text_of(error: BaseException) -> str:
    """Return the text of an exception, which may itself fail to make one."""
    try:
        return str(error).strip() or "no message"
    except BaseException:
        return "no message"
