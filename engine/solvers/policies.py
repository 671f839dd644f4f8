"""Learning rate policies, as Caffe computes them (``SGDSolver::GetLearningRate``)."""

from __future__ import annotations

import math
from typing import Any

from engine.errors import SolverError

__all__ = ["POLICIES", "check_policy", "learning_rate", "next_step", "step_reached"]

POLICIES = ("fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid")

_LARGEST_EXPONENT = 700.0


def step_reached(param: Any, iteration: int, current_step: int = 0) -> int:
    """Return the number of steps due so far by the policies ``step`` and ``multistep``.

    Caffe takes one step of ``multistep`` in an iteration at most; :func:`next_step` does so too.

    Parameters
    ----------
    param : SolverParameter
    iteration : int
        Updates done so far.
    current_step : int
        The number found before, which ``multistep`` goes on from.
    """
    if param.lr_policy == "step":
        return iteration // int(param.stepsize)
    if param.lr_policy == "multistep":
        while current_step < len(param.stepvalue) and iteration >= param.stepvalue[current_step]:
            current_step += 1
    return current_step


def next_step(param: Any, iteration: int, current_step: int) -> int:
    """Return the number of steps that the update of an iteration has behind it, ``current_step`` those of the last."""
    due = step_reached(param, iteration, current_step)
    return min(due, current_step + 1) if param.lr_policy == "multistep" else due


def learning_rate(param: Any, iteration: int, current_step: int = 0) -> float:
    """Return the rate of one update, before each parameter's ``lr_mult``.

    Parameters
    ----------
    param : SolverParameter
        ``base_lr``, ``lr_policy`` and what the policy needs.
    iteration : int
        Updates done so far.
    current_step : int
        Steps taken so far, see :func:`next_step`; used by ``multistep``.

    Returns
    -------
    float
        With i the iteration, b ``base_lr``, g ``gamma``: fixed b; step b g^floor(i / stepsize); exp b g^i; inv
        b (1 + g i)^-power; multistep b g^steps; poly b (1 - i / max_iter)^power; sigmoid
        b / (1 + e^(-g (i - stepsize))).

    Raises
    ------
    SolverError
        If the policy is unknown or lacks what it needs, or has no rate at that iteration.
    """
    base, gamma, power = float(param.base_lr), float(param.gamma), float(param.power)
    match param.lr_policy:
        case "fixed":
            return base
        case "step":
            return float(base * gamma ** step_reached(param, iteration))
        case "multistep":
            return float(base * gamma**current_step)
        case "exp":
            return float(base * gamma**iteration)
        case "inv":
            if 1.0 + gamma * iteration <= 0.0:
                raise _no_rate(param, iteration)
            return float(base * (1.0 + gamma * iteration) ** -power)
        case "poly":
            return float(base * max(1.0 - iteration / int(param.max_iter), 0.0) ** power)
        case "sigmoid":
            exponent = -gamma * (iteration - int(param.stepsize))
            return base / (1.0 + math.exp(exponent)) if exponent < _LARGEST_EXPONENT else 0.0
    raise _unknown_policy(param)


def check_policy(param: Any) -> None:
    """Refuse a policy that is unknown or lacks a setting, before training starts.

    Raises
    ------
    SolverError
        Naming the policy and the setting.
    """
    policy = param.lr_policy
    if policy not in POLICIES:
        raise _unknown_policy(param)
    if policy == "step" and param.stepsize < 1:
        raise SolverError(
            f"Solver: expected a stepsize of at least 1 with lr_policy 'step', got {param.stepsize}.",
            next_step="Set stepsize to the number of iterations between two drops of the rate.",
        )
    if policy == "poly" and param.max_iter < 1:
        raise SolverError(
            f"Solver: expected a max_iter of at least 1 with lr_policy 'poly', got {param.max_iter}.",
            next_step="Set max_iter: the rate reaches zero there.",
        )
    last = param.max_iter - 1
    if policy == "inv" and 1.0 + param.gamma * last <= 0.0:
        raise _no_rate(param, last)


def _no_rate(param: Any, iteration: int) -> SolverError:
    return SolverError(
        f"Solver: lr_policy 'inv' with gamma {param.gamma:g} has no rate at iteration {iteration}.",
        next_step="Set a gamma of 0 or more, or end earlier.",
    )


def _unknown_policy(param: Any) -> SolverError:
    if not param.lr_policy:
        return SolverError("Solver: expected an lr_policy, got none.", next_step=f"Set one of {', '.join(POLICIES)}.")
    return SolverError(
        f"Solver: expected an lr_policy among {', '.join(POLICIES)}, got '{param.lr_policy}'.",
        next_step="Correct lr_policy.",
    )
