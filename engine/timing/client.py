"""Asking for a measurement: the net runs in a process of its own, which can be stopped at any time."""

from __future__ import annotations

import base64
import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import WorkerError
from engine.inspection.messages import error_from_json
from engine.rules import NetState
from engine.timing.times import NetTimes
from engine.worker.processes import describe_exit

__all__ = ["TimingProcess", "TimingRequest"]

_ENGINE_PARENT = str(Path(__file__).resolve().parent.parent.parent)
_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class TimingRequest:
    """What is measured.

    Attributes
    ----------
    net : bytes
        Text of the net.
    state : NetState
        Which of its nets.
    base_dirs, plugin_folders : tuple of Path
        Where data and plugins are looked for. Code of plugins runs: they are to be trusted.
    seconds : float
        About how long all passes together may take; at least two are made.
    """

    net: bytes
    state: NetState
    base_dirs: tuple[Path, ...] = field(default=())
    plugin_folders: tuple[Path, ...] = field(default=())
    seconds: float = 3.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "net": base64.b64encode(self.net).decode(),
            "phase": self.state.phase,
            "level": self.state.level,
            "stages": sorted(self.state.stages),
            "base_dirs": [str(folder) for folder in self.base_dirs],
            "plugin_folders": [str(folder) for folder in self.plugin_folders],
            "seconds": self.seconds,
        }


class TimingProcess:
    """A running ``python -m engine.timing``; it ends with its owner.

    Parameters
    ----------
    request : TimingRequest
        What is measured.

    Raises
    ------
    WorkerError
        If it cannot be started.
    """

    def __init__(self, request: TimingRequest) -> None:
        path = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH", ""), _ENGINE_PARENT) if part)
        self._output: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
        self._stopped = False
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engine.timing"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerError(f"The process that measures could not be started: {error}.") from error
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended already, and wait() says how
            self._process.stdin.write(json.dumps(request.to_json()).encode() + b"\n")
            self._process.stdin.flush()

    def wait(self, progress: Callable[[int, int], object] = lambda _done, _of: None) -> NetTimes | None:
        """Return what was measured; None where it was stopped. To be called once, from any thread.

        Parameters
        ----------
        progress : callable
            Told how many passes are done, and of how many.

        Raises
        ------
        engine.errors.NetcanvasError
            What is wrong with the net; :class:`~engine.errors.WorkerError` where the process was lost.
        """
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        drain = threading.Thread(target=self._drain, name="netcanvas-timing-output", daemon=True)
        drain.start()
        try:
            for line in process.stdout:
                message: dict[str, Any] = json.loads(line)
                if "error" in message:
                    raise error_from_json(message["error"])
                if "result" in message:
                    return NetTimes.from_json(message["result"])
                progress(message["done"], message["of"])
            if self._stopped:
                return None
            process.wait()
            drain.join(1.0)
            lines = "".join(self._output).strip().splitlines()
            last = f" It last said: {lines[-1]}" if lines else ""
            raise WorkerError(f"The net could not be measured: {describe_exit(process.returncode)}.{last}")
        finally:
            self.stop()
            process.wait()
            drain.join(1.0)
            for stream in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    stream.close()

    def stop(self) -> None:
        """End the process and what it started; :meth:`wait` then returns None."""
        self._stopped = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._process.poll() is None:
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def _drain(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._output.append(line.decode("utf-8", "replace"))
