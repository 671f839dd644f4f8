"""Directional derivatives by finite differences, for functions whose precision is not known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.testing.reports import GradientFinding

__all__ = ["compare_gradient"]

Values = npt.NDArray[np.float64]
Function = Callable[[Values], float]

_LEAST_STEP = 1e-5
_MOST_STEP = 3e-2
_PROBE = 1e-6
_PROBES = 9
_ATTEMPTS = 20
_KINK = 1e-2
_CURVED = 10.0


@dataclass(frozen=True, slots=True)
class _Scale:
    """With which step derivatives are taken, and how far they may be off."""

    step: float
    tolerance: float


def compare_gradient(
    target: str, grad: Values, value: Function, *, rng: np.random.Generator, tolerance: float, directions: int
) -> GradientFinding:
    """Compare a gradient with central differences along random directions.

    A layer that keeps float32 arrays of its own rounds, so that a small step would measure nothing but that: the noise
    is measured first, and the step and tolerance follow it. A direction whose one-sided derivatives differ crosses a
    kink; another is drawn.

    Parameters
    ----------
    target : str
        What the gradient is of, for the finding.
    grad : ndarray
        As the layer computes it.
    value : callable
        The scalar as a function of an offset of ``grad``'s shape.
    rng : Generator
        Draws the directions.
    tolerance : float
        Allowed difference, relative to the larger derivative, or absolute below 1, where nothing rounds.
    directions : int
        How many to compare.
    """
    if not grad.size:
        return GradientFinding(target, "skipped", "it has no elements.")
    if not np.isfinite(grad).all():
        at = np.unravel_index(int(np.argmin(np.isfinite(grad))), grad.shape)
        where = tuple(int(index) for index in at)
        return GradientFinding(
            target, "wrong", f"the layer says {grad[at]} at {where}.", element=where, analytic=float(grad[at])
        )
    centre = value(np.zeros_like(grad))
    if value(np.zeros_like(grad)) != centre:
        return GradientFinding(target, "random", "two forward passes over the same values differ.")
    scale = _scale(grad, value, rng, tolerance)
    worst, compared = 0.0, 0
    for direction in _directions(grad, rng):
        numeric, size = _derivative(value, direction, centre, scale.step)
        if numeric is None:
            continue
        analytic = float((grad * direction).sum())
        error = abs(numeric - analytic) / max(size, 1.0, abs(analytic))
        if not error <= scale.tolerance:
            return _wrong(target, grad, value, direction, scale, error, compared + 1)
        worst = max(worst, error)
        compared += 1
        if compared == directions:
            return GradientFinding(target, "right", error=worst, directions=compared)
    detail = f"{_ATTEMPTS - compared} of {_ATTEMPTS} directions cross a kink; choose values away from it."
    return GradientFinding(target, "kinks", detail, worst, compared)


def _directions(grad: Values, rng: np.random.Generator) -> Iterator[Values]:
    for _ in range(_ATTEMPTS):
        direction = rng.normal(size=grad.shape)
        yield direction / np.linalg.norm(direction)


def _derivative(value: Function, direction: Values, centre: float, step: float) -> tuple[float | None, float]:
    """Return the derivative along a direction, None where it crosses a kink, and the larger one-sided one."""
    right = (value(direction * step) - centre) / step
    left = (centre - value(direction * -step)) / step
    size = max(abs(right), abs(left))
    if not abs(right - left) <= max(_KINK, _CURVED * step) * max(size, 1.0):
        return None, size
    return (right + left) / 2, size


def _scale(grad: Values, value: Function, rng: np.random.Generator, tolerance: float) -> _Scale:
    """Measure how much the function rounds: how far values close together stray from a line, on either side."""
    direction = next(_directions(grad, rng))
    at = (np.arange(_PROBES) - _PROBES // 2) * _PROBE
    values = np.array([value(direction * each) for each in at])
    noise = 0.0
    for side in (slice(None, _PROBES // 2 + 1), slice(_PROBES // 2, None)):  # a kink in the middle is no noise
        line = np.polynomial.Polynomial.fit(at[side], values[side], 1)
        noise = max(noise, float(np.abs(values[side] - line(at[side])).max()))
    magnitude = max(1.0, float(np.abs(values).max()))
    if not noise > 1e-12 * magnitude:
        return _Scale(_LEAST_STEP, tolerance)
    step = float(np.clip(np.cbrt(noise), _LEAST_STEP, _MOST_STEP))
    return _Scale(step, max(tolerance, 10 * noise / step, 10 * step**2))


def _wrong(
    target: str, grad: Values, value: Function, direction: Values, scale: _Scale, error: float, compared: int
) -> GradientFinding:
    """Describe a gradient that is not right by the element that is most to blame."""
    index = _blamed(grad, value, direction, scale.step)
    one = np.zeros_like(grad)
    one.flat[index] = 1.0
    numeric = (value(one * scale.step) - value(one * -scale.step)) / (2 * scale.step)
    place = tuple(int(each) for each in np.unravel_index(index, grad.shape))
    analytic = float(grad.flat[index])
    said = f"the layer says {analytic:.6g}, finite differences say {numeric:.6g}"
    detail = f"at element {place} of shape {grad.shape} {said}."
    return GradientFinding(target, "wrong", detail, error, compared, place, analytic, float(numeric))


def _blamed(grad: Values, value: Function, direction: Values, step: float) -> int:
    """Return the flat index of an element at fault: halve the direction, and keep the half that is further off."""
    indices = np.arange(grad.size)
    while len(indices) > 1:
        halves = np.array_split(indices, 2)
        indices = max(halves, key=lambda half: _gap(grad, value, direction, half, step))
    return int(indices[0])


def _gap(grad: Values, value: Function, direction: Values, indices: npt.NDArray[np.intp], step: float) -> float:
    part = np.zeros_like(direction)
    part.flat[indices] = direction.flat[indices]
    numeric = (value(part * step) - value(part * -step)) / (2 * step)
    gap = abs(numeric - float((grad * part).sum()))
    return gap if np.isfinite(gap) else np.inf
