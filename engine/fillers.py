"""Initial values of parameters, as Caffe's ``FillerParameter`` describes them.

Distributions and their parameters are those of Caffe's ``filler.hpp``; the random stream is the layer's own, so the
drawn numbers are not Caffe's.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.ops import product

__all__ = ["FILLER_TYPES", "Distribution", "check_filler", "distribution", "fans", "fill"]

FAN_IN, FAN_OUT, AVERAGE = 0, 1, 2  # FillerParameter.VarianceNorm

_Values = npt.NDArray[np.float64]


def fill(filler: Any, shape: Sequence[int], rng: np.random.Generator) -> _Values:
    """Return initial values.

    Parameters
    ----------
    filler : FillerParameter
        Type and parameters; ``constant`` 0 when it is left at its defaults.
    shape : sequence of int
        Shape of the parameter.
    rng : numpy.random.Generator
        Where random numbers come from.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If the type is unknown or does not suit the shape; the text names filler, expectation and shape.
    """
    check_filler(filler)
    return _FILLERS[filler.type](filler, tuple(shape), rng)


def check_filler(filler: Any) -> None:
    """Refuse a filler that is none, whatever it is to fill.

    Raises
    ------
    ValueError
        If the type is unknown, or ``sparse`` is set where the type has none.
    """
    if filler.type not in _FILLERS:
        close = difflib.get_close_matches(filler.type, FILLER_TYPES, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"expected one of {', '.join(FILLER_TYPES)}."
        raise ValueError(f"no filler is called '{filler.type}'; {hint}")
    if filler.sparse >= 0 and filler.type != "gaussian":
        raise ValueError(f"filler '{filler.type}': expected no sparse, which only 'gaussian' has, got {filler.sparse}.")


def fans(shape: Sequence[int]) -> tuple[float, float]:
    """Return fan-in and fan-out as Caffe counts them: all elements over the first axis, and over the second."""
    count = product(shape)
    fan_in = count / shape[0] if shape and shape[0] else count
    fan_out = count / shape[1] if len(shape) > 1 and shape[1] else count
    return float(fan_in), float(fan_out)


def _variance_base(filler: Any, shape: Sequence[int]) -> float:
    fan_in, fan_out = (max(fan, 1.0) for fan in fans(shape))
    if filler.variance_norm == FAN_OUT:
        return fan_out
    if filler.variance_norm == AVERAGE:
        return (fan_in + fan_out) / 2
    return fan_in


def _constant(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    return np.full(shape, filler.value, np.float64)


def _uniform(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    if filler.max < filler.min:
        raise ValueError(f"filler 'uniform': expected min <= max, got min {filler.min} and max {filler.max}.")
    return rng.uniform(filler.min, filler.max, shape)


def _gaussian(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    if filler.std < 0:
        raise ValueError(f"filler 'gaussian': expected std of 0 or more, got {filler.std}.")
    values = rng.normal(filler.mean, filler.std, shape)
    if filler.sparse >= 0:
        outputs = shape[0] if shape else 1
        if filler.sparse > outputs:
            raise ValueError(
                f"filler 'gaussian': expected sparse of at most {outputs} (the outputs), got {filler.sparse}."
            )
        values *= rng.random(shape) < filler.sparse / outputs
    return values


def _positive_unitball(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    values = rng.random(shape)
    if values.size:
        rows = values.reshape(shape[0] if shape else 1, -1)
        rows /= rows.sum(axis=1, keepdims=True)
    return values


def _xavier(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    """Glorot and Bengio 2010, eq. 16 with Caffe's single fan: uniform within ``sqrt(3 / n)``."""
    scale = math.sqrt(3.0 / _variance_base(filler, shape))
    return rng.uniform(-scale, scale, shape)


def _msra(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    """He et al. 2015, eq. 10: normal with standard deviation ``sqrt(2 / n)``."""
    return rng.normal(0.0, math.sqrt(2.0 / _variance_base(filler, shape)), shape)


def _bilinear(filler: Any, shape: tuple[int, ...], rng: np.random.Generator) -> _Values:
    if len(shape) != 4 or shape[2] != shape[3]:
        raise ValueError(f"filler 'bilinear': expected a 4-D parameter with a square kernel, got shape {shape}.")
    size = shape[3]
    half = math.ceil(size / 2)
    centre = (size - 1) / (2.0 * half)
    row = 1 - np.abs(np.arange(size) / half - centre)
    return np.broadcast_to(np.outer(row, row), shape).copy()


_FILLERS: dict[str, Callable[[Any, tuple[int, ...], np.random.Generator], _Values]] = {
    "constant": _constant,
    "gaussian": _gaussian,
    "positive_unitball": _positive_unitball,
    "uniform": _uniform,
    "xavier": _xavier,
    "msra": _msra,
    "bilinear": _bilinear,
}

#: Types that :func:`fill` knows.
FILLER_TYPES: tuple[str, ...] = tuple(_FILLERS)


@dataclass(frozen=True, slots=True)
class Distribution:
    """What a filler draws from, in numbers.

    Attributes
    ----------
    kind : str
        ``constant``, ``uniform``, ``normal``, or ``other`` where neither tells it.
    low, high : float
        The bounds of ``constant`` and ``uniform``; of ``normal``, three standard deviations to either side.
    mean, std : float
        Of a value; of ``sparse``, with its zeros.
    kept : float
        Share of values that are not set to zero by ``sparse``.
    fans : tuple of float or None
        Fan-in and fan-out, where the distribution depends on them.
    """

    kind: str
    low: float = 0.0
    high: float = 0.0
    mean: float = 0.0
    std: float = 0.0
    kept: float = 1.0
    fans: tuple[float, float] | None = None


def distribution(filler: Any, shape: Sequence[int] | None) -> Distribution | None:
    """Return what :func:`fill` draws from, without drawing.

    Parameters
    ----------
    filler : FillerParameter
    shape : sequence of int or None
        Shape of the parameter; None where it is not known.

    Returns
    -------
    Distribution or None
        None where it depends on a shape that is not known, and for types that are not known.
    """
    match filler.type:
        case "constant":
            return Distribution("constant", filler.value, filler.value, filler.value)
        case "uniform":
            low, high = float(filler.min), float(filler.max)
            return Distribution("uniform", low, high, (low + high) / 2, abs(high - low) / math.sqrt(12.0))
        case "gaussian":
            return _spread_gaussian(filler, shape)
        case "xavier" | "msra" if shape is not None:
            scale = math.sqrt((3.0 if filler.type == "xavier" else 2.0) / _variance_base(filler, shape))
            if filler.type == "xavier":
                return Distribution("uniform", -scale, scale, 0.0, scale / math.sqrt(3.0), fans=fans(shape))
            return Distribution("normal", -3 * scale, 3 * scale, 0.0, scale, fans=fans(shape))
        case "positive_unitball" | "bilinear":
            return Distribution("other")
    return None


def _spread_gaussian(filler: Any, shape: Sequence[int] | None) -> Distribution | None:
    mean, std, kept = float(filler.mean), float(filler.std), 1.0
    low, high = mean - 3 * std, mean + 3 * std
    if filler.sparse >= 0:
        if shape is None:
            return None
        kept = min(filler.sparse / max(shape[0] if shape else 1, 1), 1.0)
    # Of a value that is kept with probability k: mean k m, second moment k (s^2 + m^2).
    deviation = math.sqrt(max(kept * (std**2 + mean**2) - (kept * mean) ** 2, 0.0))
    return Distribution("normal", low, high, kept * mean, deviation, kept)
