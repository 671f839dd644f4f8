"""The whole schedule agrees with the rate of each update."""

from __future__ import annotations

import pytest

from app.solver.plot import nice_ticks
from app.solver.schedule import read_schedule
from engine.prototxt import parse
from engine.schema import to_message
from engine.solvers.extras import WarmUp
from engine.solvers.log import TrainingLog
from engine.solvers.rates import RateCourse

BASE = "base_lr: 0.1 gamma: 0.5 max_iter: 100 "


@pytest.mark.parametrize("warm_up", [None, WarmUp(30, 0.2), WarmUp(1)])
@pytest.mark.parametrize(
    "text",
    [
        'lr_policy: "fixed"',
        'lr_policy: "step" stepsize: 30',
        'lr_policy: "step" stepsize: 1',
        'lr_policy: "exp"',
        'lr_policy: "inv" power: 0.75',
        'lr_policy: "multistep" stepvalue: 10 stepvalue: 40 stepvalue: 99',
        'lr_policy: "multistep" stepvalue: 40 stepvalue: 40 stepvalue: 10 stepvalue: 500',
        'lr_policy: "multistep" stepvalue: [0, 1]',
        'lr_policy: "poly" power: 2',
        'lr_policy: "sigmoid" gamma: -0.1 stepsize: 50',
    ],
)
def test_every_rate_is_that_of_the_update(text: str, warm_up: WarmUp | None) -> None:
    root = parse(BASE + text).root
    course = RateCourse(to_message(root, "SolverParameter"), warm_up, TrainingLog())
    rates = [course.advance(iteration) for iteration in range(100)]
    schedule = read_schedule(root, None, warm_up)
    assert not schedule.problem
    assert schedule.iterations.tolist() == list(range(100))
    assert schedule.rates.tolist() == rates
    assert schedule.max_iter == 100
    assert schedule.warm_up == (warm_up.iterations if warm_up else 0)


def test_a_long_schedule_has_each_drop_to_the_iteration() -> None:
    text = 'base_lr: 1 gamma: 0.1 lr_policy: "multistep" stepvalue: 123457 stepvalue: 765433 max_iter: 1000000'
    schedule = read_schedule(parse(text).root)
    assert schedule.drops == (123457, 765433)
    assert len(schedule.iterations) < 500
    for drop, before, after in ((123457, 1.0, 0.1), (765433, 0.1, 0.01)):
        assert schedule.at(drop - 1) == (drop - 1, pytest.approx(before))
        assert schedule.at(drop) == (drop, pytest.approx(after))
    assert schedule.words == "multistep: 1 \u2192 0.01, 2 drops"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lr_policy"),
        ('lr_policy: "cosine"', "cosine"),
        ('lr_policy: "step"', "stepsize"),
        ('lr_policy: "poly" power: 1', "max_iter"),
        ('lr_policy: "exp" base_lr: 1 gamma: 1e30 max_iter: 100', "no learning rate"),
        ('lr_policy: "inv" base_lr: 1 gamma: -2 power: 0.5 max_iter: 9', "no rate at iteration 8"),
        ('lr_policy: "fixed" base_lr: "x"', "no learning rate"),
    ],
)
def test_what_gives_no_schedule_is_said(text: str, said: str) -> None:
    schedule = read_schedule(parse(text).root)
    if text.endswith('"x"'):
        assert not schedule.problem  # what cannot be read counts as absent, and the field says so
    else:
        assert said in schedule.problem


def test_without_an_end_there_is_a_picture_all_the_same() -> None:
    schedule = read_schedule(parse('base_lr: 1 gamma: 0.1 lr_policy: "multistep" stepvalue: 8000').root)
    assert schedule.max_iter == 0
    assert schedule.drops == (8000,)
    assert schedule.iterations[-1] == 9999


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.5, 1]), (0, 1000, [0, 500, 1000]), (-4, -1, [-4, -2]), (3, 3, [3])],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert nice_ticks(low, high, 2) == expected
