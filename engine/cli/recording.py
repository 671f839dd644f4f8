"""A run folder for a training of the command line, which the editor can attach to like one of its own."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.backends.threads import default_threads
from engine.cli.signals import SignalControl
from engine.errors import WorkerError
from engine.paths import resolve, search_folders
from engine.schema import read_solver
from engine.solvers import Solver, extras_file
from engine.worker import RunFolder, run_parents
from engine.worker.logs import log_to
from engine.worker.trainer import Start, Trainer

__all__ = ["Training", "open_training", "set_state"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Training:
    """A solver that is ready to train.

    Attributes
    ----------
    solver : Solver
        Restored and loaded as the command line says.
    run : RunFolder or None
        Where it is recorded.
    """

    solver: Solver
    run: RunFolder | None


@contextlib.contextmanager
def open_training(
    options: argparse.Namespace, create: Callable[[], Solver], control: SignalControl
) -> Iterator[Training]:
    """Build the solver of ``train`` and record, where possible, what becomes of it.

    One that never begins leaves no run.

    Parameters
    ----------
    options : namespace
        Of ``train``.
    create : callable
        Builds the solver.
    control : SignalControl
        Where signals come in.
    """
    run = None if options.no_record else _make_run(options)
    start = Start(tuple(options.weights), options.snapshot)
    trainer = _make_trainer(run, start, create) if run is not None else None
    if run is None or trainer is None:
        with _unrecorded(start, create, control) as solver:
            yield Training(solver, None)
        return
    control.pass_on(trainer)
    began = False
    try:
        with log_to(run.log_file), trainer.recording() as loop:
            assert isinstance(loop, Solver)
            began = True
            yield Training(loop, run)
    finally:
        if not began:  # a mistyped setting is no run
            shutil.rmtree(run.path, ignore_errors=True)


def _make_trainer(run: RunFolder, start: Start, create: Callable[[], Solver]) -> Trainer | None:
    try:
        return Trainer(run, start, lambda _: create())
    except (WorkerError, OSError) as error:
        _log.warning("This training is not recorded: %s", error)
        return None


@contextlib.contextmanager
def _unrecorded(start: Start, create: Callable[[], Solver], control: SignalControl) -> Iterator[Solver]:
    solver = create()
    try:
        if start.snapshot is not None:
            solver.restore(start.snapshot)
        for weights in start.weights:
            solver.load_weights(weights)
        solver.control = control
        yield solver
    finally:
        solver.close()


def _make_run(options: argparse.Namespace) -> RunFolder | None:
    """Freeze what is trained; None, with a warning, where nothing can be written."""
    path: Path = options.solver
    param = read_solver(path)
    net, net_text = _net_of(param, path)
    parent = options.runs or run_parents(net or path)[0]
    extras = extras_file(path)
    environment: dict[str, Any] = {
        "command": sys.argv,
        "net_path": str(net or ""),
        "solver_path": str(path.resolve()),
        "working_directory": os.getcwd(),
        "base_dirs": [str(folder) for folder in search_folders(path.parent)],
        "plugin_paths": [],
        "threads": options.threads or default_threads(),
    }
    try:
        return RunFolder.create(
            parent,
            net_text,
            _solver_text(path, param, options),
            (net or path).stem,
            extras_text=extras.read_text(encoding="utf-8-sig") if extras.is_file() else None,
            environment=environment,
        )
    except (WorkerError, OSError, UnicodeDecodeError) as error:
        _log.warning("This training is not recorded: %s", error)
        return None


def _net_of(param: Any, solver: Path) -> tuple[Path | None, str]:
    """Return the file of the net that is trained, if it is in one, and its text; what is wrong is told later."""
    for name in ("net", "train_net"):
        written = getattr(param, name)
        found = resolve(written, search_folders(solver.parent)) if written else None
        if found is not None and found.found:
            return found.path.resolve(), found.path.read_bytes().decode("utf-8", "surrogateescape")
    inner = param.net_param if param.HasField("net_param") else param.train_net_param
    return None, str(inner)


def _solver_text(path: Path, param: Any, options: argparse.Namespace) -> str:
    """Return the solver's own text, or one that says what the command line changed."""
    if not (options.level or options.stage):
        return path.read_bytes().decode("utf-8", "surrogateescape")
    set_state(param, options)
    return str(param)


def set_state(param: Any, options: argparse.Namespace) -> None:
    """Give a solver the level and the stages of the command line, as Caffe's tool does."""
    if options.level:
        param.train_state.level = options.level
    param.train_state.stage.extend(filter(None, options.stage.split(",")))
