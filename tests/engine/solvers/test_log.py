"""Our logs, read by the rules of Caffe's own parsers (``tools/extra``: ``parse_log.py``, ``parse_log.sh``)."""

from __future__ import annotations

import datetime
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.worker.logs import GlogFormatter
from tests.engine.solvers.nets import SOLVER, make_solver, write_project

ITERATION = re.compile(r"Iteration (\d+)")
OUTPUTS = {kind: re.compile(rf"{kind} net output #(\d+): (\S+) = ([\.\deE+-]+)") for kind in ("Train", "Test")}
RATE = re.compile(r"lr = ([-+]?[0-9]*\.?[0-9]+([eE]?[-+]?[0-9]+)?)")
Row = dict[str, float]


def when(line: str, year: int) -> datetime.datetime:
    """Read month, day and time from the places where Caffe's parser looks for them; any other line breaks it."""
    date, clock = line.strip().split()[:2]
    point = clock.rfind(".")
    hour, minute, second = (int(part) for part in clock[:point].split(":"))
    return datetime.datetime(year, int(date[1:3]), int(date[3:]), hour, minute, second, int(clock[point + 1 :]))


def parse(lines: list[str]) -> tuple[list[Row], list[Row]]:
    year = datetime.date.today().year
    start = next(index for index, line in enumerate(lines) if "Solving" in line)
    began = when(lines[start], year)
    iteration, rate = -1.0, float("nan")
    rows: dict[str, list[Row]] = {"Train": [], "Test": []}
    for line in lines[start + 1 :]:
        if (match := ITERATION.search(line)) is not None:
            iteration = float(match.group(1))
        if iteration < 0:
            continue
        seconds = (when(line, year) - began).total_seconds()
        if (match := RATE.search(line)) is not None:
            rate = float(match.group(1))
        for kind, pattern in OUTPUTS.items():
            if (match := pattern.search(line)) is not None:
                if not rows[kind] or rows[kind][-1]["NumIters"] != iteration:
                    rows[kind].append({"NumIters": iteration, "Seconds": seconds, "LearningRate": rate})
                rows[kind][-1][match.group(2)] = float(match.group(3))
    return rows["Train"], rows["Test"]


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[list[str]]:
    """Return the log of a training with a snapshot, a drop of the rate, clipping and tests."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.extend(self.format(record).split("\n"))

    handler = Keep(logging.INFO)
    handler.setFormatter(GlogFormatter())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        base = SOLVER.replace('"fixed"', '"multistep" gamma: 0.0001 stepvalue: 3').replace("0.1", "0.02")
        settings = "test_iter: 2 test_interval: 2 display: 2 max_iter: 6 snapshot: 4 clip_gradients: 0.01"
        solver = make_solver(write_project(tmp_path), settings, base)
        solver.solve()
        solver.close()
        yield found
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def test_the_python_parser(lines: list[str]) -> None:
    train, test = parse(lines)
    assert [row["NumIters"] for row in train] == [0, 2, 4]
    assert [row["NumIters"] for row in test] == [0, 2, 4, 6]
    assert [row["LearningRate"] for row in test[1:]] == [0.02, 0.02, 2e-6]
    assert all(set(row) == {"NumIters", "Seconds", "LearningRate", "accuracy", "loss"} for row in test)
    assert all(set(row) == {"NumIters", "Seconds", "LearningRate", "loss"} for row in train)
    seconds = [row["Seconds"] for row in test]
    assert seconds == sorted(seconds) and seconds[0] >= 0


def test_the_shell_parser(lines: list[str]) -> None:
    """It cuts the log by words and takes the columns from their places."""
    assert sum("] Solving " in line for line in lines) == 1
    losses = [line for line in lines if ", loss = " in line]
    assert len(losses) == 4
    for line in losses:
        float(line.split(", loss = ")[1])
    rates = [line for line in lines if ", lr = " in line]
    assert [line.split()[-1] for line in rates] == ["0.02", "0.02", "2e-06"]
    tests = [line for line in lines if "Test net output #1" in line]
    assert len(tests) == 4 and all(line.split()[10].replace(".", "").isdigit() for line in tests)
    assert [line for line in lines if "MultiStep Status: Iteration 3, step = 1" in line]
    assert any(re.search(r"Gradient clipping: .*L2 norm \S+ > 0\.01\) by scale factor", line) for line in lines)
