"""What a solver tells its listeners, and what it is told."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

__all__ = ["Action", "IterationReport", "SnapshotPaths", "TestReport"]


class Action(enum.StrEnum):
    """Answers of ``Solver.control``, which is asked after every iteration and every test batch."""

    CONTINUE = "continue"
    PAUSE = "pause"
    SNAPSHOT = "snapshot"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class IterationReport:
    """One finished iteration.

    Attributes
    ----------
    iteration : int
        Updates done before this one, as Caffe counts in ``Iteration N, loss = ...``.
    loss : float
        Loss of this iteration, averaged over ``iter_size`` passes.
    smoothed_loss : float
        Mean over the last ``average_loss`` iterations.
    lr : float
        Learning rate of the update.
    seconds : float
        Time the iteration took, without tests, snapshots and pauses.
    """

    iteration: int
    loss: float
    smoothed_loss: float
    lr: float
    seconds: float


@dataclass(frozen=True, slots=True)
class TestReport:
    """One pass of a test net.

    Attributes
    ----------
    iteration : int
        Updates done so far.
    net_index : int
        Which test net.
    outputs : mapping of str to ndarray
        Elementwise mean over all batches of each output blob, by name in alphabetical order.
    loss : float
        Weighted sum of losses; NaN unless ``test_compute_loss`` is set.
    batches : int
        Number of batches done.
    """

    __test__ = False  # no test case, whatever pytest makes of the name

    iteration: int
    net_index: int
    outputs: Mapping[str, npt.NDArray[Any]]
    loss: float
    batches: int


@dataclass(frozen=True, slots=True)
class SnapshotPaths:
    """Files of one snapshot; unpacks into model and state.

    Attributes
    ----------
    model : Path
        The weights.
    state : Path
        The solver state.
    iteration : int
        Updates done when it was taken.
    """

    model: Path
    state: Path
    iteration: int

    def __iter__(self) -> Any:
        return iter((self.model, self.state))
