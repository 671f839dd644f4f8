"""``MultiBoxLoss`` of ``plugins/ssd`` against its formulas, image by image and box by box."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import Values
from tests.plugins.ssd_references import box_loss, class_loss, decode, encode, jaccard, matched, size

CLASSES, ITEMS = 4, 3


@dataclass(frozen=True)
class Setting:
    """What a message says, in its words and in the reference's."""

    fields: str = ""
    code: str = "CORNER"
    each: bool = True
    threshold: float = 0.5
    mining: str = "MAX_NEGATIVE"
    ratio: float = 3
    overlap: float = 0.5
    sample: int = 64
    nms: float = 0
    nms_prior: bool = False
    logistic: bool = False
    squared: bool = False
    weight: float = 1
    shared: bool = True
    by_prior: bool = True
    difficult: bool = True
    inside: bool = False
    agnostic: bool = False
    normalization: str = "VALID"
    outer: str = ""
    counts: tuple[bool, bool] = (True, True)


SETTINGS = {
    "default": Setting(),
    "center": Setting("code_type: CENTER_SIZE", code="CENTER_SIZE"),
    "corner size": Setting("code_type: CORNER_SIZE", code="CORNER_SIZE"),
    "bipartite": Setting("match_type: BIPARTITE", each=False),
    "threshold": Setting("overlap_threshold: 0.2", threshold=0.2),
    "few negatives": Setting("neg_pos_ratio: 0.7 neg_overlap: 0.3", ratio=0.7, overlap=0.3),
    "no mining": Setting("mining_type: NONE", mining="NONE"),
    "hard examples": Setting("mining_type: HARD_EXAMPLE sample_size: 9", mining="HARD_EXAMPLE", sample=9),
    "nms before mining": Setting("nms_param { nms_threshold: 0.3 top_k: 100 }", nms=0.3),
    "nms of priors": Setting(
        "nms_param { nms_threshold: 0.3 top_k: 100 } use_prior_for_nms: true", nms=0.3, nms_prior=True
    ),
    "logistic": Setting("conf_loss_type: LOGISTIC", logistic=True),
    "logistic without mining": Setting("conf_loss_type: LOGISTIC mining_type: NONE", logistic=True, mining="NONE"),
    "squared": Setting("loc_loss_type: L2 loc_weight: 0.3", squared=True, weight=0.3),
    "box classes": Setting("share_location: false mining_type: NONE", shared=False, mining="NONE"),
    "matching predictions": Setting(
        "use_prior_for_matching: false code_type: CENTER_SIZE overlap_threshold: 0.3",
        by_prior=False,
        code="CENTER_SIZE",
        threshold=0.3,
    ),
    "box classes of predictions": Setting(
        "use_prior_for_matching: false share_location: false mining_type: NONE overlap_threshold: 0.3",
        by_prior=False,
        shared=False,
        mining="NONE",
        threshold=0.3,
    ),
    "easy objects": Setting("use_difficult_gt: false", difficult=False),
    "inside only": Setting("ignore_cross_boundary_bbox: true bp_inside: true", inside=True),
    "full": Setting(outer="loss_param { normalization: FULL }", normalization="FULL"),
    "batch": Setting(outer="loss_param { normalize: false }", normalization="BATCH_SIZE"),
    "none": Setting(outer="loss_param { normalization: NONE }", normalization="NONE"),
    "boxes only": Setting(outer="propagate_down: [true, false, false, false]", counts=(True, False)),
    "classes only": Setting(outer="propagate_down: [false, true, false, false]", counts=(False, True)),
}
AGNOSTIC = "map_object_to_agnostic: true"


def case_for(setting: Setting, seed: int = 1, boxes: int = 40, classes: int = CLASSES) -> LayerCase:
    rng = np.random.default_rng(seed)

    def some(count: int, least: float) -> Values:
        centres, half = rng.uniform(0.1, 0.9, (count, 2)), rng.uniform(least, 0.25, (count, 2))
        return np.concatenate((centres - half, centres + half), axis=1)

    priors = np.stack((some(boxes, 0.1).ravel(), np.tile([0.1, 0.1, 0.2, 0.2], boxes)))[np.newaxis]
    labels = np.zeros((7, 8))
    labels[:, 0], labels[:, 1] = [0, 0, 0, 1, 1, 1, -1], rng.integers(1, classes, 7)
    labels[:, 3:7], labels[:, 7] = some(7, 0.12), [0, 1, 0, 0, 0, 1, 0]
    kinds = 1 if setting.shared else classes
    bottoms = [
        rng.standard_normal((ITEMS, boxes * kinds * 4)),
        2 * rng.standard_normal((ITEMS, boxes * classes)),
        priors,
        labels[np.newaxis, np.newaxis],
    ]
    outer = setting.outer if "propagate_down" in setting.outer else f"{setting.outer} {FLOWS}"
    text = f'type: "MultiBoxLoss" {outer} multibox_loss_param {{ num_classes: {classes} {setting.fields} }}'
    unwanted = [index for index in (0, 1) if not setting.counts[index]]
    return LayerCase(text, bottoms, no_gradient=[2, 3, *unwanted], batched=False)


FLOWS = "propagate_down: [true, true, false, false]"


def reference(case: LayerCase, setting: Setting) -> float:
    """Return the loss."""
    coded, scores, priors, labels = (np.asarray(values, np.float64) for values in case.bottoms)
    corners, variances = priors[0].reshape(2, -1, 4)
    count = len(corners)
    coded, scores = coded.reshape(ITEMS, count, -1, 4), scores.reshape(ITEMS, count, CLASSES)
    loss, positives = np.zeros(2), 0
    for item in range(ITEMS):
        rows = [row for row in labels[0, 0] if row[0] == item and (setting.difficult or not row[7])]
        objects, of = [row[3:7] for row in rows], [int(row[1]) for row in rows]
        target = [0] * count
        learns: list[int] = []
        for kind in range(coded.shape[2]):
            if not objects or (not setting.shared and kind == 0):
                continue
            boxes = [decode(coded[item, p, kind], corners[p], variances[p], setting.code) for p in range(count)]
            matches, best = matches_of(setting, objects, of, corners if setting.by_prior else boxes, kind)
            wanted = {p: encode(objects[g], corners[p], variances[p], setting.code) for p, g in matches.items()}
            predicted = {p: list(coded[item, p, kind]) for p in matches}
            if setting.inside:
                for p, code in predicted.items():
                    predicted[p] = [
                        w if not 0 <= edge <= 1 else v for v, w, edge in zip(code, wanted[p], corners[p], strict=True)
                    ]
            box_losses = {p: box_loss(predicted[p], wanted[p], setting.squared) for p in matches}
            losses = [
                class_loss(scores[item, p], of[matches[p]] if p in matches else 0, setting.logistic)
                for p in range(count)
            ]
            if setting.mining == "HARD_EXAMPLE":
                order = sorted(range(count), key=lambda p: -losses[p] - box_losses.get(p, 0.0))[: setting.sample]
                matches = {p: g for p, g in matches.items() if p in order}
                learns += order
            elif setting.mining == "MAX_NEGATIVE":
                eligible = [p for p in range(count) if p not in matches and best[p] < setting.overlap]
                most = min(int(len(matches) * setting.ratio), len(eligible))
                order = sorted(eligible, key=lambda p: -losses[p])
                if setting.nms:
                    places = corners if setting.nms_prior else boxes
                    order = apart(order, places, setting.nms)
                learns += [*matches, *order[:most]]
            loss[0] += sum(box_losses[p] for p in matches)
            positives += len(matches)
            for p, g in matches.items():
                target[p] = of[g]
        for p in range(count) if setting.mining == "NONE" else learns:
            if setting.logistic and setting.mining == "NONE" and not target[p]:
                loss[1] += sum(math.log1p(math.exp(s)) for s in scores[item, p])  # no class at all is right
            else:
                loss[1] += class_loss(scores[item, p], target[p], setting.logistic)
    divisor = {"VALID": positives, "FULL": ITEMS * count, "BATCH_SIZE": ITEMS, "NONE": 1}[setting.normalization]
    return float((loss * [setting.weight, 1] * np.array(setting.counts)).sum() / max(divisor, 1))


def matches_of(
    setting: Setting, objects: list[Any], of: list[int], boxes: Any, kind: int
) -> tuple[dict[int, int], list[float]]:
    mine = [g for g in range(len(objects)) if setting.shared or setting.by_prior or of[g] == kind]
    allowed = [p for p in range(len(boxes)) if not setting.inside or (min(boxes[p]) >= 0 and max(boxes[p]) <= 1)]
    found, best = matched([objects[g] for g in mine], [boxes[p] for p in allowed], setting.threshold, setting.each)
    matches = {allowed[i]: mine[g] for i, g in enumerate(found) if g > -1}
    overlaps = [9.0] * len(boxes)  # ignored ones never learn
    for i, p in enumerate(allowed):
        overlaps[p] = best[i]
    return {p: g for p, g in matches.items() if setting.shared or of[g] == kind}, overlaps


def apart(order: list[int], boxes: Any, threshold: float) -> list[int]:
    kept: list[int] = []
    for p in order:
        if size(boxes[p]) > 1e-5 and all(jaccard(boxes[p], boxes[q]) <= threshold for q in kept):
            kept.append(p)
    return kept


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_the_loss_of_ssd(name: str, seed: int) -> None:
    setting = SETTINGS[name]
    case = case_for(setting, seed)
    outcome = Rig(case, dtype=np.float64).run([np.float64(values) for values in case.bottoms])
    assert outcome.tops[0] == pytest.approx(reference(case, setting), rel=1e-6)


@pytest.mark.parametrize("name", SETTINGS)
def test_it_passes_the_checks_for_layers(name: str) -> None:
    check_layer(case_for(SETTINGS[name]))


def test_objects_of_all_classes_may_be_one() -> None:
    two, agnostic = (case_for(Setting(fields), classes=2) for fields in ("", AGNOSTIC))
    labels = agnostic.bottoms[3]
    labels[..., 1] = 9  # no class of the two
    assert Rig(agnostic).run().loss == pytest.approx(Rig(two).run().loss)


def test_an_unknown_class_is_refused() -> None:
    case = case_for(Setting())
    case.bottoms[3][0, 0, 2, 1] = CLASSES
    with pytest.raises(NetcanvasError, match=f"labels of objects below {CLASSES}, got {CLASSES}"):
        Rig(case).run()


def test_without_objects_nothing_is_learned() -> None:
    case = case_for(Setting())
    case.bottoms[3][..., 0] = -1
    outcome = Rig(case).run()
    assert outcome.loss == 0
    assert all(grad is None or not grad.any() for grad in outcome.bottom_grads)


def test_the_number_of_objects_may_change() -> None:
    case = case_for(Setting())
    rig = Rig(case)
    for count in (3, 7, 1):
        bottoms = [*case.bottoms[:3], case.bottoms[3][:, :, :count]]
        fresh = Rig(LayerCase(case.text, bottoms, no_gradient=[2, 3], batched=False)).run()
        np.testing.assert_array_equal(rig.run(bottoms, poison=True).bottom_grads[0], fresh.bottom_grads[0])


def test_variances_in_the_target_only_scale_the_loss() -> None:
    """Coded boxes are then compared after both were divided by the variances."""
    plain, scaled = (case_for(Setting(f"{fields} loc_loss_type: L2")) for fields in ("", VARIANCE))
    scaled.bottoms[0][...] = plain.bottoms[0] * np.tile([0.1, 0.1, 0.2, 0.2], 40)
    assert Rig(scaled).run().loss == pytest.approx(Rig(plain).run().loss, rel=1e-5)


VARIANCE = "encode_variance_in_target: true"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("share_location: false", "expected share_location with mining"),
        ("mining_type: NONE do_neg_mining: true", "contradict each other"),
        ("background_label_id: 4", "background_label_id below 4, got 4"),
        (AGNOSTIC, "expected 2 classes with map_object_to_agnostic, got 4"),
        ("background_label_id: 1", "no object with the label of the background, 1"),
    ],
)
def test_what_does_not_fit_is_refused(fields: str, message: str) -> None:
    shared = "share_location: false" not in fields
    with pytest.raises(NetcanvasError, match=message):
        Rig(case_for(Setting(fields, shared=shared))).run()


@pytest.mark.slow
def test_it_is_fast_enough_for_ssd300() -> None:
    """32 images of 8732 boxes and 21 classes, measured 1 s forward and backward on one core."""
    rng = np.random.default_rng(0)
    case = case_for(Setting("code_type: CENTER_SIZE"), boxes=8732, classes=21)
    bottoms = [
        rng.standard_normal((32, 8732 * 4)),
        rng.standard_normal((32, 8732 * 21)),
        case.bottoms[2],
        np.tile(case.bottoms[3], (1, 1, 16, 1)),
    ]
    bottoms[3][0, 0, :, 0] = np.arange(bottoms[3].shape[2]) % 32
    rig = Rig(LayerCase(case.text, bottoms, no_gradient=[2, 3], batched=False))
    rig.load(bottoms)
    seconds = []
    for _ in range(2):
        start = time.thread_time()
        rig.net.forward()
        rig.net.backward()
        seconds.append(time.thread_time() - start)
    assert min(seconds) < 3


def test_the_number_of_images_may_change() -> None:
    case = case_for(Setting("code_type: CENTER_SIZE"))
    rig = Rig(case)
    for images in (3, 1, 2):
        bottoms = [*(values[:images] for values in case.bottoms[:2]), *case.bottoms[2:]]
        fresh = Rig(LayerCase(case.text, bottoms, no_gradient=[2, 3], batched=False)).run()
        for (what, mine), (_, theirs) in zip(rig.run(bottoms, poison=True).arrays(), fresh.arrays(), strict=True):
            np.testing.assert_array_equal(mine, theirs, what)
