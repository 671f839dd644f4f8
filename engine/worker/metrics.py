"""The metrics file: one JSON object a line, only ever added to.

An ``iteration`` is the number of updates done before, as Caffe counts.
``{"kind": "start", "iteration": 0}`` begins the file and every resumption; what stands above it for later iterations
is void, for they are done again. ``train`` lines hold ``iteration``, ``loss``, ``smoothed_loss`` and
``learning_rate``; ``test`` lines ``iteration``, ``net`` and ``outputs``; ``snapshot`` lines ``iteration``, ``weights``
and ``state``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from engine.worker.events import POINT_COLUMNS, Metrics
from engine.worker.protocol import dumps

__all__ = ["History", "MetricsWriter", "last_iteration", "read_history"]

_TAIL_BYTES = 4096


@dataclass(slots=True)
class History:
    """What a metrics file says.

    Attributes
    ----------
    points : ndarray of float64, shape (n, 4)
        Iteration, loss, smoothed loss and learning rate, in order of iteration.
    tests : list of Metrics
        Test passes, in order of iteration.
    """

    points: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, len(POINT_COLUMNS))))
    tests: list[Metrics] = field(default_factory=list)


class MetricsWriter:
    """Adds lines to a metrics file.

    Lines are collected until :meth:`flush`, so that a fast net does not write to the disk at every iteration.

    Parameters
    ----------
    path : Path
        The file; made when missing.
    """

    def __init__(self, path: Path) -> None:
        self._stream: TextIO = path.open("a", encoding="utf-8")

    def add(self, kind: str, values: Mapping[str, Any]) -> None:
        """Add a line."""
        self._stream.write(dumps({"kind": kind, **values}) + "\n")

    def flush(self) -> None:
        """Hand all lines to the system."""
        self._stream.flush()

    def close(self) -> None:
        """Close the file; safe to call again."""
        self._stream.close()


def last_iteration(path: Path) -> int:
    """Return the number of updates that a metrics file knows of, from its last lines; 0 when it holds none."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return 0
    for line in reversed(lines):
        try:
            record = json.loads(line)
            return int(record["iteration"]) + int(record["kind"] == "train")
        except (ValueError, KeyError, TypeError):
            continue
    return 0


def read_history(path: Path) -> History:
    """Read a metrics file; a line that a killed process left half-written is skipped.

    Parameters
    ----------
    path : Path
        The file; a missing one gives an empty history.
    """
    rows: list[tuple[float, ...]] = []
    tests: dict[tuple[int, int], Metrics] = {}
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return History()
    for line in lines:
        try:
            record = json.loads(line)
            kind, iteration = record["kind"], int(record["iteration"])
            if kind == "train":
                rows.append(tuple(float(record[name]) for name in POINT_COLUMNS))
            elif kind == "test":
                test = Metrics(iteration, int(record["net"]), dict(record["outputs"]))
                tests[test.iteration, test.net] = test
            elif kind == "start":
                rows = [row for row in rows if row[0] < iteration]
                tests = {key: test for key, test in tests.items() if key[0] <= iteration}
        except (ValueError, KeyError, TypeError):
            continue
    points = np.array(rows, np.float64).reshape(len(rows), len(POINT_COLUMNS))
    return History(points, list(tests.values()))
