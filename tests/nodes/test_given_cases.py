"""Faults that users of Caffe met in its layers (E1 to E36 of our list of cases), each as the list tests it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from engine.solvers.health import find_in_forward
from tests.nodes.support import layer_net, run_layer


def layer(kind: str, field: str = "", fields: str = "") -> str:
    return f'type: "{kind}" {f"{field} {{ {fields} }}" if field else ""}'


def pool(fields: str) -> str:
    return layer("Pooling", "pooling_param", fields)


def shape_of(text: str, *bottoms: Any, **options: Any) -> tuple[int, ...]:
    return layer_net(text, *bottoms, **options).blobs["top"].shape


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        (pool("kernel_size: 3 stride: 2"), 112, 56),
        (layer("Convolution", "convolution_param", "num_output: 1 kernel_size: 3 stride: 2"), 112, 55),
        (pool("kernel_size: 3 stride: 2 pad: 1"), 64, 33),
        (pool("kernel_size: 3 stride: 2 pad: 1 round_mode: FLOOR"), 64, 32),
    ],
)
def test_e1_pooling_rounds_up(text: str, size: int, expected: int) -> None:
    assert shape_of(text, np.zeros((1, 1, size, size))) == (1, 1, expected, expected)


def test_e4_an_empty_window_is_warned_of_and_nan_is_found_above(caplog: pytest.LogCaptureFixture) -> None:
    net = layer_net(pool("kernel_size: 1 stride: 3"), np.full((1, 1, 5, 5), np.nan))
    assert net.blobs["top"].shape == (1, 1, 3, 3)
    assert "Layer 'subject' (Pooling)" in caplog.text
    net.forward()
    finding = find_in_forward(net)
    assert finding is not None and finding.layer == "b0"


def test_e5_batch_norm_in_both_phases() -> None:
    train = layer_net(layer("BatchNorm"), [[1.0], [3.0]])
    train.forward()
    assert train.blobs["top"].data[:, 0] == pytest.approx([-0.999995, 0.999995], abs=1e-6)
    test = layer_net(layer("BatchNorm"), [[1.0]], phase=Phase.TEST, share_with=train)
    test.forward()
    assert test.blobs["top"].data[0, 0] == pytest.approx(-0.707105, abs=1e-6)


def test_e9_dropout_scales_in_training() -> None:
    net = layer_net(layer("Dropout", "dropout_param", "dropout_ratio: 0.4"), np.ones(100_000))
    net.forward()
    values = net.blobs["top"].data
    assert np.unique(values) == pytest.approx([0, 1.6667], abs=1e-4)
    assert values.mean() == pytest.approx(1, abs=0.02)
    net.blobs["top"].diff[...] = 1
    net.backward()
    assert np.array_equal(net.blobs["b0"].diff != 0, values != 0)


@pytest.mark.parametrize(
    ("mode", "expected"), [("VALID", 0.6931), ("FULL", 0.5199), ("BATCH_SIZE", 1.0397), ("NONE", 2.0794)]
)
def test_e10_normalisation_of_softmax_loss(mode: str, expected: float) -> None:
    text = layer("SoftmaxWithLoss", "loss_param", f"ignore_label: 9 normalization: {mode}")
    loss, _ = run_layer(text, np.zeros((2, 2, 2)), [[0, 1], [9, 1]])
    assert loss == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("kind", ["SoftmaxWithLoss", "SigmoidCrossEntropyLoss"])
@pytest.mark.parametrize("mode", ["VALID", "FULL", "BATCH_SIZE", "NONE"])
def test_e11_a_batch_that_is_ignored_as_a_whole(kind: str, mode: str) -> None:
    targets = np.full((2, 3) if kind.startswith("Sigmoid") else 2, 9)
    loss, grad = run_layer(
        layer(kind, "loss_param", f"ignore_label: 9 normalization: {mode}"), np.ones((2, 3)), targets
    )
    assert loss == 0 and not grad.any()


def test_e12_labels_are_no_one_hot_vectors() -> None:
    layer_net(layer("SoftmaxWithLoss"), np.zeros((2, 3, 4, 4)), np.zeros((2, 1, 4, 4)))
    with pytest.raises(ShapeError, match="'subject'.*expected 32 labels.*got 96.*one-hot"):
        layer_net(layer("SoftmaxWithLoss"), np.zeros((2, 3, 4, 4)), np.zeros((2, 3, 4, 4)))


@pytest.mark.parametrize(
    ("scores", "targets", "expected"),
    [([0, 0, 0], [1, 0, 1], 2.0794), ([1000], [0], 1000), ([-1000], [0], 0)],
)
def test_e13_sigmoid_loss_is_stable(scores: list[float], targets: list[float], expected: float) -> None:
    assert run_layer(layer("SigmoidCrossEntropyLoss"), [scores], [targets])[0] == pytest.approx(expected, abs=1e-4)


def test_e16_infogain_takes_scores() -> None:
    loss, grad = run_layer(layer("InfogainLoss"), [[0, 0]], [0], [[2, 1], [0, 1]])
    assert loss == pytest.approx(2.0794, abs=1e-4)
    assert grad.tolist() == [[-0.5, 0.5]]


def test_e18_reshape_with_0_and_minus_1() -> None:
    net = layer_net(layer("Reshape", "reshape_param", "shape { dim: 0 dim: -1 }"), np.zeros((2, 3, 4, 5)))
    assert net.blobs["top"].shape == (2, 60)
    assert np.shares_memory(net.blobs["top"].data, net.blobs["b0"].data)
    for dims in ("dim: -1 dim: -1", "dim: 7"):
        with pytest.raises(LayerError, match="'subject'"):
            layer_net(layer("Reshape", "reshape_param", f"shape {{ {dims} }}"), np.zeros((2, 3, 4, 5)))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("axis: 1 shape { dim: 0 dim: -1 }", (2, 3, 20)),
        ("shape { dim: 1 } axis: 0 num_axes: 0", (1, 2, 3, 4, 5)),
        ("shape { dim: 1 } axis: -1 num_axes: 0", (2, 3, 4, 5, 1)),
    ],
)
def test_e19_reshape_of_some_axes(fields: str, expected: tuple[int, ...]) -> None:
    assert shape_of(layer("Reshape", "reshape_param", fields), np.zeros((2, 3, 4, 5))) == expected


def test_e20_lrn_divides_alpha_by_the_size() -> None:
    top, _ = run_layer(layer("LRN", "lrn_param", "local_size: 3 alpha: 3 beta: 1"), np.ones((1, 3, 1, 1)))
    assert top.reshape(-1) == pytest.approx([1 / 3, 1 / 4, 1 / 3])


def gradients(text: str, top_diff: float, *bottoms: list[float]) -> list[float]:
    net = layer_net(text, *bottoms)
    net.forward()
    net.blobs["top"].diff[...] = top_diff
    net.backward()
    return [float(net.blobs[f"b{index}"].diff[0]) for index in range(len(bottoms))]


def test_e23_eltwise() -> None:
    def eltwise(fields: str) -> str:
        return layer("Eltwise", "eltwise_param", fields)

    assert run_layer(eltwise("coeff: 1 coeff: -1"), [5.0], [3.0])[0].tolist() == [2]
    assert gradients(eltwise("operation: PROD"), 2, [0.0], [3.0]) == [6, 0]
    assert gradients(eltwise("operation: MAX"), 1, [2.0], [2.0], [2.0]) == [0, 1, 0]
    with pytest.raises(ShapeError, match=r"(?s)\(2, 3\).*\(1, 3\)|\(1, 3\).*\(2, 3\)"):
        layer_net(eltwise(""), np.zeros((2, 3)), np.zeros((1, 3)))


def test_e24_scale_lines_up_at_its_axis() -> None:
    x = np.zeros((2, 3, 4, 4))
    layer_net(layer("Scale", "scale_param", "axis: 0"), x, np.zeros((2, 3)))
    layer_net(layer("Scale", "scale_param", "axis: 1"), x, np.zeros(3))
    with pytest.raises(ShapeError):
        layer_net(layer("Scale", "scale_param", "axis: 1"), x, np.zeros(4))


def test_e26_pyramid() -> None:
    assert shape_of(layer("SPP", "spp_param", "pyramid_height: 3"), np.zeros((1, 2, 11, 11))) == (1, 42)
    with pytest.raises(ShapeError, match="'subject'"):
        layer_net(layer("SPP", "spp_param", "pyramid_height: 4"), np.zeros((1, 2, 5, 5)))


def test_e27_crop_counts_from_the_origin() -> None:
    ramp = np.arange(25.0).reshape(1, 1, 5, 5)
    top, grad = run_layer(layer("Crop", "crop_param", "offset: 1"), ramp, np.zeros((1, 1, 3, 3)))
    assert np.array_equal(top[0, 0], ramp[0, 0, 1:4, 1:4])
    assert grad[0, 0, 1:4, 1:4].all() and grad.sum() == 9
    with pytest.raises(LayerError, match="'subject'.*3.*5|'subject'.*5.*3"):
        layer_net(layer("Crop", "crop_param", "offset: 3"), ramp, np.zeros((1, 1, 3, 3)))


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        (layer("Exp", "exp_param", "base: -1"), 1.0, math.e),
        (layer("Log", "log_param", "base: -1"), math.e, 1),
        (layer("Power", "power_param", "power: 2 scale: 0 shift: 3"), 5.0, 9),
        (layer("Power", "power_param", "power: 0 shift: 3"), 5.0, 1),
        (layer("Power", "power_param", "power: 3 scale: 2 shift: 1"), 1.0, 27),
    ],
)
def test_e34_odd_points(text: str, at: float, expected: float) -> None:
    assert run_layer(text, [at])[0][0] == pytest.approx(expected, rel=1e-6)
    assert run_layer(layer("AbsVal"), [0.0])[1][0] == 0


@pytest.mark.parametrize(
    ("fields", "shape", "expected"),
    [
        ("", (2, 5), (2, 1, 1)),
        ("out_max_val: true", (2, 5), (2, 2, 1)),
        ("axis: 1", (2, 5, 3, 3), (2, 1, 3, 3)),
        ("axis: 1 top_k: 2 out_max_val: true", (2, 5, 3), (2, 2, 3)),
    ],
)
def test_e36_two_layouts_of_argmax(fields: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert shape_of(layer("ArgMax", "argmax_param", fields), np.zeros(shape)) == expected
