"""Calling a Python layer costs at most 15 microseconds a method over its own work; the script gives the figures."""

from __future__ import annotations

import pytest

from tests.benchmarks.plugins import METHODS, call_costs

MOST = 15.0


@pytest.mark.parametrize("backend", ["numpy", "strict"])
@pytest.mark.parametrize("use_plan", [False, True])
@pytest.mark.parametrize("code", ["Nothing", "Copies", "same"])
def test_a_call_is_cheap(code: str, backend: str, use_plan: bool) -> None:
    costs = call_costs(code, backend=backend, use_plan=use_plan)
    assert all(costs[method] <= MOST for method in METHODS), costs
