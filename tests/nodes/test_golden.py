"""Layers compute what Caffe 1.0 computed, on every backend and both with and without a plan."""

from __future__ import annotations

import pytest

from tests.nodes.golden import GoldenCase, golden_cases, run_case
from tests.support import shared

CASES = golden_cases()
RUNNABLE = [case for case in CASES if not case.missing_types()]
WAITING = [case for case in CASES if case.missing_types()]


@pytest.mark.parametrize("case", RUNNABLE, ids=[case.name for case in RUNNABLE])
@pytest.mark.parametrize(
    ("backend", "use_plan"), [("numpy", False), ("numpy", True), ("strict", False), ("strict", True)]
)
def test_layer_agrees_with_caffe(case: GoldenCase, backend: str, use_plan: bool) -> None:
    run_case(case, backend=backend, use_plan=use_plan)


def test_golden_cases_of_the_layers_offered_are_all_run() -> None:
    shared("golden/layers")
    assert len(RUNNABLE) + len(WAITING) == len(CASES)
    assert len(RUNNABLE) >= 38


def test_cases_that_wait_for_layers_are_counted() -> None:
    shared("golden/layers")
    if WAITING:
        types = sorted({name for case in WAITING for name in case.missing_types()})
        pytest.skip(f"{len(WAITING)} golden cases wait for layer types not offered yet: {', '.join(types)}")
