"""A viewer's side: start a training process, attach to one, hear what happens, give commands.

>>> run = RunFolder.create(folder, net_text, solver_text, "lenet")      # doctest: +SKIP
>>> process = TrainingProcess.start(run, base_dirs=[net_folder])         # doctest: +SKIP
>>> with attach(run, process=process) as viewer:                         # doctest: +SKIP
...     while not viewer.ended:
...         for event in viewer.events():
...             print(event)
"""

from __future__ import annotations

import collections
import contextlib
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from engine.backends.threads import default_threads
from engine.errors import WorkerError
from engine.worker.events import Event, Failure, Finished, Lost, Output, TensorReply, from_message
from engine.worker.logs import LogTail
from engine.worker.processes import is_running
from engine.worker.protocol import MAX_EVENT_BYTES, Message, ProtocolError, decode, encode
from engine.worker.runfolder import RunFolder
from engine.worker.runstatus import RunStatus
from engine.worker.transport import Pipe, connect

__all__ = ["TrainingProcess", "Viewer", "attach", "kill"]

_ATTACH_SECONDS = 60.0
_ATTACH_POLL_SECONDS = 0.03
_DEATH_SECONDS = 5.0
_MOST_EVENTS_AT_ONCE = 200


class TrainingProcess:
    """A training process that this process started.

    It has a session of its own: it lives on when this process ends. A thread waits for its end, so that it leaves no
    zombie and the manner of its end is known.
    """

    def __init__(self, run: RunFolder, process: subprocess.Popen[bytes]) -> None:
        self.run = run
        self._process = process
        self._ended = threading.Event()
        threading.Thread(target=self._wait, name="netcanvas-training-wait", daemon=True).start()

    @classmethod
    def start(
        cls,
        run: RunFolder,
        *,
        base_dirs: Sequence[Path] | None = None,
        plugin_paths: Sequence[Path] | None = None,
        weights: Path | Sequence[Path] | None = None,
        snapshot: Path | None = None,
        backend: str | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> TrainingProcess:
        """Start ``python -m engine.worker`` on a run.

        Parameters
        ----------
        run : RunFolder
            A new run, or one that has ended and is to go on.
        base_dirs : sequence of Path, optional
            Folders for relative paths in the net, searched in order. As recorded in the run when left out; so are
            the other settings below.
        plugin_paths : sequence of Path, optional
            Plugin folders that the user trusts.
        weights : Path or sequence of Path, optional
            ``.caffemodel`` files to begin from.
        snapshot : Path, optional
            ``.solverstate`` to go on from, exactly where it was.
        backend, seed, threads : optional
            Of the whole run; a seed is drawn and recorded when neither this nor the solver gives one.

        Raises
        ------
        WorkerError
            When the run is already under way or the process cannot be started.
        """
        status = run.status()
        if status.active and run.process(status)[0]:
            raise WorkerError(f"Run '{run.name}' is already training.", next_step="Attach to it, or stop it first.")
        if weights is not None and snapshot is not None:
            raise WorkerError("Expected weights or a snapshot to begin from, got both.", next_step="Leave one out.")
        environment = run.environment()
        settings = {
            "base_dirs": None if base_dirs is None else [str(path) for path in base_dirs],
            "plugin_paths": None if plugin_paths is None else [str(path) for path in plugin_paths],
            "backend": backend,
            "seed": seed,
            "threads": threads or default_threads(),
        }
        environment.update({key: value for key, value in settings.items() if value is not None})
        environment.setdefault("working_directory", os.getcwd())
        run.write_environment(environment)
        old = run.read_status()
        run.process_file.unlink(missing_ok=True)
        run.write_status(RunStatus(iteration=old.iteration, max_iter=old.max_iter, started=old.started, host=old.host))
        files = (weights,) if isinstance(weights, Path) else tuple(weights or ())
        process = _spawn(run, files, snapshot)
        with contextlib.suppress(OSError):  # a full disk: whoever holds what is returned can still end it
            run.write_process(process.pid)
        return cls(run, process)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, as :class:`subprocess.Popen` says it; None while it runs."""
        return self._process.returncode if self._ended.is_set() else None

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end and return the return code, or None when the time was up first."""
        self._ended.wait(timeout)
        return self.returncode

    def kill(self) -> None:
        """End it at once, without a snapshot."""
        if not self._ended.is_set():
            self._process.kill()

    def _wait(self) -> None:
        self._process.wait()
        self._ended.set()


def _spawn(run: RunFolder, weights: Sequence[Path], snapshot: Path | None) -> subprocess.Popen[bytes]:
    # -P keeps the user's working directory out of the import path; our own folder comes in by name if it must.
    command = [sys.executable, "-P", "-m", "engine.worker", str(run.path)]
    if weights:
        command += ["--weights", *(str(path.resolve()) for path in weights)]
    if snapshot is not None:
        command += ["--snapshot", str(Path(snapshot).resolve())]
    environment = dict(os.environ)
    root = Path(__file__).resolve().parents[2]
    if root.name not in ("site-packages", "dist-packages"):
        inherited = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join(part for part in (str(root), inherited) if part)
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    try:
        with run.log_file.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
                creationflags=flags,
            )
    except OSError as error:
        raise WorkerError(f"The training process cannot be started: {error.strerror or error}.") from error


def attach(
    run: RunFolder,
    *,
    process: TrainingProcess | None = None,
    timeout: float = _ATTACH_SECONDS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Viewer:
    """Attach to a run that is under way, waiting for a process that is still starting.

    Parameters
    ----------
    run : RunFolder
        The run.
    process : TrainingProcess, optional
        Where the caller started it: then the manner of its end is known, too.
    timeout : float
        Seconds to wait for a process that is starting.
    cancelled : callable
        Asked between attempts; True gives up.

    Raises
    ------
    WorkerError
        When the run has ended, its process is gone, or it does not answer.
    """
    deadline = time.monotonic() + timeout
    while True:
        status = run.status(returncode=process.returncode if process else None)
        if not status.active:
            raise WorkerError(status.message or f"Run '{run.name}' has ended: {status.state}.")
        if status.address:
            return Viewer(run, connect(status.family, status.address, run.key()), process)
        if cancelled() or time.monotonic() > deadline:
            raise WorkerError(f"Run '{run.name}' did not start in {timeout:.0f} s.", next_step="Look at its log.txt.")
        time.sleep(_ATTACH_POLL_SECONDS)


class Viewer:
    """A connection to a training process.

    One thread at a time may call :meth:`events`; commands may come from any thread.
    """

    def __init__(self, run: RunFolder, pipe: Pipe, process: TrainingProcess | None = None) -> None:
        self.run = run
        self._pipe = pipe
        self._process = process
        self._tail = LogTail(run.log_file)
        self._backlog: collections.deque[Event] = collections.deque()
        self._send_lock = threading.Lock()
        self._requests = 0
        self._said_end = False
        self._over = threading.Event()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ended(self) -> bool:
        """Whether the run has ended and all of its events have been handed out."""
        return self._over.is_set() and not self._backlog

    def events(self, timeout: float = 0.2) -> list[Event]:
        """Return what happened since the last call, waiting up to ``timeout`` seconds for something to happen.

        The end of a run is always told: by :class:`Finished`, :class:`Failure` or, for a process that ended without
        a word, :class:`Lost`. After that the list is empty and :attr:`ended` is true.
        """
        found = list(self._backlog)
        self._backlog.clear()
        if not self._over.is_set():
            found += self._receive(0.0 if found else timeout)
            text = self._tail.read()
            if text:
                found.append(Output(text))
            if self._over.is_set():
                found += self._last_words()
        return found

    def pause(self) -> None:
        """Let the training wait after its current iteration."""
        self._command("pause")

    def resume(self) -> None:
        """Let a paused training go on."""
        self._command("resume")

    def stop(self) -> None:
        """End the training after its current iteration, with a snapshot if the solver says so."""
        self._command("stop")

    def snapshot(self) -> None:
        """Take a snapshot after the current iteration and go on."""
        self._command("snapshot")

    def request_tensor(self, name: str, index: int = 0) -> int:
        """Ask for a copy of a layer's param, or of a blob; a :class:`TensorReply` with the returned number answers."""
        with self._send_lock:
            self._requests += 1
            request = self._requests
        self._command("get_tensor", request=request, name=name, index=index)
        return request

    def get_tensor(self, name: str, index: int = 0, *, timeout: float = 30.0) -> TensorReply:
        """Return a copy of a layer's param ``index``, or of the blob of that name; events meanwhile are kept.

        Raises
        ------
        WorkerError
            When there is no such tensor or no answer comes in time.
        """
        request = self.request_tensor(name, index)
        deadline = time.monotonic() + timeout
        kept: list[Event] = []
        reply = None
        while reply is None and not self.ended and time.monotonic() < deadline:
            for event in self.events(0.05):
                if isinstance(event, TensorReply) and event.request == request:
                    reply = event
                else:
                    kept.append(event)
        self._backlog.extendleft(reversed(kept))
        if reply is None:
            raise WorkerError(f"Run '{self.run.name}' did not send '{name}' in {timeout:.0f} s.")
        if reply.error:
            raise WorkerError(reply.error)
        return reply

    def close(self) -> None:
        """Leave; the training goes on. Call it from the thread that calls :meth:`events`, or after that has ended."""
        with self._send_lock:
            self._pipe.close()
        self._over.set()

    def _command(self, kind: str, **data: object) -> None:
        with self._send_lock:
            if self._over.is_set() or self._pipe.closed:
                return
            with contextlib.suppress(OSError, ValueError):  # the process is gone; the reading side tells
                self._pipe.send_bytes(encode(Message(kind, data)))

    def _receive(self, timeout: float) -> list[Event]:
        found: list[Event] = []
        try:
            while len(found) < _MOST_EVENTS_AT_ONCE and self._pipe.poll(0.0 if found else timeout):
                event = from_message(decode(self._pipe.recv_bytes(MAX_EVENT_BYTES)))
                if event is not None:
                    found.append(event)
                    self._said_end = self._said_end or isinstance(event, Finished | Failure)
        except ProtocolError:
            self.close()
            raise
        except (EOFError, OSError):
            self._over.set()
        return found

    def _last_words(self) -> list[Event]:
        """Say how the run ended, where its process did not."""
        with self._send_lock:
            self._pipe.close()
        text = self._tail.read()
        words: list[Event] = [Output(text)] if text else []
        if self._said_end:
            return words
        status = self._settled_status()
        if status.state in ("finished", "stopped"):
            return [*words, Finished(status.state, status.iteration)]
        if status.state == "failed":
            details = {key: str(value) for key, value in status.failure.items()}
            return [*words, Failure(status.message, **details)]
        snapshot = self.run.last_snapshot()
        layer, method = (str(status.failure.get(key, "")) for key in ("layer", "method"))
        return [*words, Lost(status.message, str(snapshot or ""), layer, method)]

    def _settled_status(self) -> RunStatus:
        """Return the status once the process is really gone; it may hang on to life for a moment after hanging up."""
        deadline = time.monotonic() + _DEATH_SECONDS
        while True:
            returncode = self._process.wait(_ATTACH_POLL_SECONDS) if self._process else None
            status = self.run.status(returncode=returncode)
            if not status.active:
                return status
            if time.monotonic() > deadline:
                message = f"The connection to run '{self.run.name}' broke, but its process lives: attach to it again."
                return RunStatus(state="lost", message=message)
            time.sleep(_ATTACH_POLL_SECONDS)


def kill(run: RunFolder) -> None:
    """End the process of a run at once, without a snapshot, whoever started it, from the moment that it is started."""
    status = run.status()
    pid, mark = run.process(status)
    if status.active and status.host == platform.node() and is_running(pid, mark):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
