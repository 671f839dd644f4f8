"""Entry point of a training process: ``python -m engine.worker RUNFOLDER``."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.backends.threads import matrix_threads
from engine.worker.logs import redirect_output, set_up_logging
from engine.worker.processes import lower_priority
from engine.worker.runfolder import RunFolder

if TYPE_CHECKING:
    from engine.worker.trainer import TrainingLoop


def main(arguments: list[str] | None = None) -> int:
    """Train a run; return 0 when it came to a good end and 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m engine.worker", description="Train the run in a folder.")
    parser.add_argument("run", type=Path, help="run folder")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--weights", type=Path, nargs="+", help="begin from these weights (.caffemodel)")
    start.add_argument("--snapshot", type=Path, help="go on from this solver state (.solverstate)")
    options = parser.parse_args(arguments)
    run = RunFolder.open(options.run)
    redirect_output(run.log_file)
    set_up_logging()
    _separate()
    with matrix_threads(run.environment().get("threads")):
        return _train(run, options.weights or (), options.snapshot)


def _separate() -> None:
    """Stand apart from whoever started us: own session, low priority, deaf to the terminal."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):  # we lead a session already when a viewer started us
            os.setsid()
    lower_priority()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _train(run: RunFolder, weights: Sequence[Path], snapshot: Path | None) -> int:
    from engine.supervising import end_in_time
    from engine.worker.events import Failure
    from engine.worker.exits import tell_of_exit
    from engine.worker.folderwatch import watching_folder
    from engine.worker.trainer import Start, Trainer  # after the redirection, so that its faults are in the log

    trainer = Trainer(run, Start(weights, snapshot), make_solver)
    signal.signal(signal.SIGTERM, lambda number, frame: trainer.stop())
    leave = os._exit  # the system's own: what ends here has been told

    def end(message: str) -> None:
        with contextlib.suppress(Exception):
            trainer.fail_at_once(Failure(f"{message} Train again to start anew."))
        leave(1)

    with watching_folder(run, end), tell_of_exit(trainer.fail_at_once), _noting(run):
        code = 0 if trainer.train() else 1
    end_in_time(code)
    return code


@contextlib.contextmanager
def _noting(run: RunFolder) -> Iterator[None]:
    """Note in the run's folder which layer runs, for those who find the process dead; nothing is left of it after."""
    from engine.last_words import LastWords, last_words

    with contextlib.suppress(OSError):  # a disk that is full shall not keep a training from being tried
        last_words(LastWords(run.last_words_file))
    yield
    with contextlib.suppress(OSError):
        run.last_words_file.unlink(missing_ok=True)


def make_solver(run: RunFolder) -> TrainingLoop:
    """Build the solver of a run from its frozen text and recorded settings."""
    from engine.plugins import use_plugin_folders
    from engine.schema import read_solver
    from engine.solvers import Solver

    settings: dict[str, Any] = run.environment()
    use_plugin_folders(settings.get("plugin_paths", []))
    param = read_solver(run.solver_file)
    param.snapshot_prefix = str(run.snapshots / (Path(param.snapshot_prefix).name or "snapshot"))
    frozen = settings.get("test_nets", {})
    param.test_net[:] = [str(run.path / frozen[each]) if each in frozen else each for each in param.test_net]
    solver: TrainingLoop = Solver.create(
        param,
        net_text=run.net_text(),
        base_dirs=[Path(path) for path in settings.get("base_dirs", [])],
        backend=settings.get("backend"),
        seed=settings.get("seed"),
        source=run.solver_file,
    )
    return solver


if __name__ == "__main__":
    sys.exit(main())
