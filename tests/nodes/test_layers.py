"""Every layer passes the harness: poison, two passes, backends, plan, accumulation, gradients."""

from __future__ import annotations

import pytest

from engine.testing import check_gradients, check_layer
from tests.nodes.cases import CASES, COUNTING
from tests.nodes.loss_and_shape_cases import PAIRS


@pytest.mark.parametrize("name", CASES)
def test_layer_keeps_the_interface_and_has_right_gradients(name: str) -> None:
    check_layer(CASES[name])


@pytest.mark.parametrize("name", COUNTING)
def test_counting_layer_keeps_the_interface(name: str) -> None:
    check_layer(COUNTING[name], gradients=False)


@pytest.mark.parametrize("name", PAIRS)
def test_layer_with_nearly_right_gradients(name: str) -> None:
    check_layer(PAIRS[name], gradients=False)
    check_gradients(PAIRS[name], tolerance=1e-6 if "far" in name else 2e-4)
