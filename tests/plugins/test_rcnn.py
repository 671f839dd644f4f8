"""The layers of ``plugins/rcnn``: Fast and Faster R-CNN's, and R-FCN's."""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.registry import default_registry
from engine.resources import plugins_path
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import Values, check_against, normal

# in pixels of an image whose features are a tenth of its size; in and out of it, small, and with corners swapped
REGIONS = np.array(
    [
        [0, 0, 0, 60, 60],
        [1, 10, 5, 90, 70],
        [0, -20, -20, 10, 10],
        [1, 200, 200, 300, 300],
        [0, 30, 30, 20, 20],
        [1, 15, 25, 34, 45],
    ],
    np.float32,
)
ROI = 'type: "ROIPooling" roi_pooling_param { pooled_h: 3 pooled_w: 4 spatial_scale: 0.1 }'
PSROI = 'type: "PSROIPooling" psroi_pooling_param { output_dim: 2 group_size: 3 spatial_scale: 0.1 }'
WEIGHTS = np.random.default_rng(5).uniform(0, 2, (2, 4, 3, 2, 2)).astype(np.float32)
CASES = {
    "roi pooling": LayerCase(ROI, [normal(2, 3, 8, 9), REGIONS], no_gradient=[1], batched=False),
    "psroi pooling": LayerCase(PSROI, [normal(2, 18, 8, 9), REGIONS], no_gradient=[1], batched=False),
    "smooth l1": LayerCase('type: "SmoothL1Loss"', [2 * normal(4, 3, 2, 2), normal(4, 3, 2, 2, seed=2)]),
    "smooth l1, sigma": LayerCase(
        'type: "SmoothL1Loss" smooth_l1_loss_param { sigma: 1.5 }', [normal(4, 6), normal(4, 6, seed=2)]
    ),
    "smooth l1, weights": LayerCase(
        'type: "SmoothL1Loss" smooth_l1_loss_param { sigma: 1.5 } loss_weight: 2',
        [normal(4, 3, 2, 2), normal(4, 3, 2, 2, seed=2), *WEIGHTS],
        no_gradient=[2, 3],
    ),
    "smooth l1, inside weights": LayerCase(
        'type: "SmoothL1Loss" loss_param { normalization: FULL }',
        [normal(4, 3, 2, 2), normal(4, 3, 2, 2, seed=2), WEIGHTS[0]],
        no_gradient=[2],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_passes_the_checks_for_layers(name: str) -> None:
    check_layer(CASES[name])


@pytest.mark.parametrize("name", ["roi pooling", "psroi pooling"])
def test_the_number_of_regions_may_change(name: str) -> None:
    case = CASES[name]
    rig = Rig(case)
    for regions in (REGIONS[:2], REGIONS, REGIONS[3:4], REGIONS[:0]):
        bottoms = [case.bottoms[0], regions]
        fresh = Rig(LayerCase(case.text, bottoms, no_gradient=[1]))
        for (what, mine), (_, theirs) in zip(rig.run(bottoms, poison=True).arrays(), fresh.run().arrays(), strict=True):
            np.testing.assert_array_equal(mine, theirs, what)


def away(value: float) -> int:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def roi_reference(features: Values, regions: Values) -> Values:
    out = np.zeros((len(regions), features.shape[1], 3, 4))
    for r, (image, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (away(corner * 0.1) for corner in corners)
        height, width = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i, j in product(range(3), range(4)):
            rows = [y1 + k for k in range(math.floor(i * height / 3), math.ceil((i + 1) * height / 3))]
            columns = [x1 + k for k in range(math.floor(j * width / 4), math.ceil((j + 1) * width / 4))]
            rows = [y for y in rows if 0 <= y < features.shape[2]]
            columns = [x for x in columns if 0 <= x < features.shape[3]]
            if rows and columns:
                out[r, :, i, j] = features[int(image)][:, rows][:, :, columns].max(axis=(1, 2))
    return out


def psroi_reference(features: Values, regions: Values) -> Values:
    out = np.zeros((len(regions), 2, 3, 3))
    for r, (image, *corners) in enumerate(regions):
        x1, y1 = away(corners[0]) * 0.1, away(corners[1]) * 0.1
        x2, y2 = (away(corners[2]) + 1) * 0.1, (away(corners[3]) + 1) * 0.1
        high, wide = max(y2 - y1, 0.1) / 3, max(x2 - x1, 0.1) / 3
        for c, i, j in product(range(2), range(3), range(3)):
            rows = [y for y in range(math.floor(y1 + i * high), math.ceil(y1 + (i + 1) * high)) if 0 <= y < 8]
            columns = [x for x in range(math.floor(x1 + j * wide), math.ceil(x1 + (j + 1) * wide)) if 0 <= x < 9]
            if rows and columns:
                out[r, c, i, j] = features[int(image), (c * 3 + i) * 3 + j][np.ix_(rows, columns)].mean()
    return out


def test_roi_pooling_is_the_maximum_of_each_cell() -> None:
    check_against(CASES["roi pooling"], roi_reference)


def test_psroi_pooling_is_the_mean_of_each_cell() -> None:
    check_against(CASES["psroi pooling"], psroi_reference)


def test_the_gradient_goes_to_the_first_of_equal_values() -> None:
    features = np.zeros((1, 1, 4, 4), np.float32)
    text = 'type: "ROIPooling" roi_pooling_param { pooled_h: 1 pooled_w: 1 }'
    rig = Rig(LayerCase(text, [features, np.array([[0, 1, 1, 2, 3]], np.float32)], no_gradient=[1]))
    grad = rig.run().bottom_grads[0]
    assert grad is not None and [tuple(place) for place in np.argwhere(grad[0, 0])] == [(1, 1)]


def smooth_l1_reference(a: Values, b: Values, inside: Values, outside: Values) -> Values:
    total = 0.0
    for x, y, w, v in zip(a.flat, b.flat, inside.flat, outside.flat, strict=True):
        d = w * (x - y)
        total += v * (0.5 * (1.5 * d) ** 2 if abs(d) < 1 / 2.25 else abs(d) - 0.5 / 2.25)
    return np.array(total / len(a))


def test_smooth_l1_weighs_before_and_after() -> None:
    check_against(CASES["smooth l1, weights"], smooth_l1_reference, rtol=1e-6)


@pytest.mark.parametrize(
    ("fields", "dialect", "divisor"),
    [
        ("", "", 4),
        ("normalization: FULL", "", 16),
        ("normalization: VALID", "", 16),
        ("normalization: BATCH_SIZE", "", 4),
        ("normalization: NONE", "", 1),
        ("normalize: true", "", 16),
        ("normalize: false", "", 4),
        ("normalization: PRE_FIXED pre_fixed_normalizer: 8", "rfcn", 8),
        ("normalization: PRE_FIXED pre_fixed_normalizer: 8", "", 8),
    ],
)
def test_loss_param_says_what_the_loss_is_divided_by(fields: str, dialect: str, divisor: float) -> None:
    from engine import prototxt
    from engine.schema import to_message

    a, b = normal(4, 3, 2, 2), normal(4, 3, 2, 2, seed=2)
    registry = default_registry()
    text = LayerCase(f'type: "SmoothL1Loss" loss_param {{ {fields} }}', [a, b], tops=2).net_text()
    message = to_message(
        prototxt.parse(text.encode()).root, "NetParameter", schema=registry.schema(dialect), strict=True
    )
    net = Net(message, Phase.TRAIN, registry=registry, dtype=np.float64)
    net.blobs["bottom0"].data[...], net.blobs["bottom1"].data[...] = a, b
    net.forward()
    size = np.abs(np.float64(a) - b)
    losses = np.where(size < 1, 0.5 * size**2, size - 0.5)
    assert net.blobs["top0"].data == pytest.approx(losses.sum() / divisor, rel=1e-9)
    np.testing.assert_allclose(net.blobs["top1"].data, losses.sum(axis=1, keepdims=True), rtol=1e-9)


# -- proposals -----------------------------------------------------------------------------------------------------

ANCHORS = [  # of py-faster-rcnn, counted from 1 in its comments
    [-84, -40, 99, 55],
    [-176, -88, 191, 103],
    [-360, -184, 375, 199],
    [-56, -56, 71, 71],
    [-120, -120, 135, 135],
    [-248, -248, 263, 263],
    [-36, -80, 51, 95],
    [-80, -168, 95, 183],
    [-168, -344, 183, 359],
]


def proposal_case(fields: str = "", images: int = 1, phase: Phase = Phase.TEST, seed: int = 3) -> LayerCase:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0, 1, (images, 18, 5, 6)).astype(np.float32)
    offsets = (0.2 * rng.standard_normal((images, 36, 5, 6))).astype(np.float32)
    sizes = np.array([[300, 400, 1.5], [240, 380, 1.0]], np.float32)[:images]
    text = f'type: "Proposal" proposal_param {{ feat_stride: 64 {fields} }}'
    return LayerCase(text, [scores, offsets, sizes], tops=2, no_gradient=[0, 1, 2], batched=False, phase=phase)


def proposal_reference(
    case: LayerCase, before: int, after: int, threshold: float = 0.7, least: float = 16
) -> tuple[Values, list[float]]:
    scores, offsets, sizes = (np.float64(values) for values in case.bottoms)
    regions, chances = [], []
    for n in range(len(scores)):
        height, width, scale = sizes[n]
        found = []
        for i, j, k in product(range(5), range(6), range(9)):
            x1, y1, x2, y2 = np.array(ANCHORS[k]) + np.array([j, i, j, i]) * 64
            dx, dy, dw, dh = offsets[n, 4 * k : 4 * k + 4, i, j]
            w, h = x2 - x1 + 1, y2 - y1 + 1
            x, y = x1 + w / 2 + dx * w, y1 + h / 2 + dy * h
            w, h = w * math.exp(dw), h * math.exp(dh)
            box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
            box = [min(max(v, 0), edge - 1) for v, edge in zip(box, (width, height, width, height), strict=True)]
            if min(box[2] - box[0], box[3] - box[1]) + 1 >= least * scale:
                found.append((scores[n, 9 + k, i, j], box))
        found.sort(key=lambda each: -each[0])
        kept: list[tuple[float, list[float]]] = []
        for chance, box in found[:before]:
            if all(overlap(box, other) <= threshold for _, other in kept):
                kept.append((chance, box))
        regions += [[n, *box] for _, box in kept[:after]]
        chances += [chance for chance, _ in kept[:after]]
    return np.array(regions), chances


def overlap(a: list[float], b: list[float]) -> float:
    wide = min(a[2], b[2]) - max(a[0], b[0]) + 1
    high = min(a[3], b[3]) - max(a[1], b[1]) + 1
    shared = max(wide, 0) * max(high, 0)
    sizes = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return shared / (sum(sizes) - shared)


@pytest.mark.parametrize(
    ("fields", "before", "after", "options"),
    [
        ("", 6000, 300, {}),
        ("pre_nms_topn: 40", 40, 300, {}),
        ("post_nms_topn: 7", 6000, 7, {}),
        ("nms_thresh: 0.3", 6000, 300, {"threshold": 0.3}),
        ("min_size: 150", 6000, 300, {"least": 150}),
    ],
)
@pytest.mark.parametrize("images", [1, 2])
def test_it_proposes_what_faster_rcnn_does(
    fields: str, before: int, after: int, options: dict[str, float], images: int
) -> None:
    case = proposal_case(fields, images)
    outcome = Rig(case, dtype=np.float64).run([np.float64(values) for values in case.bottoms])
    regions, chances = proposal_reference(case, before, after, **options)
    np.testing.assert_allclose(outcome.tops[0], regions, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(outcome.tops[1][:, 0], chances, rtol=1e-12)


def test_proposals_pass_the_checks_for_layers() -> None:
    check_layer(proposal_case("pre_nms_topn: 60 post_nms_topn: 9", images=2), gradients=False)


def test_the_number_of_images_may_change() -> None:
    rig = Rig(proposal_case(images=2))
    for images in (2, 1, 2):
        bottoms = [values[:images] for values in rig.case.bottoms]
        fresh = Rig(LayerCase(rig.case.text, bottoms, tops=2, phase=Phase.TEST)).run()
        for mine, theirs in zip(rig.run(bottoms, poison=True).tops, fresh.tops, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_the_anchors_are_those_of_py_faster_rcnn() -> None:
    layer = Rig(proposal_case()).layer
    np.testing.assert_array_equal(layer.anchors, ANCHORS)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("phase", "count"), [(Phase.TRAIN, 5), (Phase.TEST, 2)])
def test_training_may_have_settings_of_its_own(phase: Phase, count: int) -> None:
    outcome = Rig(proposal_case("post_nms_topn: 2 train_post_nms_topn: 5", phase=phase)).run()
    assert outcome.tops[0].shape == (count, 5)


# -- hard examples -------------------------------------------------------------------------------------------------


def test_the_regions_with_the_largest_losses_are_kept() -> None:
    regions = np.zeros((6, 5), np.float32)
    regions[:, 0] = [0, 0, 0, 1, 1, 1]
    losses = np.array([1, 3, 2, 0.5, 0.1, 0.7], np.float32)
    labels = np.array([4, 5, 6, 7, 8, 9], np.float32)
    weights = normal(6, 8)
    text = 'type: "BoxAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 2 }'
    case = LayerCase(text, [regions, losses, labels, weights], tops=2, no_gradient=[0, 1, 2, 3], batched=False)
    check_layer(case, gradients=False)
    outcome = Rig(case).run()
    np.testing.assert_array_equal(outcome.tops[0], [-1, 5, 6, 7, -1, 9])
    kept = np.array([0, 1, 1, 1, 0, 1])[:, np.newaxis]
    np.testing.assert_array_equal(outcome.tops[1], weights * kept)


# -- what is refused, the example, and time ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        ('type: "ROIPooling"', [(1, 2, 4, 4), (3, 5)], "pooled_h and pooled_w above 0"),
        (ROI, [(1, 2, 4, 4), (3, 4)], r"regions of shape \(R, 5\), got \(3, 4\)"),
        (ROI, [(2, 4), (3, 5)], r"features of shape \(N, C, H, W\)"),
        (PSROI, [(1, 17, 4, 4), (3, 5)], "= 18 channels, got 17"),
        ('type: "SmoothL1Loss"', [(2, 3), (2, 4)], r"shape \(2, 3\) as bottom 0 has, got \(2, 4\)"),
        ('type: "SmoothL1Loss" smooth_l1_loss_param { sigma: 0 }', [(2, 3), (2, 3)], "sigma above 0"),
        ('type: "Proposal"', [(1, 18, 2, 2), (1, 18, 2, 2), (1, 3)], r"expected shape \(N, 4 \* 9 anchors"),
        ('type: "Proposal"', [(1, 18, 2, 2), (1, 36, 2, 2), (1, 2)], "row .height, width, scale. for each of 1"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, bottoms: list[tuple[int, ...]], message: str) -> None:
    case = LayerCase(text, [np.zeros(shape, np.float32) for shape in bottoms])
    with pytest.raises(NetcanvasError, match=message) as caught:
        Rig(case)
    assert "subject" in str(caught.value)


def test_a_region_of_an_image_that_is_not_there_is_refused() -> None:
    with pytest.raises(NetcanvasError, match="image numbers from 0 to 0, got 0 to 1"):
        Rig(LayerCase(ROI, [normal(1, 3, 8, 9), REGIONS], no_gradient=[1])).run()


def test_regions_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(NetcanvasError, match="got infinity or NaN"):
        Rig(LayerCase(PSROI, [normal(2, 18, 8, 9), np.full((1, 5), np.nan)], no_gradient=[1])).run()


def test_the_example_learns() -> None:
    import engine.compat

    engine.compat.install()
    import caffe

    solver = caffe.SGDSolver(str(plugins_path() / "rcnn" / "examples" / "solver.prototxt"))
    names = ["rpn_class_loss", "rpn_box_loss", "class_loss", "box_loss"]
    losses = []
    for _ in range(150):
        solver.step(1)
        losses.append([float(solver.net.blobs[name].data.item()) for name in names])
    rpn = np.array(losses)[:, 0]
    assert rpn[-20:].mean() < 0.5 * rpn[:20].mean()
    assert np.isfinite(losses).all()


@pytest.mark.slow
def test_it_keeps_up_with_the_nets_around_it() -> None:
    """Measured on one core: 0.04, 0.25 and 0.05 s."""
    rng = np.random.default_rng(0)
    corners = np.sort(rng.uniform(0, 1, (300, 2, 2)), axis=1).reshape(300, 4) * [1000, 600, 1000, 600]
    regions = np.concatenate((np.zeros((300, 1)), corners), axis=1).astype(np.float32)
    cases = [
        ('type: "ROIPooling" roi_pooling_param { pooled_h: 7 pooled_w: 7 spatial_scale: 0.0625 }', 512),
        ('type: "PSROIPooling" psroi_pooling_param { output_dim: 21 group_size: 7 spatial_scale: 0.0625 }', 1029),
    ]
    for text, channels in cases:
        rig = Rig(LayerCase(text, [normal(1, channels, 38, 63), regions], no_gradient=[1]))
        rig.load(rig.case.bottoms)
        seconds = []
        for _ in range(3):
            start = time.thread_time()
            rig.net.forward()
            seconds.append(time.thread_time() - start)
        assert min(seconds) < 1
