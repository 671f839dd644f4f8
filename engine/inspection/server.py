"""The loop of the inspection process: JSON lines in, JSON lines out, everything else to the error output."""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import sys
import threading
import traceback
from typing import Any, BinaryIO

from engine.errors import NetcanvasError
from engine.inspection.messages import error_to_json

__all__ = ["serve"]


def serve(memory_limit: int) -> None:
    """Answer questions until the input ends.

    Parameters
    ----------
    memory_limit : int
        Bytes of private memory that the process may have; 0 for no limit.
    """
    questions, answers = _take_streams()
    faulthandler.enable()
    _limit_memory(memory_limit)
    pid = os.getpid()
    for line in _lines(questions):
        reply = _answer(line)
        if os.getpid() != pid:  # a fork made by plugin code must not answer for us
            os._exit(0)
        answers.write(json.dumps(reply).encode() + b"\n")
        answers.flush()


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the protocol's streams to ourselves; prints go to the error output, reading input gives its end."""
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return questions, answers


def _lines(questions: BinaryIO) -> Any:
    """Yield lines as they come. A thread reads, so that the end of the input ends even a process that hangs."""
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        for line in questions:
            waiting.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True, name="questions").start()
    while True:
        yield waiting.get()


def _limit_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows, where only the time is limited
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limit > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _answer(line: bytes) -> dict[str, Any]:
    question = json.loads(line)
    from engine.inspection.tasks import TASKS  # after the memory limit, so that it holds for these imports too

    try:
        return {"id": question["id"], "result": TASKS[question["task"]](question)}
    except NetcanvasError as error:
        return {"id": question["id"], "error": error_to_json(error)}
    except MemoryError:
        return {"id": question["id"], "failed": "it needs more memory than is allowed", "traceback": ""}
    except (Exception, SystemExit) as error:
        failed = f"{type(error).__name__}: {error}"
        return {"id": question["id"], "failed": failed, "traceback": traceback.format_exc()}
