"""A run is a folder, and the folder is the truth.

=====================  ==============================================================================
file                   content
=====================  ==============================================================================
``net.prototxt``       the net as it was when the run began
``solver.prototxt``    the solver, likewise
``*.extras.json``      the solver's extras, where it has any
``environment.json``   versions, backend, threads, seed, base folders, plugin sources with their hashes
``plugins/``           copies of those, so that the net is read and built from this folder alone
``metrics.jsonl``      one JSON object a line: every iteration, test and snapshot
``log.txt``            all that the process and its libraries wrote
``snapshots/``         weights and solver states
``status.json``        state, progress and, while it runs, where to reach the process
``authkey``            the key that viewers need, readable by the owner only
``process``            which process was started for it, until ``status.json`` says so
``last_words``         while it runs, which layer runs; what is left of it after a crash
=====================  ==============================================================================
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import WorkerError
from engine.last_words import read_doing
from engine.worker.metrics import last_iteration
from engine.worker.processes import describe_exit, is_running, start_mark
from engine.worker.protocol import dumps
from engine.worker.runstatus import RunStatus
from engine.worker.transport import remove_socket

__all__ = ["RunFolder", "list_runs", "snapshot_iteration"]

_START_GRACE_SECONDS = 60.0
_DOING = re.compile(r"Layer '(?P<layer>.*)' \(\w+\) in (?P<method>\w+)")  # as engine.net.noting notes it
_STATE_NAME = re.compile(r"_iter_(\d+)\.solverstate(\.h5)?$")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run.

    Attributes
    ----------
    path : Path
        Absolute path of the folder.
    """

    path: Path

    @classmethod
    def create(
        cls,
        parent: Path,
        net_text: str,
        solver_text: str,
        name: str = "run",
        *,
        extras_text: str | None = None,
        environment: Mapping[str, Any] | None = None,
        test_nets: Mapping[str, str] | None = None,
    ) -> RunFolder:
        """Make the folder of a new run below ``parent``.

        Parameters
        ----------
        parent : Path
            Made when missing.
        net_text, solver_text : str
            Frozen as they are; bytes that are not UTF-8 may be there as surrogate escapes.
        name : str
            Usually the net's name; the folder is called after it and the time.
        extras_text : str, optional
            The solver's extras, ``SOLVER.prototxt.extras.json``: our own options, which Caffe does not know.
        environment : mapping, optional
            First content of ``environment.json``; the process completes it.
        test_nets : mapping of str to str, optional
            Texts that stand for what the solver's ``test_net`` names, by how it is written there; they are frozen too.

        Raises
        ------
        WorkerError
            When the folder cannot be written.
        """
        stem = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
        stem = f"{stem[:60]}-{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            path = _make_unique(parent, stem)
            run = cls(path.resolve())
            run.snapshots.mkdir()
            run.net_file.write_bytes(net_text.encode("utf-8", "surrogateescape"))
            run.solver_file.write_bytes(solver_text.encode("utf-8", "surrogateescape"))
            if extras_text is not None:
                run.extras_file.write_bytes(extras_text.encode("utf-8", "surrogateescape"))
            frozen = {written: f"test_net_{number}.prototxt" for number, written in enumerate(test_nets or {})}
            for written, file in frozen.items():
                (run.path / file).write_bytes((test_nets or {})[written].encode("utf-8", "surrogateescape"))
            run.write_environment({**(environment or {}), **({"test_nets": frozen} if frozen else {})})
            run.log_file.touch()
            descriptor = os.open(run.key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                stream.write(secrets.token_hex(32))
            run.write_status(RunStatus(started=time.time(), host=platform.node()))
        except OSError as error:
            raise WorkerError(
                f"The run folder in '{parent}' cannot be written: {error.strerror or error}.",
                next_step="Free some space or choose another folder.",
            ) from error
        return run

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run.

        Raises
        ------
        WorkerError
            When ``path`` is not the folder of a run.
        """
        run = cls(Path(path).resolve())
        for file in (run.status_file, run.net_file, run.solver_file):
            if not file.is_file():
                raise WorkerError(
                    f"'{path}' is not the folder of a run: it holds no {file.name}.",
                    next_step="Choose a folder below 'runs'.",
                )
        return run

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.path.name

    @property
    def net_file(self) -> Path:
        """The frozen net."""
        return self.path / "net.prototxt"

    @property
    def solver_file(self) -> Path:
        """The frozen solver."""
        return self.path / "solver.prototxt"

    @property
    def extras_file(self) -> Path:
        """The frozen extras of the solver, where it has any."""
        return self.path / "solver.prototxt.extras.json"

    @property
    def environment_file(self) -> Path:
        """Versions, backend, seed, folders, plugin hashes."""
        return self.path / "environment.json"

    @property
    def metrics_file(self) -> Path:
        """Iterations, tests and snapshots as JSON lines."""
        return self.path / "metrics.jsonl"

    @property
    def log_file(self) -> Path:
        """Everything the process wrote."""
        return self.path / "log.txt"

    @property
    def snapshots(self) -> Path:
        """Folder of weights and solver states."""
        return self.path / "snapshots"

    @property
    def plugins(self) -> Path:
        """Folder of copied plugin sources."""
        return self.path / "plugins"

    @property
    def status_file(self) -> Path:
        """The run's state."""
        return self.path / "status.json"

    @property
    def key_file(self) -> Path:
        """The key that viewers need."""
        return self.path / "authkey"

    @property
    def process_file(self) -> Path:
        """Number and mark of the process that was started last, as its starter knows them."""
        return self.path / "process"

    @property
    def last_words_file(self) -> Path:
        """What the process notes of what it does; see :mod:`engine.last_words`."""
        return self.path / "last_words"

    def net_text(self) -> str:
        """Return the frozen net; bytes that are not UTF-8 come as surrogate escapes."""
        return self.net_file.read_bytes().decode("utf-8", "surrogateescape")

    def solver_text(self) -> str:
        """Return the frozen solver."""
        return self.solver_file.read_bytes().decode("utf-8", "surrogateescape")

    def key(self) -> bytes:
        """Return the key for the handshake; OSError where this user may not read it."""
        return bytes.fromhex(self.key_file.read_text(encoding="ascii").strip())

    def environment(self) -> dict[str, Any]:
        """Return what ``environment.json`` holds, or nothing when it cannot be read."""
        try:
            data = json.loads(self.environment_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def write_environment(self, values: Mapping[str, Any]) -> None:
        """Replace ``environment.json``."""
        _replace_file(self.environment_file, json.dumps(values, indent=2, sort_keys=True, default=str) + "\n")

    def write_status(self, status: RunStatus) -> RunStatus:
        """Replace ``status.json`` at one stroke and return what it says now, with the time.

        Readers see the old one or the new one, never half of one.
        """
        status = replace(status, updated=time.time())
        _replace_file(self.status_file, dumps(asdict(status)) + "\n")
        return status

    def write_process(self, pid: int) -> None:
        """Note which process was started for this run; it needs a while until it can say so in ``status.json``."""
        _replace_file(self.process_file, f"{pid} {start_mark(pid)}\n")

    def process(self, status: RunStatus) -> tuple[int, str]:
        """Return number and mark of the run's process, of a status or as its starter noted them; 0 where unknown."""
        if status.pid:
            return status.pid, status.mark
        try:
            pid, _space, mark = self.process_file.read_text(encoding="ascii").strip().partition(" ")
            return int(pid), mark
        except (OSError, ValueError):
            return 0, ""

    def read_status(self) -> RunStatus:
        """Return the status as written, without asking whether the process lives.

        Raises
        ------
        WorkerError
            When the file is missing or damaged.
        """
        try:
            return RunStatus.from_json(self.status_file.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError) as error:
            raise WorkerError(f"The status of run '{self.name}' cannot be read: {error}.") from error

    def status(self, *, returncode: int | None = None) -> RunStatus:
        """Return the true status: an active run whose process is gone is written down as lost.

        Parameters
        ----------
        returncode : int, optional
            How the process ended, where the caller was its parent.
        """
        status = self.read_status()
        if not status.active or status.host != platform.node():
            return status
        if returncode is None and self._may_live(status):
            return status
        status = self.read_status()  # it may have ended properly between the two looks
        if not status.active:
            return status
        remove_socket(status.address)
        status = replace(status, state="lost", iteration=last_iteration(self.metrics_file) or status.iteration)
        failure = _DOING.fullmatch(read_doing(self.last_words_file))
        if failure is not None:
            status = replace(status, failure=failure.groupdict())
        return self.write_status(replace(status, message=self._lost_message(status, returncode)))

    def _may_live(self, status: RunStatus) -> bool:
        pid, mark = self.process(status)
        if pid == 0:  # made, and its process not yet started
            return time.time() - status.updated < _START_GRACE_SECONDS
        return is_running(pid, mark)

    def _lost_message(self, status: RunStatus, returncode: int | None) -> str:
        newest = self.last_snapshot()
        if newest is None:
            step = "No snapshot had been taken: train again from the start."
        else:
            step = f"Resume from the last snapshot, iteration {snapshot_iteration(newest)}."
        how, doing = describe_exit(returncode), read_doing(self.last_words_file)
        where = f"{how} in {doing[:1].lower()}{doing[1:]}" if doing else how
        return f"Run '{self.name}' was lost at iteration {status.iteration}: {where}. {step}"

    def last_snapshot(self) -> Path | None:
        """Return the solver state with the highest iteration, or None; it may lie outside, see ``status.json``."""
        states = [path for path in self.snapshots.glob("*.solverstate*") if snapshot_iteration(path) >= 0]
        with contextlib.suppress(WorkerError):
            newest = self.path / (self.read_status().snapshot or "none")
            states += [newest.resolve()] if newest.is_file() and newest.resolve().parent != self.snapshots else []
        return max(states, key=snapshot_iteration, default=None)


def snapshot_iteration(path: Path) -> int:
    """Return the iteration in the name of a solver state, or -1 for another file."""
    match = _STATE_NAME.search(path.name)
    return int(match.group(1)) if match else -1


def list_runs(parents: Sequence[Path], *, limit: int = 200) -> list[RunFolder]:
    """Return the runs below some folders, newest first."""
    found = {path.parent.resolve() for parent in parents for path in _status_files(parent)}
    newest = sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    return [RunFolder(path) for path in newest[:limit]]


def _status_files(parent: Path) -> Iterator[Path]:
    return parent.glob("*/status.json") if parent.is_dir() else iter(())


def _make_unique(parent: Path, stem: str) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        path = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            path.mkdir()
            return path
        except FileExistsError:
            number += 1


def _replace_file(path: Path, text: str) -> None:
    """Write aside and rename; without a flush to the disk, for this happens once a second in the training loop."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
