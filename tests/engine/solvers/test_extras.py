"""Warm-up, early stopping and retention: the file beside the solver, and what it does."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from engine.errors import SolverError
from engine.solvers import IterationReport, Solver, SolverExtras, TestReport, check_settings, parse_extras
from tests.engine.solvers.nets import SOLVER, assert_same, weights, write_project

TESTS = "test_iter: 3 test_interval: 2 "
STOPPING: dict[str, Any] = {"output": "accuracy", "goal": "max", "patience": 2}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, dropout=0.3, shuffle=True)


def solver_of(project: Path, settings: str, **extras: Any) -> Solver:
    """Write a solver and its extras, and build it from its file."""
    path = project / "solver.prototxt"
    path.write_text(SOLVER + settings + "\n")
    (project / "solver.prototxt.extras.json").write_text(json.dumps(extras))
    return Solver.create(path, output_dir=project)


class Rates:
    def __init__(self, solver: Solver) -> None:
        self.rates: list[float] = []
        self.tests: list[TestReport] = []
        solver.listeners.append(self)

    def on_iteration(self, report: IterationReport) -> None:
        self.rates.append(report.lr)

    def on_test(self, report: TestReport) -> None:
        self.tests.append(report)


def numbers(project: Path) -> list[int]:
    return sorted(int(path.stem.rpartition("_")[2]) for path in project.glob("snap_iter_*.solverstate"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"file:1:2: expected JSON"),
        ("[]", r"the file: expected an object, got \[\]"),
        ('{"warmup": {}}', r"warmup: expected an option among .*Did you mean 'warm_up'"),
        ('{"warm_up": 5}', r"warm_up: expected an object, got 5"),
        ('{"warm_up": {}}', r"warm_up\.iterations: expected a whole number of 1 or more, got nothing"),
        ('{"warm_up": {"iterations": 0}}', r"warm_up\.iterations.*got 0"),
        ('{"warm_up": {"iterations": 2.5}}', r"warm_up\.iterations.*got 2\.5"),
        ('{"warm_up": {"iterations": true}}', r"warm_up\.iterations.*got true"),
        ('{"warm_up": {"iterations": 5, "start": 2}}', r"warm_up\.start: expected a number from 0 to 1, got 2"),
        ('{"warm_up": {"iterations": 5, "iterations": 6}}', r"iterations: expected one value, got two"),
        ('{"early_stopping": {"goal": "max", "patience": 1}}', r"early_stopping\.output: expected a text, got nothing"),
        (
            '{"early_stopping": {"output": "a", "goal": "up", "patience": 1}}',
            r'goal: expected "max" or "min", got "up"',
        ),
        (
            '{"early_stopping": {"output": "a", "goal": "max", "patience": 1, "min_delta": Infinity}}',
            r"min_delta: expected a finite number",
        ),
        ('{"retention": {"keep_last": -1}}', r"retention\.keep_last.*got -1"),
        ('{"retention": {"keep_last": 1, "keep_best": 1}}', r"keep_best: expected true or false, got 1"),
        ('{"retention": {"keep_last": 1, "keep_best": true}}', r"keep_best: expected early_stopping.*got none"),
    ],
)
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        parse_extras(text, "file")


def test_an_empty_file_turns_nothing_on() -> None:
    assert parse_extras("{}") == SolverExtras() and SolverExtras().lines() == []


def test_check_misses_the_test_net_of_early_stopping(project: Path) -> None:
    solver_of(project, "").close()
    stopping = '{"early_stopping": {"output": "a", "goal": "max", "patience": 1}}'
    (project / "solver.prototxt.extras.json").write_text(stopping)
    with pytest.raises(SolverError, match=r"expected a test net \(#0\), got a solver with 0"):
        check_settings(project / "solver.prototxt")


def test_check_reads_the_extras(project: Path) -> None:
    solver_of(project, "").close()
    (project / "solver.prototxt.extras.json").write_bytes(b"\xff")
    with pytest.raises(SolverError, match=r"solver\.prototxt\.extras\.json' cannot be read"):
        check_settings(project / "solver.prototxt")


@pytest.mark.parametrize(
    ("settings", "stopping", "message"),
    [
        ("", STOPPING, r"a test net \(#0\), got a solver with 0"),
        (TESTS, {**STOPPING, "test_net": 1}, r"a test net \(#1\), got a solver with 1"),
        (TESTS, {**STOPPING, "output": "acc"}, r"among accuracy, loss, got 'acc'"),
    ],
)
def test_what_early_stopping_watches_must_be_there(
    project: Path, settings: str, stopping: dict[str, Any], message: str
) -> None:
    with pytest.raises(SolverError, match=message):
        solver_of(project, settings, early_stopping=stopping)


def test_warm_up_is_a_factor_on_the_policy(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    solver = solver_of(project, "max_iter: 6 snapshot_after_train: false ", warm_up={"iterations": 4, "start": 0.2})
    rates = Rates(solver)
    with caplog.at_level(logging.INFO):
        solver.solve()
    solver.close()
    assert rates.rates == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.1, 0.1])
    assert "Warm-up: 4 iterations from 0.2 times the learning rate." in caplog.text


@pytest.mark.parametrize(
    ("stopping", "values", "ended_after"),
    [
        (STOPPING, [0.5, 0.4, 0.6, 0.6, 0.6, 0.9], 5),
        ({**STOPPING, "goal": "min"}, [0.5, 0.4, 0.6, 0.5, 0.1], 4),
        ({**STOPPING, "min_delta": 0.1}, [0.5, 0.55, 0.58, 0.9], 3),
        (STOPPING, [float("nan"), 0.2, float("nan"), float("nan")], 4),
        (STOPPING, [0.1, 0.2, 0.3, 0.4], None),
    ],
)
def test_when_early_stopping_ends_a_training(
    project: Path, monkeypatch: pytest.MonkeyPatch, stopping: dict[str, Any], values: list[float], ended_after: int
) -> None:
    solver = solver_of(project, f"{TESTS} max_iter: {2 * len(values) - 1}", early_stopping=stopping)
    given = iter(values)
    net = solver.test_nets[0]
    forward = net.forward

    def scored(*arguments: Any) -> float:
        loss = forward(*arguments)
        if solver.iteration not in seen:
            seen[solver.iteration] = next(given)
        net.blobs["accuracy"].data[...] = seen[solver.iteration]
        return loss

    seen: dict[int, float] = {}
    monkeypatch.setattr(net, "forward", scored)
    solver.solve()
    solver.close()
    tests = len(values) if ended_after is None else ended_after
    assert len(seen) == tests
    assert solver.iteration == (solver.max_iter if ended_after is None else 2 * (ended_after - 1))
    assert bool(solver.ended_early) == (ended_after is not None) and not solver.stopped
    assert numbers(project) == [solver.iteration]
    if ended_after is not None:
        assert "'accuracy' was no better in 2 tests in a row" in solver.ended_early


@pytest.mark.parametrize(
    ("retention", "expected"),
    [
        ({"keep_last": 2}, [4, 5]),
        ({"keep_last": 1, "keep_every": 2}, [2, 4, 5]),
        ({"keep_last": 9}, [1, 2, 3, 4, 5]),
    ],
)
def test_retention(project: Path, retention: dict[str, Any], expected: list[int]) -> None:
    (project / "snap_iter_0.solverstate").write_bytes(b"of another training")
    solver = solver_of(project, "max_iter: 5 snapshot: 1", retention=retention)
    solver.solve()
    solver.close()
    assert numbers(project) == [0, *expected]
    assert len(list(project.glob("snap_iter_*"))) == 3 * len(expected) + 1


def test_the_best_snapshot_is_taken_and_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = {**STOPPING, "goal": "min", "output": "loss", "patience": 9, "snapshot_best": True}
    solver = solver_of(project, TESTS + "max_iter: 8 snapshot: 3", early_stopping=stopping, retention={"keep_last": 1})
    rates = Rates(solver)
    solver.solve()
    scores = {report.iteration: float(report.outputs["loss"]) for report in rates.tests if report.iteration < 8}
    best = min(scores, key=scores.__getitem__)
    assert numbers(project) == sorted({best, 8} - {0})
    solver.close()


@pytest.mark.parametrize("stop", [3, 4, 6])
def test_all_of_it_is_resumed_exactly(project: Path, stop: int) -> None:
    """Snapshots taken by early stopping go back to before the test, so that the test is done again in the same bits."""
    extras: dict[str, Any] = {
        "warm_up": {"iterations": 7, "start": 0.0},
        "early_stopping": {**STOPPING, "goal": "min", "output": "loss", "patience": 3, "snapshot_best": True},
        "retention": {"keep_last": 2, "keep_every": 3},
    }
    settings = TESTS + "snapshot: 3 max_iter: "
    whole = solver_of(project, settings + "12", **extras)
    whole.solve()
    expected, kept = weights(whole), numbers(project)
    for path in project.glob("snap_iter_*"):
        path.unlink()
    first = solver_of(project, settings + str(stop), **extras)
    first.solve()
    first.close()
    second = solver_of(project, settings + "12", **extras)
    second.restore(project / f"snap_iter_{stop}.solverstate")
    second.solve()
    assert second.iteration == whole.iteration and second.ended_early == whole.ended_early
    assert_same(weights(second), expected)
    assert second.net.get_state() == whole.net.get_state()
    assert second.test_nets[0].get_state() == whole.test_nets[0].get_state()
    assert [number for number in numbers(project) if number != stop] == [number for number in kept if number != stop]
    whole.close()
    second.close()


def test_a_snapshot_of_the_best_is_resumed_exactly(project: Path) -> None:
    stopping = {**STOPPING, "goal": "min", "output": "loss", "patience": 2, "snapshot_best": True}
    whole = solver_of(project, TESTS + "max_iter: 11", early_stopping=stopping)
    whole.solve()
    expected = weights(whole)
    taken = [number for number in numbers(project) if number not in (0, whole.iteration)]
    assert taken
    for number in taken:
        second = solver_of(project, TESTS + "max_iter: 11", early_stopping=stopping)
        second.restore(project / f"snap_iter_{number}.solverstate")
        second.solve()
        assert (second.iteration, second.ended_early) == (whole.iteration, whole.ended_early)
        assert_same(weights(second), expected)
        assert second.test_nets[0].get_state() == whole.test_nets[0].get_state()
        second.close()
    whole.close()
