"""Keeping the snapshots of a training: what goes into one, which ones stay, and going on from one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import SolverError
from engine.solvers import companion, snapshots
from engine.solvers.snapshots import Restored, SnapshotPlace

if TYPE_CHECKING:
    from engine.net import Net
    from engine.solvers.course import Course
    from engine.solvers.reports import SnapshotPaths
    from engine.solvers.update import UpdateRule

__all__ = ["SnapshotKeeper"]

_log = logging.getLogger("engine.solvers")


class SnapshotKeeper:
    """Writes the snapshots of a training and deletes those that are not to be kept.

    Parameters
    ----------
    place : SnapshotPlace
        Where they go.
    course : Course
        Which of them stay.
    net : Net
        The training net.
    test_nets : sequence of Net
    rule : UpdateRule

    Attributes
    ----------
    unsaved : bool
        Whether the last snapshot could not be written.
    """

    def __init__(
        self, place: SnapshotPlace, course: Course, net: Net, test_nets: Sequence[Net], rule: UpdateRule
    ) -> None:
        self.unsaved = False
        self._place = place
        self._course = course
        self._net = net
        self._test_nets = test_nets
        self._rule = rule
        self._held: dict[str, Any] | None = None

    def check(self) -> None:
        """Make sure that snapshots can be written; see :meth:`SnapshotPlace.check`."""
        self._place.check(self._net)

    def hold(self) -> None:
        """Have snapshots go back to now, until :meth:`release`: what a test moves on is no part of them."""
        self._held = self._captured()

    def release(self) -> None:
        """Have snapshots go back to when they are taken, again."""
        self._held = None

    def _captured(self) -> dict[str, Any] | None:
        """Return what an exact resume needs beyond Caffe's state."""
        found = companion.capture(self._net, self._test_nets)
        if found is not None:
            found.update(scores=self._course.get_scores(), taken=self._course.get_taken())
        return found

    def write(self, iteration: int, current_step: int) -> SnapshotPaths:
        """Write a snapshot after so many updates and drops of the learning rate.

        Raises
        ------
        SolverError
            If a file cannot be written; the cause is the OSError.
        """
        captured = self._held or self._captured()
        nets = (self._net, *self._test_nets)
        self.unsaved = True
        try:
            paths = self._place.write(nets, self._rule, iteration, current_step, captured)
        except OSError as error:
            raise SolverError(
                f"Snapshot '{self._place.files(iteration).state}' could not be written: {error.strerror or error}.",
                next_step="Earlier snapshots are whole. Make room or correct the folder's permissions.",
            ) from error
        for old in self._course.took(iteration):
            _log.info("Deleting snapshot %s", old.state)
            self._place.delete(old)
        self.unsaved = False
        return paths

    def restore(self, path: Path) -> Restored:
        """Go back to a snapshot; see :func:`engine.solvers.snapshots.load`."""
        restored = snapshots.load(path, self._net, self._test_nets, self._rule)
        captured = restored.captured or {}
        self._held = None
        self._course.go_on(restored.iteration, captured.get("scores", {}), captured.get("taken", ()))
        return restored
