"""Signals in training, as Caffe's tool has them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from engine.solvers import Action

__all__ = ["SignalControl"]

_ACTIONS = {"stop": Action.STOP, "snapshot": Action.SNAPSHOT, "none": Action.CONTINUE}


class Obeys(Protocol):
    """Takes requests, from a signal handler too."""

    def stop(self) -> None:
        """End after the current iteration."""

    def snapshot(self) -> None:
        """Take a snapshot after the current iteration."""


class SignalControl:
    """Turns signals into answers for ``Solver.control``.

    What a signal asks for happens after the current iteration or test batch. A second interrupt, while the first one
    waits to be obeyed or after it was, ends the program at once.

    Parameters
    ----------
    sigint, sighup : {"stop", "snapshot", "none"}
        What the signals mean.
    """

    def __init__(self, sigint: str = "stop", sighup: str = "snapshot") -> None:
        self._effects = {signal.SIGINT: _ACTIONS[sigint]}
        if hasattr(signal, "SIGHUP"):
            self._effects[signal.SIGHUP] = _ACTIONS[sighup]
        self._wanted = Action.CONTINUE
        self._stops = 0
        self._target: Obeys | None = None

    def pass_on(self, target: Obeys) -> None:
        """Let another control do what signals ask for, so that it acts on them even while the training is paused."""
        self._target = target

    def __call__(self) -> Action:
        """Return what was asked for since the last call."""
        wanted, self._wanted = self._wanted, Action.CONTINUE
        return wanted

    @contextmanager
    def installed(self) -> Iterator[SignalControl]:
        """Listen to the signals; what was there before comes back afterwards."""
        before = {number: signal.signal(number, self._receive) for number in self._effects}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        action = self._effects[signal.Signals(number)]
        if action is Action.STOP:
            self._stops += 1
            if self._stops > 1:
                signal.default_int_handler(number, frame)  # raises; no 'raise' of ours, see engine.faults
        if self._target is not None:
            _pass_on(action, self._target)
        elif action is not Action.CONTINUE and self._wanted is not Action.STOP:
            self._wanted = action


def _pass_on(action: Action, target: Obeys) -> None:
    if action is Action.STOP:
        target.stop()
    elif action is Action.SNAPSHOT:
        target.snapshot()
