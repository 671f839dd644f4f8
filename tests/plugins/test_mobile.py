"""The layers of ``plugins/mobile``: MobileNet's, ShuffleNet's and SENet's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.resources import plugins_path
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import Values, check_against, losses_of, normal

WIDE = 'weight_filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 }'
BIG = (2, 3, 47, 53)  # planes large enough for the way of large planes


def depthwise(fields: str) -> str:
    return f'type: "ConvolutionDepthwise" convolution_param {{ {fields} {WIDE} }}'


CASES = {
    "relu6": LayerCase('type: "ReLU6"', [4 * normal(3, 2, 4)]),
    "relu6 with a slope": LayerCase('type: "ReLU6" relu6_param { negative_slope: 0.1 }', [4 * normal(3, 9)]),
    "relu6 in place": LayerCase('type: "ReLU6"', [4 * normal(3, 9)], in_place=True),
    "hard swish": LayerCase('type: "HardSwish"', [4 * normal(3, 2, 4)]),
    "hard swish in place": LayerCase('type: "HardSwish"', [4 * normal(3, 9)], in_place=True),
    "axpy": LayerCase('type: "Axpy"', [normal(2, 3, 1, 1), normal(2, 3, 4, 5, seed=2), normal(2, 3, 4, 5, seed=3)]),
    "axpy, flat": LayerCase('type: "Axpy"', [normal(2, 3), normal(2, 3, seed=2), normal(2, 3, seed=3)]),
    "mul": LayerCase('type: "Mul"', [normal(2, 3, 4, 5), normal(2, 3, 4, 5, seed=2)]),
    "mul, repeated": LayerCase('type: "Mul"', [normal(2, 3, 1, 5), normal(2, 1, 4, 5, seed=2)]),
    "mul, fewer axes": LayerCase('type: "Mul"', [normal(4, 1), normal(2, 3, 4, 5, seed=2)], batched=False),
    "mul by a scalar": LayerCase('type: "Mul"', [normal(2, 3), normal(seed=2)], batched=False),
    "mul by a parameter": LayerCase(
        'type: "Mul" mul_param { mul_shape: 3 mul_shape: 1 mul_shape: 1 }',
        [normal(2, 3, 4, 5)],
        params=[normal(3, 1, 1)],
    ),
    "shuffle": LayerCase('type: "ShuffleChannel" shuffle_channel_param { group: 3 }', [normal(2, 12, 2, 3)]),
    "shuffle, flat": LayerCase('type: "ShuffleChannel" shuffle_channel_param { group: 2 }', [normal(2, 6)]),
    "depthwise": LayerCase(depthwise("kernel_size: 3 pad: 1"), [normal(2, 3, 7, 6)]),
    "depthwise without bias": LayerCase(depthwise("kernel_size: 3 bias_term: false"), [normal(2, 3, 7, 6)]),
    "depthwise, stride and dilation": LayerCase(
        depthwise("kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 3 pad_h: 2 pad_w: 1 dilation: 2 dilation: 1"),
        [normal(2, 3, 11, 12)],
    ),
    "depthwise, large": LayerCase(depthwise("kernel_size: 5 pad: 2"), [normal(*BIG)]),
    "depthwise, large, stride": LayerCase(depthwise("kernel_size: 3 stride: 2 pad: 1"), [normal(2, 3, 83, 94)]),
    "depthwise of a Convolution's fields": LayerCase(
        f'type: "DepthwiseConvolution" convolution_param {{ num_output: 3 group: 3 kernel_size: 3 {WIDE} }}',
        [normal(2, 3, 7, 6)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_passes_the_checks_for_layers(name: str) -> None:
    check_layer(CASES[name])


def shuffled(x: Values) -> Values:
    return np.stack([x[:, group * 4 + index] for index in range(4) for group in range(3)], axis=1)


def axpy(scale: Values, x: Values, y: Values) -> Values:
    return np.einsum("nc,nchw->nchw", scale[:, :, 0, 0], x) + y


REFERENCES: dict[str, Callable[..., Values]] = {
    "relu6": lambda x: np.clip(x, 0, 6),
    "relu6 with a slope": lambda x: np.where(x > 0, np.minimum(x, 6), 0.1 * x),
    "hard swish": lambda x: np.where(x <= -3, 0, np.where(x >= 3, x, x * (x + 3) / 6)),
    "axpy": axpy,
    "mul, repeated": lambda a, b: np.repeat(a, 4, axis=2) * np.repeat(b, 3, axis=1),
    "mul, fewer axes": lambda a, b: np.tile(a, (2, 3, 1, 5)) * b,
    "mul by a parameter": lambda a, b: np.stack([a[:, c] * b[c, 0, 0] for c in range(3)], axis=1),
    "shuffle": shuffled,
}


@pytest.mark.parametrize("name", REFERENCES)
def test_numbers(name: str) -> None:
    # a slope is a float of the message, so 0.1 is 0.1 in single precision
    check_against(CASES[name], REFERENCES[name], rtol=1e-7 if "slope" in name else 1e-9)


def test_the_gradient_of_relu6_at_its_kinks_is_the_forks() -> None:
    case = LayerCase('type: "ReLU6" relu6_param { negative_slope: 0.25 }', [np.array([[-1, 0, 3, 6, 7]], np.float32)])
    rig = Rig(case)
    outcome = rig.run()
    assert outcome.bottom_grads[0] is not None
    slopes = outcome.bottom_grads[0] / rig.net.blobs["top0"].diff
    np.testing.assert_allclose(slopes, [[0.25, 0.25, 1, 0, 0]], rtol=1e-6)


def filtered(
    x: Values, weight: Values, bias: Values, stride: tuple[int, int], pad: tuple[int, int], far: int
) -> Values:
    """Sum the products one by one, as the formula has them."""
    images, channels, height, width = x.shape
    kernel = weight.shape[2:]
    out = [(x.shape[2 + i] + 2 * pad[i] - far * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(2)]
    y = np.empty((images, channels, *out))
    for n, c, row, column in np.ndindex(y.shape):
        total = bias[c]
        for i, j in np.ndindex(*kernel):
            h, w = row * stride[0] - pad[0] + i * far, column * stride[1] - pad[1] + j * far
            if 0 <= h < height and 0 <= w < width:
                total += weight[c, 0, i, j] * x[n, c, h, w]
        y[n, c, row, column] = total
    return y


@pytest.mark.parametrize(
    ("fields", "stride", "pad", "far", "shape"),
    [
        ("kernel_size: 3", (1, 1), (0, 0), 1, (2, 2, 5, 6)),
        ("kernel_size: 3 pad: 1 stride: 2", (2, 2), (1, 1), 1, (1, 2, 7, 8)),
        (
            "kernel_size: 2 kernel_size: 3 pad: 1 pad: 2 stride: 3 stride: 1 dilation: 2",
            (3, 1),
            (1, 2),
            2,
            (1, 2, 9, 7),
        ),
        ("kernel_size: 3 pad: 1", (1, 1), (1, 1), 1, (1, 1, 40, 41)),
        ("kernel_size: 3 stride: 2", (2, 2), (0, 0), 1, (1, 1, 82, 81)),
    ],
)
def test_depthwise_numbers(
    fields: str, stride: tuple[int, int], pad: tuple[int, int], far: int, shape: tuple[int, ...]
) -> None:
    case = LayerCase(depthwise(fields), [normal(*shape)])
    check_against(case, lambda x, weight, bias: filtered(x, weight, bias, stride, pad, far))


@pytest.mark.parametrize("shape", [(2, 4, 9, 8), (1, 4, 45, 50)])
@pytest.mark.parametrize("fields", ["kernel_size: 3 pad: 1", "kernel_size: 3 stride: 2 dilation: 2 pad: 3"])
def test_depthwise_is_a_convolution_with_as_many_groups(shape: tuple[int, ...], fields: str) -> None:
    values = [normal(4, 1, 3, 3), normal(4)]
    texts = [
        f'type: "{kind}" convolution_param {{ num_output: 4 group: 4 {fields} }}'
        for kind in ("DepthwiseConvolution", "ConvolutionDepthwise", "Convolution")
    ]
    mine, other, theirs = (Rig(LayerCase(text, [normal(*shape)], params=values)).run() for text in texts)
    for outcome in (mine, other):
        for (name, got), (_, expected) in zip(outcome.arrays(), theirs.arrays(), strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4, err_msg=name)


def test_num_output_and_group_are_free_in_convolution_depthwise_only() -> None:
    text = 'type: "{}" convolution_param {{ num_output: 5 kernel_size: 1 }}'
    assert Rig(LayerCase(text.format("ConvolutionDepthwise"), [normal(1, 3, 2, 2)])).run().tops[0].shape == (1, 3, 2, 2)
    with pytest.raises(NetcanvasError, match="expected num_output to be the number of input channels, 3, got 5"):
        Rig(LayerCase(text.format("DepthwiseConvolution"), [normal(1, 3, 2, 2)]))


def test_several_bottoms_share_the_filters() -> None:
    inputs = "".join(
        f'layer {{ name: "{n}" type: "Input" top: "{n}" input_param {{ shape {{ dim: 1 dim: 2 dim: 4 dim: 4 }} }} }}'
        for n in "ab"
    )
    fields = f"convolution_param {{ num_output: 2 group: 2 kernel_size: 3 {WIDE} }}"
    layer = f'layer {{ name: "c" type: "DepthwiseConvolution" bottom: "a" bottom: "b" top: "x" top: "y" {fields} }}'
    net = Net("force_backward: true " + inputs + layer, Phase.TRAIN, seed=1)
    net.blobs["a"].data[...] = net.blobs["b"].data[...] = normal(1, 2, 4, 4)
    net.forward()
    np.testing.assert_array_equal(net.blobs["x"].data, net.blobs["y"].data)
    net.blobs["x"].diff[...] = 1
    net.blobs["y"].diff[...] = 0
    net.clear_param_diffs()
    net.backward()
    once = net.params["c"][0].diff.copy()
    net.blobs["y"].diff[...] = 1
    net.clear_param_diffs()
    net.backward()
    np.testing.assert_allclose(net.params["c"][0].diff, 2 * once, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "shapes", "fault"),
    [
        ('type: "ShuffleChannel" shuffle_channel_param { group: 3 }', [(1, 4)], "a multiple of group 3"),
        ('type: "ShuffleChannel" shuffle_channel_param { group: 0 }', [(1, 4)], "group of 1 or more, got 0"),
        ('type: "Axpy"', [(2, 3), (2, 4, 1, 1), (2, 4, 1, 1)], r"bottom 0: expected a factor for each"),
        ('type: "Axpy"', [(2, 4), (2, 4, 1, 1), (2, 4, 1, 2)], r"bottom 2: expected shape \(2, 4, 1, 1\), as bottom 1"),
        ('type: "Mul"', [(2, 3), (2, 4)], r"equal or 1, counted from the last, got \(2, 3\) and \(2, 4\)"),
        ('type: "ConvolutionDepthwise"', [(1, 2, 4, 4)], "expected kernel_size, got none"),
        (depthwise("kernel_size: 5"), [(1, 2, 4, 4)], "does not fit into input"),
        (depthwise("kernel_size: 3 stride: 0"), [(1, 2, 4, 4)], "stride of 1 or more"),
        (depthwise("kernel_size: 3"), [(2, 4)], "expected a 4-D input"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, shapes: list[tuple[int, ...]], fault: str) -> None:
    with pytest.raises(NetcanvasError, match=fault):
        Rig(LayerCase(text, [normal(*shape) for shape in shapes]))


@pytest.mark.parametrize("kind", ["ShuffleChannel", "Axpy", "Mul"])
def test_in_place_is_refused_where_it_would_go_wrong(kind: str) -> None:
    bottoms = [normal(2, 4)] * (3 if kind == "Axpy" else 1)
    with pytest.raises(NetcanvasError, match="expected a top with a name of its own"):
        Rig(LayerCase(f'type: "{kind}"', bottoms, in_place=True))


def test_the_example_learns() -> None:
    losses = losses_of(plugins_path() / "mobile" / "examples" / "solver.prototxt", 150)
    assert np.mean(losses[-20:]) < 0.75 * np.mean(losses[:20])


def thread_time(action: Callable[[], Any]) -> float:
    action()
    times = []
    for _ in range(7):
        start = time.thread_time()
        action()
        times.append(time.thread_time() - start)
    return min(times)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "stride"), [((4, 32, 112, 112), 1), ((4, 64, 112, 112), 2), ((4, 128, 56, 56), 1)])
def test_it_is_faster_than_the_convolution(shape: tuple[int, ...], stride: int) -> None:
    """Measured: 1.4 to 2 times as fast forward on these, and 3 to 3.5 times backward."""
    seconds = []
    for kind in ("DepthwiseConvolution", "Convolution"):
        count = f"num_output: {shape[1]} group: {shape[1]} bias_term: false"
        text = f'type: "{kind}" convolution_param {{ {count} kernel_size: 3 pad: 1 stride: {stride} {WIDE} }}'
        rig = Rig(LayerCase(text, [normal(*shape)]))
        rig.run()
        seconds.append(thread_time(lambda net=rig.net: (net.forward(), net.backward())))
    assert seconds[0] < seconds[1]


@pytest.mark.parametrize("pool", ["MAX", "AVE"])
@pytest.mark.parametrize(("fields", "size"), [("", 4), ("ceil_mode: true", 4), ("ceil_mode: false", 3)])
def test_pooling_rounds_its_size_as_ceil_mode_says(pool: str, fields: str, size: int) -> None:
    text = 'type: "Pooling" pooling_param {{ pool: {} kernel_size: 3 stride: 2 {} }}'
    bottoms = [normal(2, 3, 8, 8)]
    case = LayerCase(text.format(pool, fields), bottoms)
    check_layer(case)
    top = Rig(case).run().tops[0]
    assert top.shape == (2, 3, size, size)
    if size == 3:
        floor = Rig(LayerCase(text.format(pool, "round_mode: FLOOR"), bottoms)).run().tops[0]
        np.testing.assert_array_equal(top, floor)
