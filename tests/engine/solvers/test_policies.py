from __future__ import annotations

import math

import pytest

from engine.errors import SolverError
from engine.solvers import learning_rate
from engine.solvers.policies import check_policy, next_step, step_reached
from tests.engine.solvers.support import solver_param

BASE = "base_lr: 0.5 gamma: 0.1 power: 0.75 max_iter: 100 stepsize: 10 stepvalue: 5 stepvalue: 20 "


@pytest.mark.parametrize(
    ("policy", "iteration", "expected"),
    [
        ("fixed", 37, 0.5),
        ("step", 9, 0.5),
        ("step", 10, 0.05),
        ("step", 37, 0.5 * 0.1**3),
        ("exp", 3, 0.5 * 0.1**3),
        ("inv", 37, 0.5 * (1 + 3.7) ** -0.75),
        ("multistep", 4, 0.5),
        ("multistep", 5, 0.05),
        ("multistep", 37, 0.5 * 0.1**2),
        ("poly", 25, 0.5 * 0.75**0.75),
        ("poly", 101, 0.0),
        ("sigmoid", 30, 0.5 / (1 + math.exp(-2.0))),
    ],
)
def test_formulas(policy: str, iteration: int, expected: float) -> None:
    param = solver_param(BASE + f'lr_policy: "{policy}"')
    assert learning_rate(param, iteration, step_reached(param, iteration)) == pytest.approx(expected, rel=1e-6)


def test_multistep_goes_on_from_the_step_it_was_resumed_at() -> None:
    param = solver_param(BASE + 'lr_policy: "multistep"')
    assert [step_reached(param, iteration, 1) for iteration in (0, 19, 20)] == [1, 1, 2]


def test_multistep_takes_one_step_an_iteration_as_caffe() -> None:
    param = solver_param('lr_policy: "multistep" stepvalue: 2 stepvalue: 2 stepvalue: 2')
    steps, current = [], 0
    for iteration in range(6):
        current = next_step(param, iteration, current)
        steps.append(current)
    assert steps == [0, 0, 1, 2, 3, 3]


def test_sigmoid_far_below_its_step_is_zero_not_an_overflow() -> None:
    assert learning_rate(solver_param('base_lr: 1 lr_policy: "sigmoid" gamma: 10 stepsize: 1000000'), 0) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('lr_policy: "cosine"', "got 'cosine'"),
        ("", "got none"),
        ('lr_policy: "step"', "stepsize of at least 1"),
        ('lr_policy: "poly"', "max_iter of at least 1"),
        ('lr_policy: "inv" gamma: -0.1 power: 0.5 max_iter: 11', "no rate at iteration 10"),
    ],
)
def test_refused_before_training(text: str, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        check_policy(solver_param(text))
