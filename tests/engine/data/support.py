"""What every source of batches has to keep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.data import BatchSource


def check_position_is_restored(opened: Callable[[int], BatchSource], consumed: int, *, batches: int = 4) -> None:
    """A source made with another seed goes on exactly where one stopped after some batches."""
    first = opened(5)
    for _ in range(consumed):
        first.next()
    state = first.get_state()
    expected = [[array.copy() for array in first.next().arrays] for _ in range(batches)]
    first.close()
    second = opened(99)
    second.next()
    second.set_state(state)
    for arrays in expected:
        for wanted, got in zip(arrays, second.next().arrays, strict=True):
            np.testing.assert_array_equal(got, wanted)
    second.close()
