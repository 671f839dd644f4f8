"""Losses and accuracy: Caffe's normalisation, ignored and wrong labels, ties."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from tests.nodes.support import layer_net, run_layer

LN2 = math.log(2)


def softmax_loss(fields: str) -> str:
    return f'type: "SoftmaxWithLoss" {fields}'


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", LN2),
        ("normalization: VALID", LN2),
        ("normalization: FULL", 6 * LN2 / 8),
        ("normalization: FULL normalize: false", 6 * LN2 / 8),
        ("normalization: BATCH_SIZE", 6 * LN2 / 2),
        ("normalize: false", 6 * LN2 / 2),
        ("normalize: true", LN2),
        ("normalization: NONE", 6 * LN2),
    ],
)
def test_normalisation_with_two_of_eight_ignored(fields: str, expected: float) -> None:
    labels = np.array([[0, 1, 9, 0], [1, 1, 0, 9]])
    loss, grad = run_layer(softmax_loss(f"loss_param {{ ignore_label: 9 {fields} }}"), np.zeros((2, 2, 4)), labels)
    assert loss == pytest.approx(expected)
    assert np.abs(grad).sum() == pytest.approx(expected / LN2)  # 1/2 twice for each of 6 labels
    assert not grad[0, :, 2].any()


def test_all_labels_ignored_is_zero_not_nan() -> None:
    loss, grad = run_layer(softmax_loss("loss_param { ignore_label: 9 }"), np.ones((2, 3)), [9, 9])
    assert loss == 0
    assert not grad.any()


def test_no_items_and_no_classes() -> None:
    loss, grad = run_layer(softmax_loss(""), np.ones((0, 3)), [])
    assert str(loss) == "0.0" and grad.shape == (0, 3)
    with pytest.raises(ShapeError, match=r"bottom 0: expected at least one class at axis 1 .*\(2, 0\)"):
        run_layer(softmax_loss(""), np.ones((2, 0)), [0, 0])


def test_huge_scores_do_not_overflow() -> None:
    loss, _ = run_layer(softmax_loss(""), [[1e4, -1e4]], [0])
    assert loss == 0
    loss, grad = run_layer(softmax_loss(""), [[1e4, -1e4]], [1])
    assert loss == pytest.approx(87.3365, abs=1e-3)  # as Caffe: -log(FLT_MIN)
    assert grad.tolist() == [[1, -1]]


@pytest.mark.parametrize("weights", ["", "loss_weight: 3", "loss_weight: 3 loss_weight: 0"])
def test_two_tops_with_one_or_two_weights(weights: str) -> None:
    net = layer_net(softmax_loss(weights), np.zeros((2, 2)), [0, 1], tops="loss prob")
    assert net.forward() == pytest.approx((3 if weights else 1) * LN2)
    assert np.allclose(net.blobs["prob"].data, 0.5)


def test_labels_may_keep_a_dimension_of_one() -> None:
    net = layer_net(softmax_loss(""), np.zeros((2, 3, 4, 4)), np.zeros((2, 1, 4, 4)))
    assert net.forward() == pytest.approx(np.log(3))


def test_one_hot_labels_get_a_hint() -> None:
    with pytest.raises(ShapeError, match=r"'subject'.*bottom 1: expected 32 labels.*got 96.*one-hot.*ArgMax"):
        layer_net(softmax_loss(""), np.zeros((2, 3, 4, 4)), np.zeros((2, 3, 4, 4)))


@pytest.mark.parametrize("kind", ["SoftmaxWithLoss", "Accuracy"])
@pytest.mark.parametrize("value", [10, -1, np.nan])
@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_label_out_of_range_names_value_and_index(kind: str, value: float, backend: str) -> None:
    net = layer_net(f'type: "{kind}"', np.zeros((3, 10)), [0, value, 2], phase=Phase.TEST, backend=backend)
    with pytest.raises(LayerError, match=f"'subject' \\({kind}\\).*0 to 9, got {value:g} at index 1 of 'b1'"):
        net.forward()


def test_ignored_label_may_be_out_of_range() -> None:
    net = layer_net(softmax_loss("loss_param { ignore_label: 255 }"), np.zeros((3, 10)), [0, 255, 2])
    assert net.forward() == pytest.approx(np.log(10))


@pytest.mark.parametrize(
    ("scores", "label", "top_k", "expected"),
    [
        ([1, 2, 3], 2, 1, 1),
        ([1, 3, 3], 2, 1, 0),  # a tie counts against the true class
        ([3, 3, 3], 0, 2, 0),
        ([3, 3, 3], 0, 3, 1),
        ([1, 2, 3], 1, 2, 1),
        ([1, np.nan, 3], 2, 1, 0),
    ],
)
def test_accuracy(scores: list[float], label: int, top_k: int, expected: float) -> None:
    net = layer_net(f'type: "Accuracy" accuracy_param {{ top_k: {top_k} }}', [scores], [label], phase=Phase.TEST)
    net.forward()
    assert float(net.blobs["top"].data) == expected


def test_accuracy_for_each_class() -> None:
    scores = np.eye(3)[[0, 1, 1, 2]]
    net = layer_net('type: "Accuracy" accuracy_param { ignore_label: 2 }', scores, [0, 1, 0, 2], tops="all each")
    net.forward()
    assert float(net.blobs["all"].data) == pytest.approx(2 / 3)
    assert net.blobs["each"].data.tolist() == [0.5, 1, 0]


def test_accuracy_of_nothing_is_zero() -> None:
    net = layer_net('type: "Accuracy" accuracy_param { ignore_label: 2 }', np.zeros((2, 3)), [2, 2])
    net.forward()
    assert net.blobs["top"].data == 0


def test_top_k_beyond_the_classes_is_refused() -> None:
    with pytest.raises(LayerError, match="top_k from 1 to 3 .*got 4"):
        layer_net('type: "Accuracy" accuracy_param { top_k: 4 }', np.zeros((2, 3)), [0, 0])


def test_euclidean_loss_wants_equal_counts() -> None:
    loss, grad = run_layer('type: "EuclideanLoss"', [[1.0, 2], [3, 4]], np.zeros((2, 2, 1)))
    assert loss == pytest.approx(30 / 4)
    assert grad.tolist() == [[0.5, 1], [1.5, 2]]
    with pytest.raises(ShapeError, match=r"bottom 1: .*\(2, 2\).*\(2, 3\)"):
        layer_net('type: "EuclideanLoss"', np.zeros((2, 2)), np.zeros((2, 3)))
