"""What the tests of the forks' layers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.testing import LayerCase
from engine.testing.case import Rig

__all__ = ["Values", "check_against", "losses_of", "normal"]

Values = npt.NDArray[Any]


def normal(*shape: int, seed: int = 1) -> Values:
    """Return normal random numbers in single precision."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check_against(
    case: LayerCase, reference: Callable[..., Values], *, rtol: float = 1e-9, atol: float = 1e-12
) -> None:
    """Compare the first top, in double precision, with what a reference makes of bottoms and parameters."""
    rig = Rig(case, dtype=np.float64)
    bottoms = [np.asarray(values, np.float64) for values in case.bottoms]
    outcome = rig.run(bottoms)
    expected = reference(*bottoms, *(blob.data for blob in rig.params))
    assert outcome.tops[0].shape == expected.shape
    np.testing.assert_allclose(outcome.tops[0], expected, rtol=rtol, atol=atol)


def losses_of(solver_file: Path, steps: int) -> list[float]:
    """Train and return the loss of every step."""
    import engine.compat

    engine.compat.install()
    import caffe

    solver: Any = caffe.SGDSolver(str(solver_file))
    losses = []
    for _ in range(steps):
        solver.step(1)
        losses.append(float(solver.net.blobs["loss"].data.item()))
    return losses
