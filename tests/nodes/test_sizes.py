"""Sizes that change between passes: empty batches, and other sizes of every axis, give what fresh nets give."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.testing import LayerCase
from engine.testing.case import Rig
from engine.testing.checks import assert_same
from tests.nodes.cases import CASES, COUNTING
from tests.nodes.loss_and_shape_cases import PAIRS

ALL = {**CASES, **COUNTING, **PAIRS}
BATCHED = [name for name, case in ALL.items() if case.batched and case.bottoms]
#: The axes that all bottoms of a case have.
AXES = [
    (name, axis)
    for name, case in ALL.items()
    if case.bottoms
    for axis in range(1, min(values.ndim for values in case.bottoms))
]


@pytest.mark.parametrize("name", BATCHED)
def test_an_empty_batch_runs_between_others(name: str) -> None:
    case = ALL[name]
    rig = Rig(case)
    expected = rig.run()
    empty = rig.run([values[:0] for values in case.bottoms])
    assert np.isfinite(empty.loss)
    for what, values in empty.arrays():
        assert np.isfinite(values).all(), what
    for grad in empty.param_grads:
        assert not grad.any()
    assert_same(rig.run(poison=True), expected, "after an empty batch")


def resized(case: LayerCase, axis: int, more: int) -> LayerCase:
    """Return the case with an axis of all bottoms longer."""
    bottoms = []
    for values in case.bottoms:
        shape = list(values.shape)
        shape[axis] += more
        bottoms.append(np.resize(values, shape))
    return dataclasses.replace(case, bottoms=bottoms, params=())


@pytest.mark.parametrize(("name", "axis"), AXES)
def test_another_size_is_followed_or_refused_by_name(name: str, axis: int) -> None:
    case = ALL[name]
    rig = Rig(case)
    before = rig.run()
    for more in (2, -1):
        other = resized(case, axis, more)
        try:
            fresh = Rig(other)
        except NetcanvasError as error:
            assert "'subject'" in str(error)
            continue
        if [blob.shape for blob in fresh.params] != [blob.shape for blob in rig.params]:
            with pytest.raises(NetcanvasError, match="'subject'"):
                rig.run(other.bottoms)
            continue
        for mine, theirs in zip(fresh.params, rig.params, strict=True):
            mine.data[...] = theirs.data
        assert_same(rig.run(other.bottoms, poison=True), fresh.run(), f"with axis {axis} longer by {more}")
    assert_same(rig.run(poison=True), before, "in the old size again")
