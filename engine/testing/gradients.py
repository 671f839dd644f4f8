"""Gradients against finite differences along random directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.testing.case import LayerCase, Rig, Values

__all__ = ["check_gradients"]

STEP = 1e-5
TOLERANCE = 1e-5
DIRECTIONS = 4
ATTEMPTS = 20


def check_gradients(case: LayerCase, *, tolerance: float = TOLERANCE, directions: int = DIRECTIONS) -> None:
    """Compare the backward pass with central differences in float64.

    One directional derivative a direction is compared, as in chainer's ``gradient_check``: it costs two forward passes
    and sees errors in any element. A direction that crosses a kink (where the one-sided derivatives differ) says
    nothing; another is drawn.

    Parameters
    ----------
    case : LayerCase
        The layer; its inputs should lie away from kinks for the most part.
    tolerance : float
        Allowed difference, relative to the larger derivative, or absolute below 1.
    directions : int
        Directions for each bottom and each parameter.

    Raises
    ------
    AssertionError
        If a derivative differs, or nearly all directions cross kinks.
    """
    rig = Rig(case, dtype=np.float64)
    bottoms = [np.array(values, np.float64) for values in case.bottoms]
    outcome = rig.run(bottoms)
    for index, grad in enumerate(outcome.bottom_grads):
        if grad is not None and grad.size:
            _compare(f"bottom {index}", grad, _move_bottom(rig, bottoms, index), tolerance, directions)
    for index, grad in enumerate(outcome.param_grads):
        if grad.size and index not in case.fixed_params:
            _compare(f"parameter {index}", grad, _move_param(rig, bottoms, index), tolerance, directions)


def _move_bottom(rig: Rig, bottoms: list[Values], index: int) -> Callable[[Values], float]:
    def value(offset: Values) -> float:
        rig.load([values + offset if at == index else values for at, values in enumerate(bottoms)])
        return rig.value()

    return value


def _move_param(rig: Rig, bottoms: list[Values], index: int) -> Callable[[Values], float]:
    def value(offset: Values) -> float:
        kept = rig.params[index].data.copy()
        rig.params[index].data[...] += offset
        rig.load(bottoms)
        result = rig.value()
        rig.params[index].data[...] = kept
        return result

    return value


def _compare(what: str, grad: Values, value: Callable[[Values], float], tolerance: float, directions: int) -> None:
    rng = np.random.default_rng(13)
    centre = value(np.zeros_like(grad))
    compared = 0
    for _ in range(ATTEMPTS):
        direction = rng.normal(size=grad.shape)
        direction /= np.linalg.norm(direction)
        ahead, behind = value(direction * STEP), value(direction * -STEP)
        right, left = (ahead - centre) / STEP, (centre - behind) / STEP
        scale = max(1.0, abs(right), abs(left))
        if abs(right - left) > 1e-2 * scale:
            continue  # a kink
        numeric, analytic = (right + left) / 2, float((grad * direction).sum())
        assert abs(numeric - analytic) <= tolerance * scale, (
            f"gradient of {what}: along a random direction the layer says {analytic}, finite differences say {numeric}"
        )
        compared += 1
        if compared == directions:
            return
    raise AssertionError(
        f"gradient of {what}: {ATTEMPTS - compared} of {ATTEMPTS} directions cross a kink. Choose inputs away from it."
    )
