"""One training, from the frozen text of a run to its last snapshot."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.solvers import Action, IterationReport, SnapshotPaths, TestReport
from engine.worker.control import RunControl
from engine.worker.environment import describe_machine
from engine.worker.events import (
    POINT_COLUMNS,
    Event,
    Failure,
    Finished,
    Hello,
    LogRecord,
    Metrics,
    Progress,
    SnapshotTaken,
    StateChanged,
    TensorReply,
    Updates,
)
from engine.worker.failures import describe_failure
from engine.worker.logs import FAILURE_LOGGER
from engine.worker.metrics import MetricsWriter
from engine.worker.pace import Pace
from engine.worker.plugin_copies import changed_plugins, record_plugins
from engine.worker.processes import start_mark
from engine.worker.protocol import Message
from engine.worker.runfolder import RunFolder
from engine.worker.server import Server
from engine.worker.updates import UpdateSizes

__all__ = ["Start", "Trainer", "TrainingLoop"]

_PROGRESS_SECONDS = 0.1
_STATUS_SECONDS = 1.0
_OUTPUT_VALUES_SHOWN = 16

_log = logging.getLogger(__name__)
_failures = logging.getLogger(FAILURE_LOGGER)


class TrainingLoop(Protocol):
    """What of :class:`engine.solvers.Solver` a run needs."""

    iteration: int
    listeners: list[Any]
    control: Callable[[], Action] | None
    net: Any
    seed: int
    ended_early: str

    @property
    def max_iter(self) -> int:
        """Iterations at the end."""

    def solve(self) -> None:
        """Train to the end."""

    def restore(self, path: Path) -> Any:
        """Go on from a solver state."""

    def load_weights(self, path: Path) -> Any:
        """Begin from weights."""

    def close(self) -> None:
        """Let go of files and threads."""


@dataclass(frozen=True, slots=True)
class Start:
    """How a training begins: from nothing, from weights, or from a snapshot."""

    weights: Sequence[Path] = ()
    snapshot: Path | None = None


class Trainer:
    """Runs the training of a run folder and tells viewers about it.

    Parameters
    ----------
    run : RunFolder
        Holds the frozen text and takes all results.
    start : Start
        Where to begin.
    make_solver : callable
        Makes the solver from the run and the settings in its ``environment.json``.
    """

    def __init__(self, run: RunFolder, start: Start, make_solver: Callable[[RunFolder], TrainingLoop]) -> None:
        self._run = run
        self._start = start
        self._make_solver = make_solver
        self._status = replace(
            run.read_status(),
            state="waiting",
            host=platform.node(),
            pid=os.getpid(),
            mark=start_mark(os.getpid()),
        )
        self._status_lock = threading.Lock()
        self._control = RunControl(self._paused)
        self._pace = Pace()
        self._points: list[tuple[float, float, float, float]] = []
        self._told = 0.0
        self._saved = 0.0
        self._sizes: UpdateSizes | None = None
        self._sizes_unsaid = False
        self._solver: TrainingLoop | None = None
        self._metrics = MetricsWriter(run.metrics_file)
        self._server = Server(run.key(), self._hello, self._obey)
        self._announcer = _Announcer(self._server)
        logging.getLogger().addHandler(self._announcer)
        self._save_status(family=self._server.family, address=self._server.address)

    def train(self) -> bool:
        """Train to the end; return whether it came to a good one. Nothing is raised: faults are told and recorded."""
        try:
            with self.recording() as solver:
                solver.solve()
            return True
        except Exception:
            return False

    @contextlib.contextmanager
    def recording(self) -> Iterator[TrainingLoop]:
        """Build the solver for the caller to train, and record how that ends; errors are recorded and go on."""
        try:
            solver = self._prepare()
            self._set_state("running")
            yield solver
            self._finish(solver)
        except Exception as error:
            self._fail(describe_failure(error))
            raise
        except BaseException:
            self._save_status(state="stopped", message="Interrupted between two iterations, without a snapshot.")
            raise
        finally:
            logging.getLogger().removeHandler(self._announcer)
            if self._solver is not None:
                self._solver.close()
            self._metrics.close()
            self._server.close()

    def stop(self) -> None:
        """End after the current iteration; may be called from a signal handler."""
        self._control.stop()

    def snapshot(self) -> None:
        """Take a snapshot after the current iteration; may be called from a signal handler."""
        self._control.snapshot()

    # The course of a run

    def _prepare(self) -> TrainingLoop:
        environment = self._run.environment()
        records = environment.get("plugin_sources", [])
        environment.update(describe_machine())
        starts = {
            "time": time.time(),
            "weights": [str(path) for path in self._start.weights],
            "snapshot": self._start.snapshot,
        }
        environment["starts"] = [*environment.get("starts", []), starts]
        self._run.write_environment(environment)
        for path in changed_plugins(records):
            _log.warning("The plugin source '%s' is not what it was when this run began.", path)
        solver = self._solver = self._make_solver(self._run)
        folders, base_dirs = ([Path(p) for p in environment.get(key) or ()] for key in ("plugin_paths", "base_dirs"))
        sources = record_plugins(solver.net, self._run.plugins, folders=folders, base_dirs=base_dirs)
        environment["plugin_sources"] = sources
        environment.update(seed=solver.seed, backend=solver.net.backend.name)
        self._run.write_environment(environment)
        if self._start.snapshot is not None:
            solver.restore(self._start.snapshot)
        for weights in self._start.weights:
            solver.load_weights(weights)
        self._sizes = UpdateSizes(solver.net)
        solver.listeners.append(self)
        solver.control = self._control
        self._metrics.add("start", {"iteration": solver.iteration, "time": time.time()})
        self._metrics.flush()
        self._save_status(iteration=solver.iteration, max_iter=solver.max_iter)
        return solver

    def _finish(self, solver: TrainingLoop) -> None:
        self._tell_progress()
        self._tell_updates(solver.iteration)
        state = "stopped" if self._control.stopped and solver.iteration < solver.max_iter else "finished"
        self._save_status(iteration=solver.iteration, state=state, message=solver.ended_early)
        self._server.broadcast(StateChanged(state, solver.ended_early))
        self._server.broadcast(Finished(state, solver.iteration))

    def fail_at_once(self, failure: Failure) -> None:
        """Record and tell what ends the process itself, which does nothing more after this."""
        self._fail(failure)
        self._metrics.close()
        self._server.close()

    def _fail(self, failure: Failure) -> None:
        logging.getLogger().removeHandler(self._announcer)  # viewers get the failure itself
        _failures.error("%s\n%s", failure.message, failure.traceback)
        self._tell_progress()
        details = {"layer": failure.layer, "method": failure.method, "traceback": failure.traceback}
        self._save_status(state="failed", message=failure.message, failure=details)
        self._server.broadcast(failure)
        self._server.broadcast(StateChanged("failed", failure.message))

    # What the solver tells

    def on_iteration(self, report: IterationReport) -> None:
        """Record an iteration and tell viewers, ten times a second at most."""
        point = (float(report.iteration), float(report.loss), float(report.smoothed_loss), float(report.lr))
        self._points.append(point)
        values = dict(zip(POINT_COLUMNS, point, strict=True), iteration=report.iteration)
        self._metrics.add("train", values)
        self._pace.add(report.iteration, report.seconds)
        now = time.monotonic()
        if now - self._told >= _PROGRESS_SECONDS:
            self._told = now
            self._tell_progress()
        self._sizes_unsaid = True
        if self._sizes is not None and self._sizes.is_due:
            self._tell_updates(report.iteration + 1)

    def on_test(self, report: TestReport) -> None:
        """Record the outputs of a test pass."""
        self._tell_progress()
        outputs = {name: _output_value(values) for name, values in report.outputs.items()}
        event = Metrics(report.iteration, report.net_index, outputs)
        self._metrics.add("test", {"iteration": event.iteration, "net": event.net, "outputs": outputs})
        self._metrics.flush()
        if report.net_index == 0:
            self._save_status(outputs=outputs)
        self._server.broadcast(event)

    def on_snapshot(self, paths: SnapshotPaths) -> None:
        """Record a snapshot."""
        self._tell_progress()
        event = SnapshotTaken(paths.iteration, str(Path(paths.model).resolve()), str(Path(paths.state).resolve()))
        self._metrics.add("snapshot", {"iteration": event.iteration, "weights": event.weights, "state": event.state})
        self._metrics.flush()
        self._save_status(snapshot=os.path.relpath(event.state, self._run.path))
        self._server.broadcast(event)

    def _tell_progress(self) -> None:
        if not self._points:
            return
        points, self._points = np.array(self._points, np.float64), []
        self._metrics.flush()
        last = points[-1]
        iteration = int(last[0]) + 1
        left = self._pace.seconds_left(iteration, self._status.max_iter)
        progress = Progress(
            iteration,
            self._status.max_iter,
            last[1].item(),
            last[2].item(),
            last[3].item(),
            self._pace.speed,
            left,
            points,
        )
        self._server.broadcast(progress)
        now = time.monotonic()
        if now - self._saved >= _STATUS_SECONDS:
            self._saved = now
            self._save_status(iteration=iteration, loss=progress.smoothed_loss)

    def _tell_updates(self, iteration: int) -> None:
        """Tell viewers, where there are any, how large the last update was; once for each update."""
        if self._sizes is not None and self._sizes_unsaid and self._server.viewers:
            self._sizes_unsaid = False
            self._server.broadcast(Updates(iteration, self._sizes.look()))

    # What viewers ask

    def _hello(self) -> Event:
        status = self._status
        backend = str(self._run.environment().get("backend", ""))
        return Hello(self._run.name, os.getpid(), status.state, status.iteration, status.max_iter, backend)

    def _obey(self, command: Message, reply: Callable[[Event], None]) -> None:
        actions = {
            "pause": self._control.pause,
            "resume": self._control.resume,
            "stop": self._control.stop,
            "snapshot": self._control.snapshot,
        }
        if command.kind in actions:
            actions[command.kind]()
        elif command.kind == "get_tensor":
            request, index = int(command.data.get("request", 0)), int(command.data.get("index", 0))
            name = str(command.data.get("name", ""))
            self._control.call(lambda: reply(self._tensor(request, name, index)))
        else:
            reply(LogRecord("warning", f"This run does not know the command '{command.kind}'."))

    def _tensor(self, request: int, name: str, index: int) -> TensorReply:
        iteration = self._status.iteration
        if self._solver is None:
            return TensorReply(request, name, index, iteration, "The net is not built yet. Ask again in a moment.")
        net = self._solver.net
        iteration = self._solver.iteration
        params = net.params.get(name, [])
        blob = params[index] if 0 <= index < len(params) else net.blobs.get(name)
        if blob is None:
            message = f"The net has no layer '{name}' with a param {index} and no blob of that name."
            return TensorReply(request, name, index, iteration, message)
        return TensorReply(request, name, index, iteration, array=np.array(blob.read_data()))

    # State

    def _paused(self, waiting: bool) -> None:
        self._tell_progress()
        if waiting and self._solver is not None:
            self._tell_updates(self._solver.iteration)
        self._pace.restart()
        self._set_state("paused" if waiting else "running")

    def _set_state(self, state: str) -> None:
        iteration = self._solver.iteration if self._solver else self._status.iteration
        self._save_status(state=state, iteration=iteration)
        self._server.broadcast(StateChanged(state))

    def _save_status(self, **changes: Any) -> None:
        with self._status_lock:
            self._status = replace(self._status, **changes)
            try:
                self._run.write_status(self._status)
            except OSError as error:  # a full disk must not end the training
                _log.warning("The status of the run cannot be written: %s", error)


class _Announcer(logging.Handler):
    """Tells viewers the warnings that go to the log."""

    def __init__(self, server: Server) -> None:
        super().__init__(logging.WARNING)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send the record's text."""
        self._server.broadcast(LogRecord(record.levelname.lower(), record.getMessage()))


def _output_value(values: Any) -> float | list[float]:
    flat = np.asarray(values, np.float64).ravel()
    return float(flat[0]) if flat.size == 1 else [float(value) for value in flat[:_OUTPUT_VALUES_SHOWN]]
