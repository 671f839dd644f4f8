"""Checks of what the interface promises: overwriting, accumulating, resizing, backends, plans."""

from __future__ import annotations

import numpy as np

from engine.testing.case import LayerCase, Outcome, Rig
from engine.testing.gradients import check_gradients

__all__ = [
    "check_accumulation",
    "check_backends",
    "check_layer",
    "check_plan",
    "check_poison",
    "check_propagate_down",
    "check_two_passes",
]


def check_layer(case: LayerCase, *, gradients: bool = True) -> None:
    """Run every check.

    Parameters
    ----------
    case : LayerCase
        The layer.
    gradients : bool
        Whether it has any; off for layers that only count.
    """
    check_poison(case)
    check_backends(case)
    check_plan(case)
    if case.batched:
        check_two_passes(case)
    check_accumulation(case)
    check_propagate_down(case)
    if gradients:
        check_gradients(case)


def assert_same(actual: Outcome, expected: Outcome, what: str) -> None:
    """Raise an AssertionError unless two outcomes are equal bit by bit (NaN equals NaN)."""
    for (name, mine), (_, theirs) in zip(actual.arrays(), expected.arrays(), strict=True):
        assert mine.shape == theirs.shape, f"{what}: {name} has shape {mine.shape}, expected {theirs.shape}"
        assert np.array_equal(mine, theirs, equal_nan=True), f"{what}: {name} differs"


def check_poison(case: LayerCase) -> None:
    """Tops, gradients and scratch memory full of junk must not change the outcome: all of it is overwritten."""
    rig = Rig(case)
    expected = rig.run()
    assert_same(rig.run(poison=True), expected, "after memory was filled with junk")
    assert_same(rig.run(), expected, "in the second of two equal passes")


def check_two_passes(case: LayerCase) -> None:
    """A smaller and then a larger batch must give what fresh nets of these sizes give."""
    rig = Rig(case)
    batch = len(case.bottoms[0])
    for size in (batch, max(1, batch - 1), batch + 3, batch):
        resized = case.resized(size)
        fresh = Rig(resized)
        _copy_params(rig, fresh)
        assert_same(rig.run(resized.bottoms, poison=True), fresh.run(), f"after the batch changed to {size}")


def check_backends(case: LayerCase) -> None:
    """The strict backend must take the layer and give the same bits."""
    assert_same(Rig(case, backend="strict").run(), Rig(case, backend="numpy").run(), "on the strict backend")


def check_plan(case: LayerCase) -> None:
    """What ``lower`` describes must compute what ``forward`` and ``backward`` compute."""
    rig = Rig(case, use_plan=True)
    for what in ("with a plan", "with a plan, second pass"):
        assert_same(rig.run(), Rig(case).run(), what)


def check_accumulation(case: LayerCase) -> None:
    """Parameter gradients are added to; bottom gradients are overwritten."""
    rig = Rig(case)
    once = rig.run()
    twice = rig.run(clear=False)
    for index, (first, both) in enumerate(zip(once.param_grads, twice.param_grads, strict=True)):
        assert np.allclose(both, 2 * first, rtol=1e-5, atol=1e-6), f"gradient of parameter {index} is not added to"
    for index, (first_grad, second_grad) in enumerate(zip(once.bottom_grads, twice.bottom_grads, strict=True)):
        if first_grad is not None and second_grad is not None:
            assert np.array_equal(first_grad, second_grad), f"gradient of bottom {index} is not overwritten"


def check_propagate_down(case: LayerCase) -> None:
    """A bottom whose gradient nobody wants keeps its diff; the others' gradients stay the same."""
    if case.in_place:
        return
    rig = Rig(case)
    expected = rig.run()
    node = next(node for node in rig.net.nodes if node.layer is rig.layer)
    for index, name in enumerate(case.bottom_names):
        shared = any(np.shares_memory(rig.net.blobs[name].diff, rig.net.blobs[top].diff) for top in case.top_names)
        if not node.propagate_down[index] or shared:
            continue
        flags = list(node.propagate_down)
        node.propagate_down[index] = False
        rig.net.blobs[name].diff[...] = 5
        outcome = rig.run()
        node.propagate_down = flags
        assert (rig.net.blobs[name].diff == 5).all(), f"bottom {index} was written although propagate_down is false"
        for other, grad in enumerate(outcome.bottom_grads):
            if other != index and grad is not None:
                assert np.array_equal(grad, expected.bottom_grads[other]), f"gradient of bottom {other} changed"  # type: ignore[arg-type]


def _copy_params(source: Rig, target: Rig) -> None:
    for mine, theirs in zip(target.params, source.params, strict=True):
        mine.data[...] = theirs.data
