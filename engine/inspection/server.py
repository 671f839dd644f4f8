"""The loop of the inspection process: JSON lines in, JSON lines out, everything else to the error output."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeAlias

from engine.errors import NetcanvasError
from engine.faults import text_of
from engine.inspection.guarding import Guard, answer_signals
from engine.inspection.messages import error_to_json

__all__ = ["serve", "take_streams"]

Task: TypeAlias = Callable[[dict[str, Any], Callable[[str], None]], dict[str, Any]]


def serve(memory_limit: int) -> None:
    """Answer questions until the input ends.

    Parameters
    ----------
    memory_limit : int
        Bytes of private memory that the process may have; 0 for no limit.
    """
    questions, answers = take_streams()
    answer_signals()
    _limit_memory(memory_limit)
    pid = os.getpid()
    # plugin code may replace what it can reach; what is needed to answer is kept here
    dumps, leave, process_id = json.JSONEncoder().encode, os._exit, os.getpid
    guard: Guard | None = None

    def send(value: dict[str, Any]) -> None:
        if process_id() != pid:  # a fork made by plugin code must not answer for us
            leave(0)
        answers.write(dumps(value).encode() + b"\n")
        answers.flush()

    for line in _lines(questions):
        from engine.inspection.tasks import TASKS  # after the memory limit, so that it holds for these imports too

        guard = guard or Guard()
        reply = _answer(line, TASKS, send)
        reply["replaced"] = guard.replaced()
        reply["spent"] = bool(reply["replaced"]) or guard.is_spent()
        send(reply)


def take_streams() -> tuple[BinaryIO, BinaryIO]:
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


def _answer(line: bytes, tasks: Mapping[str, Task], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    question = json.JSONDecoder().decode(line.decode())

    def tell(stage: str) -> None:
        send({"id": question["id"], "stage": stage})

    try:
        return {"id": question["id"], "result": tasks[question["task"]](question, tell)}
    except NetcanvasError as error:
        return {"id": question["id"], "error": error_to_json(error)}
    except MemoryError:
        return {"id": question["id"], "failed": "it needs more memory than is allowed", "traceback": ""}
    except BaseException as error:  # nobody interrupts this process; the code that it runs may raise anything
        failed = f"{type(error).__name__}: {text_of(error)}"
        return {"id": question["id"], "failed": failed, "traceback": traceback.format_exc()}
