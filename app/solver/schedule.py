"""The learning rate over a whole training, for a picture of it; nothing here knows Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from app.wording import counted
from engine.errors import NetcanvasError
from engine.prototxt import Message
from engine.schema import to_message
from engine.solvers.policies import check_policy, learning_rate

if TYPE_CHECKING:
    from engine.schema import Schema
    from engine.solvers.extras import WarmUp

__all__ = ["Schedule", "read_schedule", "step_times"]

_SAMPLES = 400
_MOST_DROPS = 400
_HORIZON = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The rate of the updates of a training, before each parameter's ``lr_mult``.

    Attributes
    ----------
    policy : str
        As ``lr_policy`` names it.
    iterations : ndarray of int64, shape (n,)
        Where the rate is known, rising; every drop has its last iteration before and its first after.
    rates : ndarray of float64, shape (n,)
        The rate of the update of each of these.
    max_iter : int
        Updates of the training; 0 where the file does not say.
    drops : tuple of int
        Iterations at which ``step`` and ``multistep`` drop the rate, within the training.
    warm_up : int
        Iterations over which the rate grows.
    problem : str
        Why there is no rate; then the arrays are empty.
    """

    policy: str = ""
    iterations: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    rates: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    max_iter: int = 0
    drops: tuple[int, ...] = ()
    warm_up: int = 0
    problem: str = ""

    def at(self, iteration: float) -> tuple[int, float]:
        """Return the known iteration next to one, at or before it, and its rate."""
        index = int(np.clip(np.searchsorted(self.iterations, iteration, "right") - 1, 0, len(self.iterations) - 1))
        return int(self.iterations[index]), float(self.rates[index])

    @property
    def words(self) -> str:
        """The schedule in a line: ``step: 0.01 → 1e-05, 3 drops``."""
        if self.problem:
            return self.problem
        first, last = float(self.rates[0]), float(self.rates[-1])
        parts = [f"{first:.4g}" if first == last else f"{first:.4g} \u2192 {last:.4g}"]
        if self.drops:
            over = "over " if len(self.drops) == _MOST_DROPS else ""
            parts.append(f"{over}{counted(len(self.drops), 'drop')}")
        if self.warm_up:
            parts.append(f"warm-up over {counted(self.warm_up, 'iteration')}".replace(",", "\u202f"))
        return f"{self.policy}: {', '.join(parts)}"


def read_schedule(root: Message, schema: Schema | None = None, warm_up: WarmUp | None = None) -> Schedule:
    """Return the schedule that a solver's text describes.

    Parameters
    ----------
    root : Message
        The solver.
    schema : Schema, optional
        That of its dialect.
    warm_up : WarmUp, optional
        From the file of extras.
    """
    try:
        param = to_message(root, "SolverParameter", schema=schema)
        check_policy(param)
    except NetcanvasError as error:
        return Schedule(problem=f"{error.message} {error.next_step}".strip())
    drops = step_times(param)
    max_iter = max(int(param.max_iter), 0)
    horizon = max_iter or max((_HORIZON, *(drop * 5 // 4 for drop in drops)))
    within = tuple(drop for drop in drops if drop < horizon)
    places = _places(horizon, within, warm_up)
    try:
        rates = [_rate(param, int(place), drops, warm_up) for place in places]
    except (OverflowError, ZeroDivisionError, TypeError, NetcanvasError):  # a power of a negative number is none
        return Schedule(param.lr_policy, problem="These settings give no learning rate that is a number.")
    if not np.isfinite(rates).all():
        return Schedule(param.lr_policy, problem="These settings give no learning rate that is a number.")
    grows = warm_up.iterations if warm_up is not None else 0
    return Schedule(param.lr_policy, places, np.array(rates, np.float64), max_iter, within, grows)


def step_times(param: Any) -> tuple[int, ...]:
    """Return the iterations at which the policies ``step`` and ``multistep`` drop the rate, in their order.

    Of ``multistep``, Caffe takes one step in an iteration at most, and a step only after those before it in the list.
    """
    if param.lr_policy == "step":
        count = min(max(int(param.max_iter) - 1, 0) // int(param.stepsize), _MOST_DROPS)
        return tuple(int(param.stepsize) * (index + 1) for index in range(count))
    times: list[int] = []
    for value in param.stepvalue if param.lr_policy == "multistep" else ():
        times.append(max(int(value), times[-1] + 1 if times else 0))
    return tuple(times)


def _places(horizon: int, drops: tuple[int, ...], warm_up: WarmUp | None) -> npt.NDArray[np.int64]:
    even = np.linspace(0, horizon - 1, min(_SAMPLES, horizon)).astype(np.int64)
    edges = [place for drop in drops for place in (drop - 1, drop)]
    if warm_up is not None:
        edges += [warm_up.iterations, *np.linspace(0, warm_up.iterations, 50).astype(int).tolist()]
    inside = [place for place in edges if 0 <= place < horizon]
    return np.unique(np.concatenate([even, np.array(inside, np.int64)]))


def _rate(param: Any, iteration: int, drops: tuple[int, ...], warm_up: WarmUp | None) -> float:
    steps = sum(drop <= iteration for drop in drops) if param.lr_policy == "multistep" else 0
    rate = learning_rate(param, iteration, steps)
    return rate if warm_up is None else rate * warm_up.factor(iteration)
