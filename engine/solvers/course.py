"""What the extras of a solver do to the course of a training: early stopping and which snapshots stay."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import SolverError
from engine.solvers.extras import EarlyStopping, Retention, SolverExtras
from engine.solvers.reports import SnapshotPaths, TestReport

if TYPE_CHECKING:
    from engine.net import Net

__all__ = ["Course", "check_test_net"]

_log = logging.getLogger("engine.solvers")


class Course:
    """Follows tests and snapshots, and says when to stop and what to delete.

    Parameters
    ----------
    extras : SolverExtras
    test_nets : sequence of Net
        Among whose outputs the one of early stopping must be.
    files : callable
        Returns the files of the snapshot of an iteration.

    Raises
    ------
    SolverError
        If early stopping names a test net or an output that there is not.
    """

    def __init__(self, extras: SolverExtras, test_nets: Sequence[Net], files: Callable[[int], SnapshotPaths]) -> None:
        self.extras = extras
        self._files = files
        self._best = math.nan
        self._best_iteration = -1
        self._without_better = 0
        self._taken: list[int] = []
        if extras.early_stopping is not None:
            _check_output(extras.early_stopping, test_nets)

    # Early stopping

    @property
    def ended(self) -> str:
        """Why the training is to end, or nothing."""
        stopping = self.extras.early_stopping
        if stopping is None or self._without_better < stopping.patience:
            return ""
        return (
            f"Early stopping: '{stopping.output}' was no better in {self._without_better} tests in a row; the best was "
            f"{self._best:g} at iteration {self._best_iteration}."
        )

    def watch(self, report: TestReport) -> bool:
        """Take in a test; return whether a snapshot of it is wanted."""
        stopping = self.extras.early_stopping
        if stopping is None or report.net_index != stopping.test_net:
            return False
        value = float(report.outputs[stopping.output].mean())
        gain = value - self._best if stopping.goal == "max" else self._best - value
        first = math.isnan(self._best) and not math.isnan(value)
        if not (first or gain > stopping.min_delta):
            self._without_better += 1
            return False
        self._best, self._best_iteration, self._without_better = value, report.iteration, 0
        return stopping.snapshot_best and report.iteration > 0

    # Retention

    def has(self, iteration: int) -> bool:
        """Whether this training took a snapshot after so many updates."""
        return iteration in self._taken

    def took(self, iteration: int) -> list[SnapshotPaths]:
        """Take in a snapshot; return those that are not to be kept any longer."""
        self._taken = sorted({*self._taken, iteration})
        keep = self.extras.retention
        if keep is None:
            return []
        doomed = [number for number in self._taken[: -keep.keep_last] if not self._protected(keep, number)]
        self._taken = [number for number in self._taken if number not in doomed]
        return [paths for paths in map(self._files, doomed) if paths.state.is_file()]

    def _protected(self, keep: Retention, iteration: int) -> bool:
        if keep.keep_every and iteration % keep.keep_every == 0:
            return True
        return keep.keep_best and self.extras.early_stopping is not None and iteration == self._best_iteration

    # Going on later

    def get_scores(self) -> dict[str, Any]:
        """Return what early stopping remembers, JSON-able."""
        return {
            "best": None if math.isnan(self._best) else self._best,
            "best_iteration": self._best_iteration,
            "without_better": self._without_better,
        }

    def get_taken(self) -> list[int]:
        """Return the iterations of the snapshots that this training took and kept."""
        return list(self._taken)

    def go_on(self, iteration: int, scores: Mapping[str, Any], taken: Sequence[int]) -> None:
        """Take up again after a snapshot, with what :meth:`get_scores` and :meth:`get_taken` returned then."""
        best = scores.get("best")
        self._best = math.nan if best is None else float(best)
        self._best_iteration = int(scores.get("best_iteration", -1))
        self._without_better = int(scores.get("without_better", 0))
        self._taken = sorted({*(int(number) for number in taken if number < iteration), iteration})


def check_test_net(stopping: EarlyStopping | None, test_nets: int) -> None:
    """Refuse early stopping by a test net that a solver with so many does not have."""
    if stopping is not None and stopping.test_net >= test_nets:
        raise SolverError(
            f"Early stopping: expected a test net (#{stopping.test_net}), got a solver with {test_nets}.",
            next_step="Set test_iter and test_interval in the solver, or correct test_net in its extras.",
        )


def _check_output(stopping: EarlyStopping, test_nets: Sequence[Net]) -> None:
    check_test_net(stopping, len(test_nets))
    outputs = sorted(test_nets[stopping.test_net].outputs)
    if stopping.output not in outputs:
        raise SolverError(
            f"Early stopping: expected an output of test net (#{stopping.test_net}) among {', '.join(outputs)}, got "
            f"'{stopping.output}'.",
            next_step="Correct output in the solver's extras.",
        )
