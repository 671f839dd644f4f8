"""One inspection process as its owner sees it: start, ask with a time limit, kill."""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from engine.errors import WorkerError
from engine.inspection.guarding import stack_signal

__all__ = ["InspectionProcess", "ProcessLost"]

_ENGINE_PARENT = str(Path(__file__).resolve().parent.parent.parent)
_TAIL_LINES = 60
_DUMP_SECONDS = 0.5


class ProcessLost(Exception):
    """The process ended or was killed before it answered.

    Parameters
    ----------
    reason : str
        ``"time"`` when it was killed for taking too long, ``"exit"`` when it ended by itself.
    returncode : int
        Its exit status; negative for a signal.
    output : str
        The last lines that it printed.
    stage : str
        What it was at: ``import``, ``setup`` or ``reshape``; empty where it had not begun.
    """

    def __init__(self, reason: str, returncode: int, output: str, stage: str = "") -> None:
        self.reason = reason
        self.returncode = returncode
        self.output = output
        self.stage = stage
        super().__init__(f"{reason}, exit status {returncode}")


class InspectionProcess:
    """A running ``python -m engine.inspection``.

    Parameters
    ----------
    memory_limit : int
        Bytes of private memory it may have; 0 for no limit.

    Raises
    ------
    WorkerError
        If it cannot be started.
    """

    def __init__(self, memory_limit: int) -> None:
        path = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH", ""), _ENGINE_PARENT) if part)
        command = [sys.executable, "-P", "-m", "engine.inspection", str(memory_limit)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerError(f"The inspection process could not be started: {error}.") from error
        self._ids = itertools.count(1)
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._output: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
        self._stage = ""
        self._last_output = 0.0
        self._threads = [
            threading.Thread(target=self._read_answers, daemon=True, name="inspection answers"),
            threading.Thread(target=self._read_output, daemon=True, name="inspection output"),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, task: str, question: dict[str, Any], time_limit: float) -> dict[str, Any]:
        """Ask one question and return the answer.

        Raises
        ------
        ProcessLost
            If no answer came within ``time_limit`` seconds, or the process ended. It is gone then.
        """
        number = next(self._ids)
        self._stage = ""
        line = json.dumps({**question, "id": number, "task": task}).encode() + b"\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:
            raise self._lost("exit") from None
        deadline = time.monotonic() + time_limit
        while True:
            try:
                answer = self._answers.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                raise self._lost("time") from None
            if answer is None:
                raise self._lost("exit")
            try:
                value: dict[str, Any] = json.loads(answer)
            except ValueError:  # plugin code wrote where only answers are written
                raise self._lost("garbled") from None
            if value.get("id") != number:
                continue
            if "stage" not in value:
                return value
            self._stage = value["stage"]

    def stop(self) -> None:
        """End the process and what it started without waiting; :meth:`ask` then raises :class:`ProcessLost`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def kill(self) -> None:
        """End the process and what it started, and wait for it."""
        self.stop()
        self._release()

    def close(self) -> None:
        """Let the process end by itself, or kill it when it does not."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self.kill()

    def _lost(self, reason: str) -> ProcessLost:
        if reason == "exit":
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
        elif reason == "time":
            self._ask_where()
        returncode = self._process.poll()
        self.kill()
        return ProcessLost(reason, returncode or 0, "".join(self._output), self._stage)

    def _ask_where(self) -> None:
        """Let a process that hangs print where it is."""
        number = stack_signal()
        if not number:
            return
        before = len(self._output)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.send_signal(number)
        deadline = time.monotonic() + _DUMP_SECONDS
        while time.monotonic() < deadline and (len(self._output) == before or self._dumping()):
            time.sleep(0.01)

    def _dumping(self) -> bool:
        """Whether lines still came a moment ago."""
        return time.monotonic() - self._last_output < 0.05

    def _release(self) -> None:
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        for thread, stream in zip(self._threads, (self._process.stdout, self._process.stderr), strict=True):
            thread.join(1.0)
            if stream is not None and not thread.is_alive():  # a stray child may hold the other end open
                stream.close()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(None)

    def _read_output(self) -> None:
        assert self._process.stderr is not None
        while chunk := self._process.stderr.readline(4096):
            self._output.append(chunk.decode("utf-8", "replace"))
            self._last_output = time.monotonic()
