"""Logs of trainings, Caffe's and our own, as tables.

Rows and columns are those of Caffe's ``parse_log.py``: a row begins with the first output of an iteration, and has the
iteration, the seconds since the training began, the last learning rate told, and the outputs by name.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["Row", "TrainingTables", "columns", "read_training_log"]

Row = dict[str, float]

_NUMBER = r"-?(?:nan|inf)|[.\deE+-]+"
_STAMP = re.compile(r"^\s*[IWEF](?:\d{4})?(\d\d)(\d\d)\s+(\d\d):(\d\d):(\d\d)\.(\d{1,6})")
_ITERATION = re.compile(r"Iteration (\d+)")
_RATE = re.compile(r"\blr = ([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)")
_OUTPUT = re.compile(rf"(Train|Test) net output #(\d+): (.+?) = ({_NUMBER})")
_LEAP_DAY = re.compile(r"^\s*[IWEF](?:\d{4})?0229\s", re.MULTILINE)
_HEAD = ("NumIters", "Seconds", "LearningRate")


@dataclass(frozen=True, slots=True)
class TrainingTables:
    """What a log tells.

    Attributes
    ----------
    train, test : tuple of rows
        Values by column; ``Seconds`` since the start, ``LearningRate`` NaN where the log has not told it.
    iterations : int
        Lines that name an iteration; 0 in what is no log of a training.
    """

    train: tuple[Row, ...]
    test: tuple[Row, ...]
    iterations: int


def columns(rows: Iterable[Mapping[str, float]]) -> list[str]:
    """Return the names of all columns, in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def read_training_log(text: str, year: int) -> TrainingTables:
    """Read the log of a training.

    Parameters
    ----------
    text : str
        Lines that Caffe or our own trainings wrote; others are passed over.
    year : int
        When it was written, which Caffe's time stamps leave out.
    """
    if _LEAP_DAY.search(text) and not calendar.isleap(year):
        year -= year % 4
    clock = _Clock(year)
    tables = {"Train": _Table(), "Test": _Table()}
    iteration, rate, told = -1, math.nan, 0
    for line in text.splitlines():
        seconds = clock.read(line)
        if match := _ITERATION.search(line):
            iteration = int(match[1])
            told += 1
        if iteration < 0 or seconds is None:
            continue
        if match := _RATE.search(line):
            rate = float(match[1])
        if match := _OUTPUT.search(line):
            try:
                value = float(match[4])
            except ValueError:
                continue
            tables[match[1]].add(int(match[2]), match[3], value, (iteration, seconds, rate))
    return TrainingTables(tables["Train"].finish(), tables["Test"].finish(), told)


class _Clock:
    """Reads the time stamps of one log as seconds since the training began."""

    def __init__(self, year: int) -> None:
        self._year = year
        self._start: datetime | None = None
        self._last: datetime | None = None
        self._has_begun = False

    def read(self, line: str) -> float | None:
        """Return seconds, None for a line without a time stamp."""
        match = _STAMP.match(line)
        if match is None:
            return None
        month, day, hour, minute, second = (int(text) for text in match.groups()[:5])
        if self._last is not None and month < self._last.month:
            self._year += 1
        try:
            now = datetime(self._year, month, day, hour, minute, second, int(match[6].ljust(6, "0")))
        except ValueError:
            return None
        begins = not self._has_begun and "Solving" in line
        if self._start is None or begins:
            self._start = now
        self._has_begun |= begins
        self._last = now
        return (now - self._start).total_seconds()


@dataclass(slots=True)
class _Table:
    """Collects outputs as rows; a new one begins with an iteration, and where outputs are counted from the front."""

    rows: list[Row] = field(default_factory=list)
    _number: int = -1
    _head: tuple[float, ...] = ()

    def add(self, number: int, name: str, value: float, head: tuple[float, float, float]) -> None:
        """Add one output."""
        if not self.rows or number <= self._number or head[0] != self.rows[-1]["NumIters"]:
            self.rows.append(dict(zip(_HEAD, map(float, head), strict=True)))
        self.rows[-1][name] = value
        self._number = number

    def finish(self) -> tuple[Row, ...]:
        """Return the rows: without a last one that was cut off, and with the first learning rate, told too late."""
        rows = self.rows
        if len(rows) > 1 and len(rows[-1]) < len(rows[0]):
            rows = rows[:-1]
        if len(rows) > 1:
            rows[0]["LearningRate"] = rows[1]["LearningRate"]
        return tuple(rows)
