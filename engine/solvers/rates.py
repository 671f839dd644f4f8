"""The learning rate on its way through a training."""

from __future__ import annotations

from typing import Any

from engine.solvers.extras import WarmUp
from engine.solvers.log import TrainingLog
from engine.solvers.policies import learning_rate, next_step

__all__ = ["RateCourse"]


class RateCourse:
    """Computes the rate of each update: the policy's, times the factor of the warm-up.

    Parameters
    ----------
    param : SolverParameter
        Its settings may change on the way.
    warm_up : WarmUp or None
    lines : TrainingLog
        Told of steps.

    Attributes
    ----------
    current_step : int
        Steps taken so far by the policies ``step`` and ``multistep``.
    """

    def __init__(self, param: Any, warm_up: WarmUp | None, lines: TrainingLog) -> None:
        self.current_step = 0
        self._param = param
        self._warm_up = warm_up
        self._lines = lines

    def peek(self, iteration: int) -> float:
        """Return the rate that the update of an iteration will have."""
        return self._rate(iteration, next_step(self._param, iteration, self.current_step))

    def advance(self, iteration: int) -> float:
        """Take a step if one is due, and return the rate of this update."""
        step = next_step(self._param, iteration, self.current_step)
        if step != self.current_step and self._param.lr_policy == "multistep":
            self._lines.step_taken(iteration, step)
        self.current_step = step
        return self._rate(iteration, step)

    def _rate(self, iteration: int, step: int) -> float:
        rate = learning_rate(self._param, iteration, step)
        return rate if self._warm_up is None else rate * self._warm_up.factor(iteration)
