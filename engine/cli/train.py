"""``netcanvas train``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from engine.backends.threads import matrix_threads
from engine.cli.devices import check_gpu
from engine.cli.output import Output, score_lines, score_values
from engine.cli.recording import Training, open_training, set_state
from engine.cli.signals import SignalControl
from engine.errors import SolverError
from engine.paths import search_folders
from engine.schema import read_solver
from engine.solvers import IterationReport, SnapshotPaths, Solver, TestReport

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Train; return the exit code."""
    check_gpu(options.gpu)
    output = Output(quiet=options.quiet, always_bar=options.always_bar, as_json=options.json)
    control = SignalControl(options.sigint_effect, options.sighup_effect)
    with (
        output.logging(),
        control.installed(),
        matrix_threads(options.threads),
        open_training(options, lambda: _create(options), control) as training,
    ):
        _train(training, output)
    return 0


def _create(options: argparse.Namespace) -> Solver:
    path: Path = options.solver
    param = read_solver(path)
    set_state(param, options)
    if options.weights:
        param.ClearField("weights")  # those of the command line stand for those of the file, as with Caffe
    return Solver.create(
        param,
        base_dirs=search_folders(path.parent),
        seed=options.seed,
        output_dir=options.output_dir,
        source=path,
    )


def _train(training: Training, output: Output) -> None:
    solver = training.solver
    if solver.iteration >= solver.max_iter:
        raise SolverError(
            f"Solver: expected a max_iter above the {solver.iteration} iterations done already, got {solver.max_iter}.",
            next_step="Raise max_iter to train on.",
        )
    with output.bar(solver.max_iter, solver.iteration, "Training") as bar:
        watcher = _Watcher(bar)
        solver.listeners.append(watcher)
        began, first = time.monotonic(), solver.iteration
        solver.solve()
        seconds = time.monotonic() - began
    watcher.report(training, solver.iteration - first, seconds, output)


class _Watcher:
    """Moves the progress bar and remembers what the summary tells."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._tests: dict[int, TestReport] = {}
        self._snapshot: SnapshotPaths | None = None
        self._loss = float("nan")

    def on_iteration(self, report: IterationReport) -> None:
        """Move the bar."""
        self._loss = report.smoothed_loss
        self._bar.set_postfix_str(f"loss {report.smoothed_loss:.4g}", refresh=False)
        self._bar.update()

    def on_test(self, report: TestReport) -> None:
        """Remember the scores."""
        self._tests[report.net_index] = report

    def on_snapshot(self, paths: SnapshotPaths) -> None:
        """Remember the files."""
        self._snapshot = paths

    def report(self, training: Training, iterations: int, seconds: float, output: Output) -> None:
        """Print how the training ended."""
        solver = training.solver
        speed = iterations / seconds if seconds else 0.0
        state = "Stopped" if solver.stopped or solver.ended_early else "Done"
        lines = [
            f"{state} at iteration {solver.iteration}: {iterations} iterations in {seconds:.1f} s ({speed:.1f} it/s)."
        ]
        lines += filter(None, [solver.ended_early])
        for index, test in sorted(self._tests.items()):
            name = "Test" if len(solver.test_nets) == 1 else f"Test net {index}"
            lines += [f"{name} at iteration {test.iteration}: {line}" for line in score_lines(test.outputs)]
        if self._snapshot is not None:
            lines.append(f"Snapshot: {self._snapshot.state}")
        if training.run is not None:
            lines.append(f"Run: {training.run.path}")
        data = {
            "iteration": solver.iteration,
            "stopped": solver.stopped,
            "ended_early": solver.ended_early,
            "loss": self._loss,
            "seconds": seconds,
            "iterations_per_second": speed,
            "seed": solver.seed,
            "tests": [
                {"net": index, "iteration": test.iteration, "outputs": score_values(test.outputs)}
                for index, test in sorted(self._tests.items())
            ],
            "snapshot": [str(path) for path in self._snapshot] if self._snapshot is not None else None,
            "run": str(training.run.path) if training.run is not None else None,
        }
        output.result(lines, data)
