"""What the panel shows of one run, kept up to date by the run's events. Knows nothing of Qt."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.training.series import Series
from engine.worker import (
    Event,
    Failure,
    Finished,
    Hello,
    History,
    LogRecord,
    Lost,
    Metrics,
    Output,
    Progress,
    RunStatus,
    SnapshotTaken,
    StateChanged,
    Updates,
)

__all__ = ["Notice", "RunModel", "is_loss"]

IDLE = "idle"
STARTING = "waiting"
_TREND_WINDOW = 20
LIVE = frozenset({"waiting", "running", "paused"})


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the user, with what belongs to it.

    Attributes
    ----------
    kind : str
        ``info``, ``warning`` or ``error``.
    text : str
        One sentence with the next step.
    details : str
        A traceback or the like; empty when there is no more to say.
    layer : str
        The layer at fault, or empty.
    method : str
        ``setup``, ``reshape``, ``forward`` or ``backward``, or empty.
    """

    kind: str
    text: str
    details: str = ""
    layer: str = ""
    method: str = ""


@dataclass(slots=True)
class RunModel:
    """Facts and curves of one run.

    Attributes
    ----------
    state : str
        A state of the run, or ``idle`` for none.
    train : Series
        Iteration, loss, smoothed loss, learning rate, as the solver gives them.
    trend : Series
        Iteration and loss, averaged for the eye: the solver's smoothed loss hides nothing while ``average_loss`` is 1.
    tests : dict of str to Series
        Iteration and value, by ``name`` of the output, or ``name (#1)`` for the second test net.
    updates : dict of str to float
        How large the last update of each layer was beside its weights; another dict each time that figures come.
    updates_at : int
        Updates done by then.
    new_text : list of str
        Log text that nobody has taken yet.
    notice : Notice or None
        What there is to say about the end of the run or its last warning.
    """

    state: str = IDLE
    iteration: int = 0
    max_iter: int = 0
    loss: float | None = None
    learning_rate: float | None = None
    speed: float = 0.0
    seconds_left: float = math.nan
    train: Series = field(default_factory=lambda: Series(4))
    trend: Series = field(default_factory=Series)
    tests: dict[str, Series] = field(default_factory=dict)
    updates: dict[str, float] = field(default_factory=dict)
    updates_at: int = 0
    new_text: list[str] = field(default_factory=list)
    notice: Notice | None = None

    @property
    def live(self) -> bool:
        """Whether the run is under way."""
        return self.state in LIVE

    @property
    def accuracy(self) -> tuple[str, float] | None:
        """Name and last value of the first test output that is no loss."""
        for name, series in self.tests.items():
            if not is_loss(name) and len(series):
                return name, float(series.rows[-1, 1])
        return None

    def load(self, status: RunStatus, history: History) -> None:
        """Take over what the run folder says."""
        self.state = status.state
        self.iteration, self.max_iter = status.iteration, status.max_iter
        self._add_points(history.points)
        for test in history.tests:
            self._add_test(test)
        if len(self.train):
            last, _, self.loss, self.learning_rate = (float(value) for value in self.train.rows[-1])
            self.iteration = max(self.iteration, int(last) + 1)
        if not status.active:
            self._end(status)

    def _end(self, status: RunStatus) -> None:
        details = {key: str(value) for key, value in status.failure.items()}
        if status.state == "failed":
            self.apply(Failure(status.message, **details))
        elif status.state == "lost":
            self.apply(Lost(status.message, status.snapshot, details.get("layer", ""), details.get("method", "")))
        else:
            self.apply(Finished(status.state, status.iteration))

    def apply_all(self, events: Iterable[Event]) -> None:
        """Apply events in order."""
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> None:
        """Bring the model up to date with an event."""
        match event:
            case Progress():
                self._progress(event)
            case Metrics():
                self._add_test(event)
            case Updates(iteration, layers):
                self.updates, self.updates_at = scalars(layers), iteration
            case Output(text):
                self.new_text.append(text)
            case Hello():
                self.state, self.max_iter = event.state, event.max_iter
                shown = int(self.train.x[-1]) + 1 if len(self.train) else 0
                self.iteration = max(shown, event.iteration)
            case StateChanged(state):
                self.state = state
            case LogRecord(level, text):
                self.notice = Notice("error" if level in ("error", "critical") else "warning", text)
            case Failure():
                self.state = "failed"
                self.notice = Notice("error", event.message, event.traceback, event.layer, event.method)
            case Lost():
                self.state = "lost"
                self.notice = Notice("error", event.message, "", event.layer, event.method)
            case Finished(state, iteration):
                self.state, self.iteration = state, max(self.iteration, iteration)
            case SnapshotTaken():
                pass  # the run list shows it
        if not self.live:
            self.seconds_left, self.speed = math.nan, 0.0

    def _progress(self, event: Progress) -> None:
        self.iteration, self.max_iter = event.iteration, event.max_iter
        self.loss, self.learning_rate = event.smoothed_loss, event.learning_rate
        self.speed, self.seconds_left = event.speed, event.seconds_left
        self._add_points(event.points)

    def _add_points(self, points: NDArray[np.float64]) -> None:
        before = len(self.train)
        self.train.extend(points)
        first = max(0, before - _TREND_WINDOW + 1)
        means = trailing_mean(self.train.column(1)[first:], _TREND_WINDOW)
        self.trend.extend(np.column_stack((self.train.x[first:], means))[before - first :])

    def _add_test(self, event: Metrics) -> None:
        for name, value in scalars(event.outputs).items():
            label = name if event.net == 0 else f"{name} (#{event.net})"
            self.tests.setdefault(label, Series()).extend([[event.iteration, value]])

    def take_text(self) -> str:
        """Return the log text that came since the last call."""
        text = "".join(self.new_text)
        self.new_text.clear()
        return text


def trailing_mean(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """Return the mean of each value and up to ``window - 1`` values before it, shape (n,) as ``values``."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    means: NDArray[np.float64] = (sums[ends] - sums[starts]) / (ends - starts)
    return means


def scalars(outputs: Mapping[str, Any]) -> dict[str, float]:
    """Return the outputs that are one number."""
    found = {}
    for name, value in outputs.items():
        if isinstance(value, int | float | str):
            try:
                found[name] = float(value)
            except ValueError:
                continue
    return found


def is_loss(name: str) -> bool:
    """Whether the name of a test output says that it is a loss, to be drawn with the training loss."""
    return "loss" in name.lower()
