"""The other losses against their formulas, written as plain loops in float64, and known values.

Formulas: contrastive, Hadsell, Chopra and LeCun 2006, eq. 4; hinge, Crammer and Singer's one against all as in Caffe's
documentation; cross-entropies, Bishop 2006, eqs. 4.90 and 4.108; the normalisation is Caffe's.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.files import write_blob
from tests.nodes.support import layer_net, run_layer

RNG = np.random.default_rng(3)
LN2 = math.log(2)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("margin", [1, 2.5])
def test_contrastive_loss(legacy: bool, margin: float) -> None:
    first, second = RNG.normal(size=(2, 6, 3))
    alike = [0, 1, 0.9, -1, 0, 2]  # fractions are cut off, as in Caffe
    expected = 0.0
    for a, b, like in zip(first, second, alike, strict=True):
        square = sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
        if int(like):
            expected += square / 12
        elif legacy:
            expected += max(margin - square, 0) / 12
        else:
            expected += max(margin - math.sqrt(square), 0) ** 2 / 12
    fields = f"margin: {margin} legacy_version: {str(legacy).lower()}"
    loss, _ = run_layer(f'type: "ContrastiveLoss" contrastive_loss_param {{ {fields} }}', first, second, alike)
    assert loss == pytest.approx(expected, rel=1e-5)


def test_contrastive_loss_of_equal_unlike_items_is_finite() -> None:
    loss, grad = run_layer('type: "ContrastiveLoss"', np.ones((2, 3)), np.ones((2, 3)), [0, 0])
    assert loss == pytest.approx(0.5)
    assert not grad.any()


def test_contrastive_loss_takes_items_with_axes_of_one() -> None:
    loss, _ = run_layer('type: "ContrastiveLoss"', np.ones((2, 3, 1, 1)), np.zeros((2, 3)), [1, 1])
    assert loss == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 3, 2), (2, 3, 2), (2,)], r"bottom 0: .*\(N, channels\), got shape \(2, 3, 2\).*Flatten"),
        ([(2, 3), (2, 4), (2,)], r"bottom 1: expected shape \(2, 3\).*got \(2, 4\)"),
        ([(2, 3), (2, 3), (3,)], r"bottom 2: expected 2 values.*got shape \(3,\)"),
    ],
)
def test_wrong_pairs_are_refused(shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        layer_net('type: "ContrastiveLoss"', *(np.zeros(shape) for shape in shapes))


@pytest.mark.parametrize(("norm", "power"), [("L1", 1), ("L2", 2)])
def test_hinge_loss(norm: str, power: int) -> None:
    scores, labels = RNG.normal(size=(4, 3)), [2, 0, 1, 2]
    expected = 0.0
    for row, label in zip(scores, labels, strict=True):
        for place, score in enumerate(row):
            expected += max(0, 1 - (1 if place == label else -1) * score) ** power / 4
    loss, _ = run_layer(f'type: "HingeLoss" hinge_loss_param {{ norm: {norm} }}', scores, labels)
    assert loss == pytest.approx(expected, rel=1e-5)


def test_multinomial_logistic_loss() -> None:
    loss, grad = run_layer('type: "MultinomialLogisticLoss"', [[0.25, 0.75], [1, 0]], [0, 1])
    assert loss == pytest.approx((math.log(4) - math.log(1e-20)) / 2)
    np.testing.assert_allclose(grad, [[-2, 0], [0, -0.5e20]], rtol=1e-6)


@pytest.mark.parametrize("kind", ["HingeLoss", "MultinomialLogisticLoss", "InfogainLoss"])
def test_wrong_labels_are_named(kind: str) -> None:
    matrix = [np.eye(3)] if kind == "InfogainLoss" else []
    with pytest.raises(ShapeError, match=r"bottom 1: expected 2 labels .*got 6 in shape \(2, 3\)"):
        layer_net(f'type: "{kind}"', np.ones((2, 3)), np.ones((2, 3)), *matrix)
    with pytest.raises(LayerError, match="expected labels from 0 to 2, got 3 at index 1 of 'b1'"):
        layer_net(f'type: "{kind}"', np.ones((2, 3)), [0, 3], *matrix).forward()


def sigmoid(fields: str = "") -> str:
    return f'type: "SigmoidCrossEntropyLoss" loss_param {{ {fields} }}'


@pytest.mark.parametrize(
    ("score", "target", "expected"), [(0, 0, LN2), (1000, 0, 1000), (-1000, 0, 0), (1000, 1, 0), (-1000, 1, 1000)]
)
def test_sigmoid_loss_does_not_overflow(score: float, target: float, expected: float) -> None:
    loss, grad = run_layer(sigmoid(), [[score]], [[target]])
    assert loss == pytest.approx(expected)
    assert grad == pytest.approx(1 / (1 + math.exp(-score)) - target if score > -700 else -target)


@pytest.mark.parametrize(
    ("fields", "divisor"),
    [
        ("", 2),
        ("normalize: true", 4),
        ("normalize: false", 2),
        ("normalization: BATCH_SIZE", 2),
        ("normalization: VALID", 4),
        ("normalization: VALID normalize: false", 4),
        ("normalization: FULL", 6),
        ("normalization: NONE", 1),
    ],
)
def test_sigmoid_loss_is_divided_by_the_batch_size(fields: str, divisor: float) -> None:
    scores, targets = RNG.normal(size=(2, 3)), np.array([[0, 1, -1], [-1.5, 0.3, 1]])
    expected, slopes = 0.0, np.zeros((2, 3))
    for place in np.ndindex(2, 3):
        if int(targets[place]) != -1:
            chance = 1 / (1 + math.exp(-scores[place]))
            expected -= targets[place] * math.log(chance) + (1 - targets[place]) * math.log(1 - chance)
            slopes[place] = chance - targets[place]
    loss, grad = run_layer(sigmoid(f"ignore_label: -1 {fields}"), scores, targets)
    assert loss == pytest.approx(expected / divisor, rel=1e-5)
    np.testing.assert_allclose(grad, slopes / divisor, rtol=1e-5, atol=1e-7)


def test_sigmoid_loss_of_three_in_one_item() -> None:
    assert run_layer(sigmoid(), [[0, 0, 0]], [[1, 0, 1]])[0] == pytest.approx(3 * LN2)


@pytest.mark.parametrize("mode", ["VALID", "BATCH_SIZE"])
def test_sigmoid_loss_of_ignored_targets_is_zero(mode: str) -> None:
    loss, grad = run_layer(sigmoid(f"ignore_label: 7 normalization: {mode}"), [[1.0, np.nan]], [[7, 7]])
    assert loss == 0
    assert not grad.any()


def test_sigmoid_loss_wants_a_target_for_each_score() -> None:
    with pytest.raises(ShapeError, match=r"bottom 1: expected 6 targets.*\(2, 3\), got 2 in shape \(2,\)"):
        layer_net(sigmoid(), np.ones((2, 3)), [0, 1])


INFOGAIN = 'type: "InfogainLoss"'


def test_infogain_takes_raw_scores() -> None:
    loss, grad = run_layer(INFOGAIN, [[0, 0]], [0], [[2, 1], [0, 1]])
    assert loss == pytest.approx(3 * LN2)
    np.testing.assert_allclose(grad, [[-0.5, 0.5]], rtol=1e-6)


@pytest.mark.parametrize("normalization", ["FULL", "VALID", "BATCH_SIZE", "NONE"])
def test_infogain_with_the_identity_is_softmax_loss(normalization: str) -> None:
    scores, labels = RNG.normal(size=(2, 3, 4)), RNG.integers(0, 3, (2, 4))
    fields = f"loss_param {{ ignore_label: 1 normalization: {normalization} }}"
    loss, grad = run_layer(f"{INFOGAIN} {fields}", scores, labels, np.eye(3))
    expected, slopes = run_layer(f'type: "SoftmaxWithLoss" {fields}', scores, labels)
    assert loss == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(grad, slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_infogain_matrix_from_a_file(tmp_path: Path, backend: str) -> None:
    scores, labels, matrix = RNG.normal(size=(3, 2)), [1, 0, 1], RNG.normal(size=(2, 2))
    write_blob(tmp_path / "costs.binaryproto", matrix.reshape(1, 1, 2, 2))
    text = f'{INFOGAIN} infogain_loss_param {{ source: "costs.binaryproto" }}'
    stored = run_layer(text, scores, labels, base_dirs=(tmp_path,), backend=backend)
    connected = run_layer(INFOGAIN, scores, labels, matrix, backend=backend)
    for mine, theirs in zip(stored, connected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_infogain_has_a_shape_where_its_file_is_not() -> None:
    text = f'{INFOGAIN} infogain_loss_param {{ source: "gone" }}'
    assert layer_net(text, np.ones((2, 3)), [0, 1], shapes_only=True).blobs["top"].shape == ()


def test_infogain_file_of_another_size_is_refused(tmp_path: Path) -> None:
    write_blob(tmp_path / "costs", np.eye(2))
    with pytest.raises(ShapeError, match=r"\(InfogainLoss\): expected a matrix of 3 x 3 .*got shape \(2, 2\)"):
        text = f'{INFOGAIN} infogain_loss_param {{ source: "costs" }}'
        layer_net(text, np.ones((2, 3)), [0, 1], base_dirs=(tmp_path,))


def test_wrong_infogain_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LayerError, match="expected a matrix, got none.*third bottom"):
        layer_net(INFOGAIN, np.ones((2, 3)), [0, 1])
    with pytest.raises(LayerError, match="'gone.binaryproto' was not found; tried '.*gone.binaryproto'"):
        layer_net(
            f'{INFOGAIN} infogain_loss_param {{ source: "gone.binaryproto" }}',
            np.ones((2, 3)),
            [0, 1],
            base_dirs=(tmp_path,),
        )
    with pytest.raises(ShapeError, match=r"bottom 2: expected a matrix of 3 x 3 .*got shape \(2, 2\)"):
        layer_net(INFOGAIN, np.ones((2, 3)), [0, 1], np.eye(2))
    with pytest.raises(LayerError, match="got normalize"):
        layer_net(f"{INFOGAIN} loss_param {{ normalize: true }}", np.ones((2, 3)), [0, 1], np.eye(3))


@pytest.mark.parametrize("kind", ["HingeLoss", "MultinomialLogisticLoss", "SigmoidCrossEntropyLoss"])
def test_empty_batches_cost_nothing(kind: str) -> None:
    targets = np.zeros((0, 3) if kind.startswith("Sigmoid") else 0)
    loss, grad = run_layer(f'type: "{kind}"', np.ones((0, 3)), targets)
    assert str(loss) == "0.0" and grad.shape == (0, 3)
