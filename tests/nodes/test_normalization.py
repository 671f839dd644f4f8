"""Normalisation: statistics, alignment, neighbourhoods, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from engine.net import Net
from tests.nodes.support import layer_net, run_layer

RNG = np.random.default_rng(3)

# -- BatchNorm -------------------------------------------------------------------------------------------------------


def test_batch_norm_trains_by_the_batch_and_tests_by_what_it_stored() -> None:
    net = layer_net('type: "BatchNorm"', [[1.0], [3.0]])
    net.forward()
    assert net.blobs["top"].data.reshape(-1) == pytest.approx([-0.999995, 0.999995], abs=1e-6)
    stored = [blob.data.copy() for blob in net.params["subject"]]
    assert [values.tolist() for values in stored] == [[2], [2], [1]]  # the variance is 1, times m / (m - 1)
    test = layer_net('type: "BatchNorm"', [[1.0]], phase=Phase.TEST)
    for blob, values in zip(test.params["subject"], stored, strict=True):
        blob.data[...] = values
    test.forward()
    assert test.blobs["top"].data == pytest.approx(-0.707105, abs=1e-6)
    assert [blob.data.tolist() for blob in test.params["subject"]] == [[2], [2], [1]]


def test_batch_norm_averages_over_passes() -> None:
    net = layer_net('type: "BatchNorm" batch_norm_param { moving_average_fraction: 0.5 }', [[1.0], [3.0]])
    net.forward()
    net.blobs["b0"].data[...] = [[0], [10]]
    net.forward()
    assert [blob.data.tolist() for blob in net.params["subject"]] == [[2 * 0.5 + 5], [2 * 0.5 + 50], [1.5]]


@pytest.mark.parametrize(("phase", "stored"), [(Phase.TRAIN, True), (Phase.TEST, False)])
def test_use_global_stats_wins_over_the_phase(phase: Phase, stored: bool) -> None:
    text = f'type: "BatchNorm" batch_norm_param {{ use_global_stats: {str(stored).lower()} }}'
    net = layer_net(text, [[1.0], [3.0]], phase=phase)
    for blob in net.params["subject"]:
        blob.data[...] = 1
    net.forward()
    expected = [0, 2] if stored else [-1, 1]
    assert net.blobs["top"].data.reshape(-1) == pytest.approx(expected, abs=1e-4)
    assert (net.params["subject"][2].data == 1).all() == stored


def test_batch_norm_statistics_are_never_learned() -> None:
    net = layer_net('type: "BatchNorm"', np.ones((2, 3)))
    assert [param.lr_mult for param in net.learnable] == [0, 0, 0]
    net = layer_net('type: "BatchNorm" param { lr_mult: 0 }', np.ones((2, 3)))
    assert [param.lr_mult for param in net.learnable] == [0, 0, 0]
    with pytest.raises(LayerError, match=r"'subject' \(BatchNorm\).*lr_mult 0 for parameter 0.*got 1"):
        layer_net('type: "BatchNorm" param { lr_mult: 1 }', np.ones((2, 3)))


def test_batch_norm_without_stored_statistics_divides_by_eps_alone() -> None:
    top, _ = run_layer('type: "BatchNorm" batch_norm_param { eps: 0.25 }', [[3.0]], phase=Phase.TEST)
    assert top == pytest.approx(6)


def test_batch_norm_of_nothing_changes_nothing() -> None:
    net = layer_net('type: "BatchNorm"', np.ones((0, 3)))
    net.forward()
    net.backward()
    assert net.params["subject"][2].data == 0


@pytest.mark.parametrize("in_place", [False, True])
def test_batch_norm_and_scale_in_a_chain(in_place: bool) -> None:
    tops = ["a", "a"] if in_place else ["b", "c"]
    text = f"""
    force_backward: true
    layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 4 dim: 3 dim: 5 }} }} }}
    layer {{ name: "p" type: "Power" bottom: "x" top: "a" power_param {{ scale: 2 }} }}
    layer {{ name: "bn" type: "BatchNorm" bottom: "a" top: "{tops[0]}" }}
    layer {{ name: "sc" type: "Scale" bottom: "{tops[0]}" top: "{tops[1]}"
      scale_param {{ bias_term: true filler {{ value: 3 }} bias_filler {{ value: 1 }} }} }}
    """
    net = Net(text, Phase.TRAIN)
    x = np.random.default_rng(1).normal(size=(4, 3, 5))
    dy = np.random.default_rng(2).normal(size=(4, 3, 5))
    net.blobs["x"].data[...] = x
    net.forward()
    mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    normed = 2 * (x - mean) / np.sqrt(4 * variance + 1e-5)
    assert net.blobs[tops[1]].data == pytest.approx(3 * normed + 1, abs=1e-5)
    net.blobs[tops[1]].diff[...] = dy
    net.clear_param_diffs()
    net.backward()
    assert net.params["sc"][0].diff == pytest.approx((dy * normed).sum((0, 2)), abs=1e-4)
    assert net.params["sc"][1].diff == pytest.approx(dy.sum((0, 2)), abs=1e-4)
    g = 3 * dy
    along = (g * normed).mean((0, 2), keepdims=True)
    expected = 2 * (g - g.mean((0, 2), keepdims=True) - along * normed) / np.sqrt(4 * variance + 1e-5)
    assert net.blobs["x"].diff == pytest.approx(expected, abs=1e-4)


# -- Scale and Bias --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Scale", "Bias"])
@pytest.mark.parametrize(
    ("axis", "shape", "aligned"),
    [
        (0, (2, 3), (2, 3, 1, 1)),
        (1, (3,), (1, 3, 1, 1)),
        (-2, (4, 5), (1, 1, 4, 5)),
        (1, (), (1, 1, 1, 1)),
        (0, (2, 3, 4, 5), (2, 3, 4, 5)),
    ],
)
def test_second_bottom_lines_up_at_the_axis(
    kind: str, axis: int, shape: tuple[int, ...], aligned: tuple[int, ...]
) -> None:
    x, operand = RNG.normal(size=(2, 3, 4, 5)), RNG.normal(size=shape)
    net = layer_net(f'type: "{kind}" {kind.lower()}_param {{ axis: {axis} }}', x, operand)
    net.forward()
    spread = operand.reshape(aligned)
    expected = x * spread if kind == "Scale" else x + spread
    assert net.blobs["top"].data == pytest.approx(expected, abs=1e-5)
    assert "subject" not in net.params


@pytest.mark.parametrize("kind", ["Scale", "Bias"])
def test_shapes_that_only_numpy_would_line_up_are_refused(kind: str) -> None:
    with pytest.raises(ShapeError, match=r"bottom 1: .*'b0' \(2, 3, 4, 4\) from axis 1 on, got shape \(4,\)"):
        layer_net(f'type: "{kind}"', np.zeros((2, 3, 4, 4)), np.zeros(4))


@pytest.mark.parametrize(
    ("fields", "shape"),
    [("", (3,)), ("axis: 2 num_axes: -1", (4, 5)), ("axis: 0 num_axes: 2", (2, 3)), ("num_axes: 0", ())],
)
def test_learned_operands(fields: str, shape: tuple[int, ...]) -> None:
    x = np.ones((2, 3, 4, 5))
    net = layer_net(f'type: "Scale" scale_param {{ {fields} bias_term: true }}', x)
    factor, offset = net.params["subject"]
    assert factor.shape == offset.shape == shape
    assert (factor.data == 1).all()
    assert (offset.data == 0).all()
    assert layer_net(f'type: "Bias" bias_param {{ {fields} }}', x).params["subject"][0].shape == shape


def test_scale_by_a_bottom_may_still_learn_a_bias() -> None:
    net = layer_net('type: "Scale" scale_param { axis: 0 bias_term: true }', np.ones((2, 3, 4)), np.full((2, 3), 2.0))
    (offset,) = net.params["subject"]
    assert offset.shape == (2, 3)
    offset.data[...] = 0.5
    net.forward()
    assert (net.blobs["top"].data == 2.5).all()


@pytest.mark.parametrize("num_axes", [3, -2])
def test_too_many_axes_are_refused(num_axes: int) -> None:
    with pytest.raises(LayerError, match=rf"num_axes from 0 to 2, or -1 .*got {num_axes}"):
        layer_net(f'type: "Scale" scale_param {{ num_axes: {num_axes} }}', np.zeros((2, 3, 4)))


# -- LRN -------------------------------------------------------------------------------------------------------------


def test_lrn_divides_alpha_by_the_size() -> None:
    top, _ = run_layer('type: "LRN" lrn_param { local_size: 3 alpha: 3 beta: 1 }', np.ones((1, 3, 1, 1)))
    assert top.reshape(-1) == pytest.approx([1 / 3, 1 / 4, 1 / 3])


@pytest.mark.parametrize("beta", [0.75, 0.6])
@pytest.mark.parametrize(("within", "size"), [(False, 3), (False, 11), (True, 3), (True, 9)])
def test_lrn_against_sums_over_slices(within: bool, size: int, beta: float) -> None:
    """Krizhevsky et al. 2012, section 3.3, with Caffe's alpha / n; within a channel alpha / n^2 and a shift of 1."""
    x = RNG.normal(size=(2, 5, 4, 6))
    region = "norm_region: WITHIN_CHANNEL" if within else ""
    top, _ = run_layer(f'type: "LRN" lrn_param {{ local_size: {size} alpha: 2 beta: {beta} k: 1.5 {region} }}', x)
    reach = size // 2
    expected = np.empty_like(x)
    for n, c, h, w in itertools.product(*map(range, x.shape)):
        rows, columns = slice(max(0, h - reach), h + reach + 1), slice(max(0, w - reach), w + reach + 1)
        around = x[n, c, rows, columns] if within else x[n, max(0, c - reach) : c + reach + 1, h, w]
        share = 2 / (size * size if within else size)
        expected[n, c, h, w] = x[n, c, h, w] / ((1 if within else 1.5) + share * (around**2).sum()) ** beta
    assert top == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("fields", "shape", "message"),
    [
        ("local_size: 4", (1, 2, 3, 3), "odd local_size, got 4"),
        ("local_size: 2 norm_region: WITHIN_CHANNEL", (1, 2, 3, 3), "odd local_size, got 2"),
        ("", (2, 3), r"4-D input .*got shape \(2, 3\)"),
    ],
)
def test_wrong_lrn_is_refused(fields: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayerError, match=rf"'subject' \(LRN\).*{message}"):
        layer_net(f'type: "LRN" lrn_param {{ {fields} }}', np.zeros(shape))


# -- MVN -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "axes"),
    [("", (2, 3)), ("across_channels: true", (1, 2, 3)), ("normalize_variance: false", (2, 3)), ("eps: 0.5", (2, 3))],
)
def test_mvn(fields: str, axes: tuple[int, ...]) -> None:
    """``(x - mean) / (sqrt(variance) + eps)``: Caffe adds eps to the deviation, not to the variance."""
    x = RNG.normal(2, 3, size=(2, 3, 4, 5))
    expected = x - x.mean(axes, keepdims=True)
    if "variance" not in fields:
        expected /= x.std(axes, keepdims=True) + (0.5 if "eps" in fields else 1e-9)
    assert run_layer(f'type: "MVN" mvn_param {{ {fields} }}', x)[0] == pytest.approx(expected, abs=1e-5)


def test_mvn_wants_at_most_four_axes() -> None:
    with pytest.raises(ShapeError, match="at most 4 axes"):
        layer_net('type: "MVN"', np.zeros((1, 1, 1, 1, 2)))
