"""Layers compute what Caffe 1.0 computed, on every backend and both with and without a plan."""

from __future__ import annotations

import pytest

from tests.nodes.golden import GoldenCase, golden_cases, run_case
from tests.support import shared

CASES = golden_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize(
    ("backend", "use_plan"), [("numpy", False), ("numpy", True), ("strict", False), ("strict", True)]
)
def test_layer_agrees_with_caffe(case: GoldenCase, backend: str, use_plan: bool) -> None:
    missing = case.missing_types()
    if missing:
        pytest.skip(f"layer types not offered yet: {', '.join(missing)}")
    run_case(case, backend=backend, use_plan=use_plan)


def test_golden_cases_of_this_layer_set_are_all_run() -> None:
    shared("golden/layers")
    runnable = [case.name for case in CASES if not case.missing_types()]
    assert len(runnable) >= 38, runnable
