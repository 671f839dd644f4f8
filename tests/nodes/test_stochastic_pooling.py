"""Stochastic pooling against plain loops that follow Caffe's GPU kernels (``StoPoolForwardTrain``, ``...Test``)."""

from __future__ import annotations

import copy
from collections import Counter

import numpy as np
import pytest

from engine.layer import Phase
from engine.net import Net
from tests.nodes.support import layer_net, run_layer

RNG = np.random.default_rng(8)
WINDOWS = [  # fields; kernel, stride and number of windows of 6 rows and 5 columns
    ("kernel_size: 2 stride: 2", (2, 2), (2, 2), (3, 3)),
    ("kernel_size: 3 stride: 2", (3, 3), (2, 2), (3, 2)),
    ("kernel_h: 3 kernel_w: 2", (3, 2), (1, 1), (4, 4)),
    ("kernel_size: 1 stride: 3", (1, 1), (3, 3), (3, 3)),
    ("global_pooling: true", (6, 5), (1, 1), (1, 1)),
]


def stochastic(fields: str) -> str:
    return f'type: "Pooling" pooling_param {{ pool: STOCHASTIC {fields} }}'


def places(at: tuple[int, ...], kernel: tuple[int, int], stride: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the elements of the window at a row and column of the output, row after row."""
    rows = range(at[0] * stride[0], min(at[0] * stride[0] + kernel[0], 6))
    columns = range(at[1] * stride[1], min(at[1] * stride[1] + kernel[1], 5))
    return [(row, column) for row in rows for column in columns]


def next_draws(net: Net, *shape: int) -> np.ndarray:
    """Return what the layer is about to draw, from above 0 to 1."""
    return 1 - copy.deepcopy(net.layer("subject").rng).random(shape, dtype=np.float32)


@pytest.mark.parametrize(("fields", "kernel", "stride", "out"), WINDOWS)
@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_training_draws_one_element_of_each_window(
    fields: str, kernel: tuple[int, int], stride: tuple[int, int], out: tuple[int, int], backend: str
) -> None:
    x = RNG.uniform(0, 1, (2, 3, 6, 5)).astype(np.float32)
    net = layer_net(stochastic(fields), x, backend=backend)
    draws = next_draws(net, 2, 3, *out)
    net.forward()
    dy = RNG.normal(size=net.blobs["top"].shape).astype(np.float32)
    net.blobs["top"].diff[...] = dy
    net.backward()
    expected, gradient = np.zeros(dy.shape), np.zeros(x.shape)
    for index in np.ndindex(*dy.shape):
        window = places(index[2:], kernel, stride)
        threshold = draws[index] * sum(x[(*index[:2], *place)] for place in window)
        running = np.float32(0)
        for place in window:
            running += x[(*index[:2], *place)]
            if running >= threshold:
                expected[index] = x[(*index[:2], *place)]
                gradient[(*index[:2], *place)] += dy[index]
                break
    assert net.blobs["top"].shape[2:] == out
    np.testing.assert_array_equal(net.blobs["top"].data, expected.astype(np.float32))
    np.testing.assert_allclose(net.blobs["b0"].diff, gradient, atol=1e-6)


def test_an_element_is_drawn_as_often_as_it_is_large() -> None:
    x = np.tile(np.array([[1, 2], [0, 5]], float), (1, 4000, 1, 1))
    top, _ = run_layer(stochastic("kernel_size: 2"), x)
    shares = {value: count / 4000 for value, count in Counter(top.reshape(-1).tolist()).items()}
    assert set(shares) == {1, 2, 5}
    assert [shares[value] for value in (1, 2, 5)] == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.04)


@pytest.mark.parametrize(("fields", "kernel", "stride", "out"), WINDOWS)
def test_testing_weighs_each_element_with_itself(
    fields: str, kernel: tuple[int, int], stride: tuple[int, int], out: tuple[int, int]
) -> None:
    x = RNG.uniform(0, 1, (2, 3, 6, 5))
    top, _ = run_layer(stochastic(fields), x, phase=Phase.TEST)
    for index in np.ndindex(*top.shape):
        window = [x[(*index[:2], *place)] for place in places(index[2:], kernel, stride)]
        expected = sum(value * value for value in window) / sum(window) if window else 0
        assert top[index] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("phase", list(Phase))
def test_windows_without_a_positive_sum_give_nothing_and_nan_comes_through(phase: Phase) -> None:
    x = np.array([[0, 0, -1, -2, np.nan, 1]], float).reshape(1, 1, 1, 6)
    top, grad = run_layer(stochastic("kernel_h: 1 kernel_w: 2 stride: 2"), x, phase=phase)
    assert top.reshape(-1)[:2].tolist() in ([0, 0], [0, -1])  # in training, the threshold may be reached at once
    assert np.isnan(top.reshape(-1)[2])
    assert np.isfinite(grad.reshape(-1)[:4]).all()


def test_runs_of_one_seed_draw_alike() -> None:
    x = RNG.uniform(0, 1, (1, 50, 2, 2))
    first, second = (run_layer(stochastic("kernel_size: 2"), x)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("phase", list(Phase))
def test_a_pyramid_of_stochastic_grids(phase: Phase) -> None:
    x = RNG.uniform(0, 1, (2, 3, 4, 6))
    text = 'type: "SPP" spp_param {{ pyramid_height: 2 pool: {} }}'
    top, _ = run_layer(text.format("STOCHASTIC"), x, phase=phase)
    highest, _ = run_layer(text.format("MAX"), x)
    assert top.shape == highest.shape == (2, 15)
    assert (top <= highest + 1e-6).all()
    if phase == Phase.TRAIN:
        assert np.isin(top.reshape(-1), x.astype(np.float32)).all()
