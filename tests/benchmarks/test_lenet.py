"""LeNet is fast enough to train, with room for a slower or busy machine."""

from __future__ import annotations

from tests.benchmarks.lenet import BUDGET, iteration_time, lenet

ROOM = 3


def test_lenet_runs_in_time():
    assert iteration_time(lenet(), 15) < ROOM * BUDGET
