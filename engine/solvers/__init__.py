"""Training: update rules, learning rate policies, test passes, snapshots."""

from __future__ import annotations

from engine.solvers.building import check_settings
from engine.solvers.policies import POLICIES, learning_rate
from engine.solvers.reports import Action, IterationReport, SnapshotPaths, TestReport
from engine.solvers.rules import RULES
from engine.solvers.solver import Solver
from engine.solvers.update import UpdateRule

__all__ = [
    "POLICIES",
    "RULES",
    "Action",
    "IterationReport",
    "SnapshotPaths",
    "Solver",
    "TestReport",
    "UpdateRule",
    "check_settings",
    "learning_rate",
]
