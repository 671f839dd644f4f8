from __future__ import annotations

import math

import numpy as np
import pytest

from engine.solvers.health import is_saturated
from engine.solvers.smoothing import SmoothedLoss


@pytest.mark.parametrize(
    ("window", "losses", "expected"),
    [(2, [4, 2, 6], [4, 3, 4]), (1, [4, 2], [4, 2]), (0, [3], [3]), (9, [1, 3], [1, 2])],
)
def test_mean_of_the_last_losses(window: int, losses: list[float], expected: list[float]) -> None:
    smoothed = SmoothedLoss(window)
    shown = []
    for loss in losses:
        smoothed.add(loss)
        shown.append(smoothed.value)
    assert shown == expected


def test_saturated_loss_is_known() -> None:
    assert is_saturated(-math.log(float(np.finfo(np.float32).tiny))) and is_saturated(87.3365)
    assert not is_saturated(87.3) and not is_saturated(math.nan)
