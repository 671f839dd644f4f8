"""The bundled example learns: 0.97 within 1,000 iterations, where Caffe reached 0.974."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.examples import prepare_example
from engine.solvers import IterationReport, Solver

ACCURACY = 0.97
LEAST_SPEED = 25.0


class Clock:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_iteration(self, report: IterationReport) -> None:
        self.seconds.append(report.seconds)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_lenet_learns_digits(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    busy = os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1)
    example = prepare_example("lenet", tmp_path)
    accuracies, seconds = [], []
    for seed in (1, 2, 3):
        solver = Solver.create(example.solver, seed=seed)
        clock = Clock()
        solver.listeners.append(clock)
        solver.param.test_interval = solver.max_iter * 2
        solver.param.test_initialization = False
        solver.param.snapshot = 0
        solver.step(solver.max_iter)
        accuracies.append(float(solver.test_all()[0]["accuracy"]))
        seconds += clock.seconds
        solver.close()
        if sum(each >= ACCURACY for each in accuracies) == 2:
            break  # the median of three is decided
    speed = 1 / statistics.median(seconds)
    record_property("accuracies", accuracies)
    record_property("iterations_per_second", speed)
    print(f"LeNet, batch 64: test accuracies {accuracies}, {speed:.1f} iterations a second")
    assert sum(each >= ACCURACY for each in accuracies) == 2, accuracies
    assert busy or speed >= LEAST_SPEED  # says nothing where others use the processor
