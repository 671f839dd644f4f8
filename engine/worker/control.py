"""What viewers ask of a training, and what the training thread does about it between two iterations."""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine.solvers import Action

__all__ = ["RunControl"]

_LOOK_SECONDS = 0.25


class RunControl:
    """Answers the solver's question how to go on.

    Viewers' threads make requests; the training thread calls this object after every iteration and test batch, and
    waits inside while the run is paused.

    Parameters
    ----------
    on_pause : callable
        Called in the training thread with True when it begins to wait and with False when it goes on.
    """

    def __init__(self, on_pause: Callable[[bool], None]) -> None:
        self._on_pause = on_pause
        self._condition = threading.Condition()  # re-entrant: a signal handler may call stop() at any point
        self._paused = False
        self._waiting = False
        self._stopped = False
        self._snapshot = False
        self._tasks: list[Callable[[], None]] = []

    def pause(self) -> None:
        """Wait after the current iteration."""
        with self._condition:
            self._paused = True

    def resume(self) -> None:
        """Go on."""
        with self._condition:
            self._paused = False
            self._condition.notify_all()

    def stop(self) -> None:
        """End after the current iteration."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def snapshot(self) -> None:
        """Take a snapshot after the current iteration."""
        with self._condition:
            self._snapshot = True
            self._condition.notify_all()

    def call(self, task: Callable[[], None]) -> None:
        """Run ``task`` in the training thread, between two iterations, so that it sees no half-done update."""
        with self._condition:
            self._tasks.append(task)
            self._condition.notify_all()

    @property
    def stopped(self) -> bool:
        """Whether somebody asked for the end."""
        return self._stopped

    def __call__(self) -> Action:
        """Do what was asked for and say how to go on; called by the solver."""
        while True:
            self._do_tasks()
            with self._condition:
                action = self._next_action()
            if action is not None:
                if action is Action.CONTINUE:
                    self._tell_waiting(False)
                return action
            self._tell_waiting(True)
            with self._condition:
                # A signal handler that runs in this thread between the look and the wait wakes nobody: look again.
                self._condition.wait_for(self._wanted, _LOOK_SECONDS)

    def _next_action(self) -> Action | None:
        """Return what the solver is to do now, or None to wait."""
        if self._stopped:
            return Action.STOP
        if self._snapshot:
            self._snapshot = False
            return Action.SNAPSHOT
        return None if self._paused else Action.CONTINUE

    def _tell_waiting(self, waiting: bool) -> None:
        # Kept from call to call: between a snapshot during a pause and the next call somebody may have resumed.
        if waiting != self._waiting:
            self._waiting = waiting
            self._on_pause(waiting)

    def _wanted(self) -> bool:
        return self._stopped or self._snapshot or not self._paused or bool(self._tasks)

    def _do_tasks(self) -> None:
        with self._condition:
            tasks, self._tasks = self._tasks, []
        for task in tasks:
            task()
