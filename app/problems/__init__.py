"""The list of what is wrong or doubtful in the net."""

from __future__ import annotations

from app.problems.panel import ProblemsPanel

__all__ = ["ProblemsPanel"]
