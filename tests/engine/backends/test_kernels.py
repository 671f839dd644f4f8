"""Primitives against plain loops in float64, over random geometry."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from engine.backends import Workspace, get_backend
from engine.backends.kernels import convolution as convolution_module
from engine.errors import NetError
from engine.ops import Convolution, OpSpec, PoolingAverage, PoolingMax, PoolingWindow, convolved_size

NUMPY = get_backend("numpy")


def run(spec: OpSpec, inputs: list[Any], params: list[Any], outputs: list[Any]) -> Any:
    primitive = NUMPY.primitive(spec, Workspace(NUMPY))
    primitive.forward(inputs, params, outputs)
    return primitive


def convolve_by_loops(x: Any, weight: Any, bias: Any, spec: Convolution) -> Any:
    """The definition of Caffe's convolution, one output element at a time."""
    out = [convolved_size(*v) for v in zip(x.shape[2:], spec.kernel, spec.stride, spec.pad, spec.dilation, strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *[(pad, pad) for pad in spec.pad]])
    y = np.zeros((len(x), len(weight), *out))
    per_out, per_in = len(weight) // spec.group, x.shape[1] // spec.group
    for n, o in itertools.product(range(len(x)), range(len(weight))):
        channels = slice(o // per_out * per_in, (o // per_out + 1) * per_in)
        for place in itertools.product(*(range(size) for size in out)):
            window = tuple(
                slice(at * stride, at * stride + dilation * (kernel - 1) + 1, dilation)
                for at, stride, dilation, kernel in zip(place, spec.stride, spec.dilation, spec.kernel, strict=True)
            )
            y[(n, o, *place)] = (padded[(n, channels, *window)] * weight[o]).sum() + bias[o]
    return y


GEOMETRIES = [
    ((2, 4, 7, 6), 6, Convolution((3, 2), (1, 1), (0, 0), (1, 1))),
    ((2, 4, 7, 6), 6, Convolution((3, 2), (2, 3), (1, 2), (2, 1), group=2)),
    ((17, 2, 5, 5), 3, Convolution((3, 3), (1, 1), (1, 1), (1, 1))),
    ((17, 4, 5, 5), 4, Convolution((2, 2), (2, 2), (0, 0), (1, 1), group=4)),
    ((3, 4, 5, 5), 4, Convolution((1, 1), (1, 1), (0, 0), (1, 1), group=2)),
    ((3, 2, 9), 4, Convolution((3,), (2,), (1,), (1,))),
    ((2, 2, 4, 3, 4), 3, Convolution((2, 2, 2), (1, 1, 2), (1, 0, 0), (1, 1, 1))),
]


@pytest.mark.parametrize(("shape", "outputs", "spec"), GEOMETRIES)
@pytest.mark.parametrize("budget", [None, 1])
def test_convolution(
    shape: tuple[int, ...], outputs: int, spec: Convolution, budget: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if budget is not None:
        monkeypatch.setattr(convolution_module, "COLUMN_BUDGET", budget)
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape)
    weight = rng.normal(size=(outputs, shape[1] // spec.group, *spec.kernel))
    bias = rng.normal(size=outputs)
    expected = convolve_by_loops(x, weight, bias, spec)
    y = np.full(expected.shape, np.nan)
    primitive = run(spec, [x], [weight, bias], [y])
    assert np.allclose(y, expected)

    dy = rng.normal(size=y.shape)
    dx, dweight, dbias = np.full(x.shape, np.nan), np.ones(weight.shape), np.ones(outputs)
    primitive.backward([x], [weight, bias], [y], [dy], [dx], [dweight, dbias])
    # the convolution is linear in each of its three arguments
    other = rng.normal(size=shape)
    assert np.isclose((dx * other).sum(), (dy * convolve_by_loops(other, weight, 0 * bias, spec)).sum())
    other = rng.normal(size=weight.shape)
    assert np.isclose(((dweight - 1) * other).sum(), (dy * convolve_by_loops(x, other, 0 * bias, spec)).sum())
    assert np.allclose(dbias - 1, dy.swapaxes(0, 1).reshape(outputs, -1).sum(axis=1))


def test_long_weight_gradients_are_summed_from_pieces() -> None:
    rng = np.random.default_rng(2)
    spec = Convolution((3, 3), (1, 1), (1, 1), (1, 1))
    x, dy = rng.normal(size=(8, 2, 32, 32)), rng.normal(size=(8, 3, 32, 32))
    weight, dweight = rng.normal(size=(3, 2, 3, 3)), np.zeros((3, 2, 3, 3))
    primitive = NUMPY.primitive(spec, Workspace(NUMPY))
    primitive.backward([x], [weight], [dy], [dy], [None], [dweight])
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    for i, j in itertools.product(range(3), range(3)):
        expected = np.einsum("nohw,nchw->oc", dy, padded[:, :, i : i + 32, j : j + 32])
        assert np.allclose(dweight[:, :, i, j], expected)


def pool_by_loops(x: Any, windows: tuple[PoolingWindow, ...], *, floor: bool) -> tuple[Any, Any, Any]:
    """The definitions of Caffe's max pooling, its mask, and average pooling."""
    out = [window.output_size(size, floor=floor) for window, size in zip(windows, x.shape[-2:], strict=True)]
    top, mask, mean = (np.zeros((*x.shape[:-2], *out)) for _ in range(3))
    for place in itertools.product(*(range(size) for size in top.shape)):
        starts = [at * window.stride - window.pad for at, window in zip(place[-2:], windows, strict=True)]
        ends = [min(s + w.kernel, size + w.pad) for s, w, size in zip(starts, windows, x.shape[-2:], strict=True)]
        area = max(1, ends[0] - starts[0]) * max(1, ends[1] - starts[1])
        best, where, total = float(np.finfo(x.dtype).min), -1, 0.0
        for h in range(max(0, starts[0]), min(ends[0], x.shape[-2])):
            for w in range(max(0, starts[1]), min(ends[1], x.shape[-1])):
                value = x[(*place[:-2], h, w)]
                total += value
                if value > best:
                    best, where = value, h * x.shape[-1] + w
        top[place], mask[place], mean[place] = best, where, total / area
    return top, mask, mean


WINDOWS = [
    [(2, 2, 0), (2, 2, 0)],
    [(3, 2, 0), (3, 2, 0)],
    [(3, 2, 1), (2, 1, 1)],
    [(1, 3, 0), (2, 3, 0)],
    [(5, 1, 2), (3, 3, 1)],
    [(2, 3, 0), (4, 4, 3)],
]


@pytest.mark.parametrize("sizes", WINDOWS)
@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 6, 8), (1, 2, 7, 5)])
def test_pooling(sizes: list[tuple[int, int, int]], floor: bool, shape: tuple[int, ...]) -> None:
    windows = tuple(PoolingWindow(*size) for size in sizes)
    x = np.random.default_rng(3).integers(0, 4, shape).astype(float)  # many ties
    top, mask, mean = pool_by_loops(x, windows, floor=floor)
    y, found = np.full(top.shape, np.nan), np.full(top.shape, np.nan)
    primitive = run(PoolingMax(windows), [x], [], [y, found])
    assert np.array_equal(y, top)
    assert np.array_equal(found, mask)

    dy = np.random.default_rng(4).normal(size=top.shape)
    dx, expected = np.full(x.shape, np.nan), np.zeros(x.shape)
    primitive.backward([x], [], [y], [dy], [dx], [])
    for place in itertools.product(*(range(size) for size in top.shape)):
        if mask[place] >= 0:
            expected[place[:-2]].reshape(-1)[int(mask[place])] += dy[place]
    assert np.allclose(dx, expected)

    y = np.full(mean.shape, np.nan)
    run(PoolingAverage(windows), [x], [], [y])
    assert np.allclose(y, mean)


def test_unknown_operation_says_what_to_do() -> None:
    with pytest.raises(NetError, match="lower return None"):
        NUMPY.primitive(OpSpec(), Workspace(NUMPY))
