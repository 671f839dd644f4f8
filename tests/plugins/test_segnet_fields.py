"""SegNet's fields of built-in layers: a weight for each class of a loss, and dropout that goes on when testing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import Values, normal

WEIGHTS = [0.5, 2.0, 3.0]
GIVEN = "weight_by_label_freqs: true " + " ".join(f"class_weighting: {weight}" for weight in WEIGHTS)
LABELS = np.random.default_rng(8).integers(0, 3, (4, 1, 2, 5)).astype(np.float32)
LABELS[0, 0, 0, :3] = 1  # more of one class than of others


def case(fields: str, labels: Values = LABELS, **options: Any) -> LayerCase:
    text = f'type: "SoftmaxWithLoss" loss_param {{ {fields} }}'
    return LayerCase(text, [normal(4, 3, 2, 5), labels], no_gradient=[1], **options)


def loss_of(scores: Values, labels: Values, weights: Any, *, ignore: int | None, by_images: bool) -> float:
    powers = np.exp(scores.astype(np.float64))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    total, count = 0.0, 0
    for image, row, column in np.ndindex(4, 2, 5):
        label = int(labels[image, 0, row, column])
        if label != ignore:
            total -= weights[label] * np.log(probabilities[image, label, row, column])
            count += 1
    return total / (4 if by_images else count)


@pytest.mark.parametrize("ignore", [None, 1, 255])
@pytest.mark.parametrize("by_images", [False, True])
@pytest.mark.parametrize("given", [True, False])
def test_the_loss_is_the_sum_of_weighed_labels(ignore: int | None, by_images: bool, given: bool) -> None:
    labels = LABELS.copy()
    if ignore == 255:
        labels[1, 0, 1] = 255
    fields = GIVEN if given else "weight_by_label_freqs: true"
    fields += f" ignore_label: {ignore}" if ignore is not None else ""
    fields += " normalize: false" if by_images else ""
    weights = WEIGHTS if given else [1 / (labels == each).sum() for each in range(3)]
    made = case(fields, labels)
    expected = loss_of(made.bottoms[0], labels, weights, ignore=ignore, by_images=by_images)
    assert Rig(made, dtype=np.float64).run().loss == pytest.approx(expected, rel=1e-9)
    check_layer(made)


def test_equal_weights_are_the_built_in_loss() -> None:
    ones = GIVEN.replace("0.5", "1").replace("2.0", "1").replace("3.0", "1")
    mine, theirs = (Rig(case(fields)).run() for fields in (f"{ones} ignore_label: 2", "ignore_label: 2"))
    for (name, got), (_, expected) in zip(mine.arrays(), theirs.arrays(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7, err_msg=name)


def test_probabilities_are_the_second_top() -> None:
    top = Rig(case(GIVEN, tops=2)).run().tops[1]
    np.testing.assert_allclose(top.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("fields", ["", "weight_by_label_freqs: false"])
def test_without_the_field_the_layer_is_the_built_in_one(fields: str) -> None:
    assert Rig(case(fields)).layer.info.builtin
    assert Rig(case(GIVEN)).layer.info.plugin == "segmentation"


@pytest.mark.parametrize(
    ("fields", "labels", "fault"),
    [
        (GIVEN + " class_weighting: 1", LABELS, "a class_weighting for each of 3 classes, got 4"),
        (GIVEN, LABELS + 1, "labels from 0 to 2, got 3"),
        (GIVEN, LABELS[:, :, :1], "expected 40 labels"),
        (GIVEN + " normalization: FULL", LABELS, "expected normalize, not normalization"),
    ],
)
def test_what_does_not_fit_is_refused(fields: str, labels: Values, fault: str) -> None:
    with pytest.raises(NetcanvasError, match=fault):
        Rig(case(fields, labels)).run()


def dropout(fields: str, phase: Phase, *, in_place: bool = False) -> LayerCase:
    text = f'type: "Dropout" dropout_param {{ dropout_ratio: 0.25 {fields} }}'
    return LayerCase(text, [1 + abs(normal(20, 50))], phase=phase, in_place=in_place)


class TestDropout:
    @pytest.mark.parametrize("in_place", [False, True])
    @pytest.mark.parametrize("phase", list(Phase))
    def test_it_passes_the_checks_for_layers(self, phase: Phase, in_place: bool) -> None:
        check_layer(dropout("sample_weights_test: true", phase, in_place=in_place))

    @pytest.mark.parametrize("phase", list(Phase))
    def test_it_drops_and_scales_in_both_phases(self, phase: Phase) -> None:
        made = dropout("sample_weights_test: true", phase)
        ratio = Rig(made).run().tops[0] / made.bottoms[0]
        kept = ratio != 0
        np.testing.assert_allclose(ratio[kept], 4 / 3, rtol=1e-6)
        assert 0.7 < kept.mean() < 0.8

    def test_two_passes_of_a_test_differ(self) -> None:
        rig = Rig(dropout("sample_weights_test: true", Phase.TEST))
        rig.load(rig.case.bottoms)
        tops = []
        for _ in range(2):
            rig.net.forward()
            tops.append(rig.net.blobs["top0"].data.copy())
        assert not np.array_equal(*tops)

    def test_without_the_field_testing_passes_on(self) -> None:
        made = dropout("sample_weights_test: false", Phase.TEST)
        np.testing.assert_array_equal(Rig(made).run().tops[0], made.bottoms[0])
