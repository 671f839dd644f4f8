"""Fillers: ranges and spreads of Caffe's formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.fillers import FILLER_TYPES, fill
from engine.schema import load_schema

SHAPE = (20, 10, 5, 5)
RNG = np.random.default_rng


def values(shape: tuple[int, ...] = SHAPE, seed: int = 0, **fields: object) -> np.ndarray:
    return fill(load_schema().message("FillerParameter")(**fields), shape, RNG(seed))


def test_constant_is_the_default() -> None:
    assert not values().any()
    assert (values(value=3.5) == 3.5).all()


def test_uniform() -> None:
    drawn = values(type="uniform", min=-2, max=1)
    assert -2 <= drawn.min() < -1.9
    assert 0.9 < drawn.max() <= 1


def test_gaussian() -> None:
    drawn = values(type="gaussian", mean=3, std=2)
    assert abs(drawn.mean() - 3) < 0.1
    assert abs(drawn.std() - 2) < 0.1


def test_sparse_gaussian_keeps_that_many_inputs_an_output() -> None:
    drawn = values((50, 400), type="gaussian", std=1, sparse=5)
    assert abs((drawn != 0).mean() - 5 / 50) < 0.01


def test_positive_unitball_rows_sum_to_one() -> None:
    drawn = values(type="positive_unitball")
    assert drawn.min() >= 0
    assert np.allclose(drawn.reshape(20, -1).sum(axis=1), 1)


@pytest.mark.parametrize(("norm", "fan"), [(0, 250), (1, 500), (2, 375)])
def test_fans(norm: int, fan: int) -> None:
    xavier = values(type="xavier", variance_norm=norm)
    assert 0.98 * math.sqrt(3 / fan) < np.abs(xavier).max() <= math.sqrt(3 / fan)
    msra = values(type="msra", variance_norm=norm)
    assert abs(msra.std() / math.sqrt(2 / fan) - 1) < 0.03


@pytest.mark.parametrize("filler", [name for name in FILLER_TYPES if name != "bilinear"])
def test_one_dimensional_and_empty_parameters_are_filled(filler: str) -> None:
    assert values((10,), type=filler).shape == (10,)
    assert values((0, 3), type=filler).shape == (0, 3)


def test_bilinear_rows() -> None:
    for size, row in ((4, [0.25, 0.75, 0.75, 0.25]), (3, [0.5, 1, 0.5])):
        drawn = values((2, 1, size, size), type="bilinear")
        assert np.allclose(drawn[1, 0], np.outer(row, row))


@pytest.mark.parametrize(
    ("fields", "shape", "message"),
    [
        ({"type": "gausian"}, SHAPE, "did you mean 'gaussian'"),
        ({"type": "zzz"}, SHAPE, "expected one of constant"),
        ({"type": "bilinear"}, (4, 3), r"square kernel, got shape \(4, 3\)"),
        ({"type": "uniform", "min": 2, "max": 1}, SHAPE, "min <= max"),
        ({"type": "gaussian", "std": -1}, SHAPE, "std of 0 or more"),
        ({"type": "gaussian", "sparse": 21}, SHAPE, "sparse of at most 20 .*got 21"),
        ({"type": "xavier", "sparse": 3}, SHAPE, "no sparse, which only 'gaussian' has, got 3"),
    ],
)
def test_what_cannot_be_filled_is_named(fields: dict[str, object], shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        values(shape, **fields)


def test_same_stream_same_values() -> None:
    assert np.array_equal(values(type="xavier", seed=4), values(type="xavier", seed=4))
    assert not np.array_equal(values(type="xavier", seed=4), values(type="xavier", seed=5))
