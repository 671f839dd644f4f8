"""The table of what each layer costs."""

from __future__ import annotations

from app.costs.panel import CostPanel

__all__ = ["CostPanel"]
