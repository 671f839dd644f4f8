"""Fields of built-in layers that Fast R-CNN's and R-FCN's Caffe have: late scaling, and losses of each region."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.registry import default_registry
from engine.schema import load_schema, read_net
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import normal

DROPOUT = 'type: "Dropout" dropout_param { scale_train: false dropout_ratio: 0.3 }'
SCORES, LABELS = normal(6, 4), np.array([0, 3, 1, -1, 2, 1], np.float32)


def dropout(phase: Phase, **options: Any) -> LayerCase:
    return LayerCase(DROPOUT, [normal(40, 30)], phase=phase, **options)


@pytest.mark.parametrize("in_place", [False, True])
def test_dropout_scales_in_testing(in_place: bool) -> None:
    case = dropout(Phase.TEST, in_place=in_place)
    check_layer(case)
    np.testing.assert_allclose(Rig(case).run().tops[0], np.float32(0.7) * case.bottoms[0], rtol=1e-6)


def test_dropout_does_not_scale_in_training() -> None:
    case = dropout(Phase.TRAIN)
    outcome = Rig(case).run()
    kept = outcome.tops[0] != 0
    assert 0.65 < kept.mean() < 0.75
    np.testing.assert_array_equal(outcome.tops[0], np.where(kept, case.bottoms[0], 0))
    given = np.float32(Rig(case).top_grads()["top0"])
    np.testing.assert_array_equal(outcome.bottom_grads[0], np.where(kept, given, 0))


def test_the_built_in_dropout_is_the_one_without_the_field() -> None:
    for fields, plugin in (("", ""), ("scale_train: true", ""), ("scale_train: false", "rcnn")):
        net = Rig(LayerCase(f'type: "Dropout" dropout_param {{ {fields} }}', [normal(2, 3)])).net
        assert net.layer("subject").info.plugin == plugin, fields


def softmax(fields: str = "", *, labels: Any = LABELS, **options: Any) -> LayerCase:
    text = f'type: "SoftmaxWithLoss" loss_param {{ ignore_label: -1 {fields} }}'
    return LayerCase(text, [SCORES, labels], no_gradient=[1], tops=3, ungraded_tops=[1, 2], batched=False, **options)


@pytest.mark.parametrize(
    ("fields", "divisor"),
    [
        ("", 5),
        ("normalization: FULL", 6),
        ("normalization: BATCH_SIZE", 6),
        ("normalization: NONE", 1),
        ("normalize: false", 6),
    ],
)
def test_a_third_top_has_the_loss_of_each_region(fields: str, divisor: float) -> None:
    case = softmax(fields)
    check_layer(case)
    loss, probabilities, losses = Rig(case, dtype=np.float64).run().tops
    powers = np.exp(SCORES.astype(np.float64))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-9)
    terms = [0 if label < 0 else -np.log(expected[i, int(label)]) for i, label in enumerate(LABELS)]
    np.testing.assert_allclose(losses, terms, rtol=1e-9)
    assert loss == pytest.approx(sum(terms) / divisor, rel=1e-9)


def test_losses_of_all_positions_of_planes() -> None:
    labels = np.random.default_rng(2).integers(0, 3, (2, 1, 4, 5)).astype(np.float32)
    text = 'type: "SoftmaxWithLoss"'
    case = LayerCase(text, [normal(2, 3, 4, 5), labels], no_gradient=[1], tops=3, ungraded_tops=[1, 2])
    check_layer(case)
    loss, _, losses = Rig(case).run().tops
    assert losses.shape == labels.shape and losses.mean() == pytest.approx(float(loss), rel=1e-5)


def test_two_tops_are_the_built_in_loss() -> None:
    built_in = LayerCase(softmax().text, [SCORES, LABELS], no_gradient=[1], tops=2, ungraded_tops=[1], batched=False)
    mine, theirs = (Rig(case).run() for case in (softmax(), built_in))
    assert mine.loss == pytest.approx(theirs.loss, rel=1e-6)
    np.testing.assert_allclose(mine.bottom_grads[0], theirs.bottom_grads[0], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("fields", "labels", "message"),
    [
        ("", np.full(6, 4, np.float32), "labels from 0 to 3, got 4"),
        ("normalization: PRE_FIXED", LABELS, "PRE_FIXED, which is SmoothL1Loss's"),
        ("", np.zeros(5, np.float32), "expected 6 labels"),
    ],
)
def test_what_does_not_fit_is_refused(fields: str, labels: Any, message: str) -> None:
    with pytest.raises(NetcanvasError, match=message):
        Rig(softmax(fields, labels=labels)).run()


@pytest.mark.parametrize("dialect", ["bvlc", "rfcn", "intel"])
def test_the_word_of_r_fcn_stands_beside_those_of_all(dialect: str) -> None:
    """In BVLC's Caffe its number is that of NONE, so that it has none of a file of weights there."""
    (ours,) = (each for each in default_registry(safe=True).fragments if each.plugin == "rcnn")
    schema = load_schema(dialect, [ours])
    assert schema.clashes == ()
    words = schema.message("LossParameter").DESCRIPTOR.enum_types_by_name["NormalizationMode"].values_by_name
    assert len({word.number for word in words.values()}) == len(words) == 5
    assert (words["PRE_FIXED"].number == 3) == (dialect != "bvlc")
    assert words["NONE"].number == (3 if dialect == "bvlc" else 4)


def test_a_net_of_r_fcn_is_read_without_its_dialect() -> None:
    text = 'layer { name: "a" type: "SmoothL1Loss" loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 128 } }'
    loss = read_net(text, schema=default_registry().schema()).layer[0].loss_param
    assert loss.pre_fixed_normalizer == 128 and loss.normalization > 4


MINED = """
input: "rois" input_shape { dim: 6 dim: 5 }
input: "scores" input_shape { dim: 6 dim: 3 }
input: "labels" input_shape { dim: 6 }
input: "boxes" input_shape { dim: 6 dim: 4 }
input: "targets" input_shape { dim: 6 dim: 4 }
input: "weights" input_shape { dim: 6 dim: 4 }
force_backward: true
layer { name: "each_class" type: "SoftmaxWithLoss" bottom: "scores" bottom: "labels"
  top: "all_class" top: "chances" top: "class_losses" loss_weight: [0, 0, 0] propagate_down: [false, false] }
layer { name: "each_box" type: "SmoothL1Loss" bottom: "boxes" bottom: "targets" bottom: "weights"
  top: "all_box" top: "box_losses" loss_weight: [0, 0] propagate_down: [false, false, false] }
layer { name: "class_column" type: "Reshape" bottom: "class_losses" top: "class_column"
  reshape_param { shape { dim: [0, 1, 1, 1] } } propagate_down: false }
layer { name: "each" type: "Eltwise" bottom: "class_column" bottom: "box_losses" top: "losses"
  propagate_down: [false, false] }
layer { name: "mine" type: "BoxAnnotatorOHEM" bottom: "rois" bottom: "losses" bottom: "labels" bottom: "weights"
  top: "hard_labels" top: "hard_weights" box_annotator_ohem_param { roi_per_img: 2 }
  propagate_down: [false, false, false, false] }
layer { name: "loss_class" type: "SoftmaxWithLoss" bottom: "scores" bottom: "hard_labels" top: "loss_class"
  loss_param { ignore_label: -1 } propagate_down: [true, false] }
layer { name: "loss_box" type: "SmoothL1Loss" bottom: "boxes" bottom: "targets" bottom: "hard_weights" top: "loss_box"
  loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 2 } propagate_down: [true, false, false] }
"""


def test_only_the_regions_with_the_largest_losses_learn() -> None:
    """The end of R-FCN's nets for training with online hard example mining."""
    net = Net(MINED, Phase.TRAIN)
    rng = np.random.default_rng(5)
    given = {name: rng.normal(size=net.blobs[name].shape) for name in ("scores", "boxes", "targets")}
    given |= {"rois": np.zeros((6, 5)), "labels": np.array([0, 1, 2, 0, 1, 2]), "weights": np.ones((6, 4))}
    for name, values in given.items():
        net.blobs[name].data[...] = values
    net.forward()
    net.backward()
    powers = np.exp(given["scores"])
    of_class = -np.log((powers / powers.sum(axis=1, keepdims=True))[np.arange(6), given["labels"].astype(int)])
    size = np.abs(given["boxes"] - given["targets"])
    of_box = np.where(size < 1, 0.5 * size**2, size - 0.5).sum(axis=1)
    hard = np.argsort(-(of_class + of_box))[:2]
    assert net.blobs["loss_class"].data == pytest.approx(of_class[hard].mean(), rel=1e-5)
    assert net.blobs["loss_box"].data == pytest.approx(of_box[hard].sum() / 2, rel=1e-5)
    for name in ("scores", "boxes"):
        assert set(np.flatnonzero(net.blobs[name].diff.any(axis=1)).tolist()) == set(hard.tolist())
