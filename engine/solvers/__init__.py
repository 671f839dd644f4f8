"""Training: update rules, learning rate policies, test passes, snapshots."""

from __future__ import annotations

from engine.solvers.building import check_settings
from engine.solvers.extras import SolverExtras, extras_file, parse_extras, read_extras
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
    "SolverExtras",
    "TestReport",
    "UpdateRule",
    "check_settings",
    "extras_file",
    "learning_rate",
    "parse_extras",
    "read_extras",
]
