"""LeNet is fast enough to train, with room for a slower machine."""

from __future__ import annotations

import time

from tests.benchmarks.lenet import BUDGET, iteration_time, lenet

ROOM = 3


def test_lenet_runs_in_time():
    """In the processor's time, of all threads: a busy machine takes longer by the clock on the wall."""
    assert iteration_time(lenet(), 15, time.process_time) < ROOM * BUDGET
