"""Layers compute what Caffe 1.0 computed, on every backend and both with and without a plan."""

from __future__ import annotations

import pytest

from tests.nodes.golden import GoldenCase, check_case, golden_cases
from tests.support import shared

CASES = golden_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize(
    ("backend", "use_plan"), [("numpy", False), ("numpy", True), ("strict", False), ("strict", True)]
)
def test_layer_agrees_with_caffe(case: GoldenCase, backend: str, use_plan: bool) -> None:
    check_case(case, backend=backend, use_plan=use_plan)


def test_there_are_golden_cases() -> None:
    shared("golden/layers")
    assert len(CASES) >= 38
