"""The layers of ``plugins/ssd`` but for its loss and its data."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.resources import plugins_path
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import Values, check_against, normal
from tests.plugins.ssd_references import decode, jaccard, suppressed

IMAGE = normal(2, 3, 40, 50)
NORM = 'type: "Normalize" norm_param {{ {} }}'
CASES = {
    "permute": LayerCase('type: "Permute" permute_param { order: [0, 2, 3, 1] }', [normal(2, 3, 4, 5)]),
    "permute, some": LayerCase('type: "Permute" permute_param { order: 2 }', [normal(2, 3, 4)], batched=False),
    "permute, none": LayerCase('type: "Permute"', [normal(2, 3, 4)]),
    "normalize": LayerCase(NORM.format(""), [normal(2, 3, 4, 5)], params=[np.array(1.5)]),
    "normalize, channels": LayerCase(NORM.format("channel_shared: false"), [normal(2, 3, 4, 5)], params=[normal(3)]),
    "normalize, positions": LayerCase(NORM.format("across_spatial: false"), [normal(2, 3, 4, 5)]),
    "normalize as SSD": LayerCase(
        NORM.format('across_spatial: false channel_shared: false scale_filler { type: "constant" value: 20 }'),
        [normal(2, 3, 4, 5)],
    ),
    "normalize, two axes": LayerCase(NORM.format("channel_shared: false eps: 0.1"), [normal(4, 3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_it_passes_the_checks_for_layers(name: str) -> None:
    check_layer(CASES[name])


def test_permute_moves_the_axes() -> None:
    x = normal(2, 3, 4, 5)
    top = Rig(LayerCase('type: "Permute" permute_param { order: [0, 2, 3, 1] }', [x])).run().tops[0]
    assert all(top[n, h, w, c] == x[n, c, h, w] for n, c, h, w in product(range(2), range(3), range(4), range(5)))
    top = Rig(LayerCase('type: "Permute" permute_param { order: 2 }', [x], batched=False)).run().tops[0]
    assert top.shape == (4, 2, 3, 5)


def normalized(x: Values, scale: Values, across: bool, eps: float = 1e-10) -> Values:
    out = np.empty_like(x)
    for n, c, h, w in np.ndindex(x.shape):
        vector = x[n].ravel() if across else x[n, :, h, w]
        out[n, c, h, w] = np.resize(scale, x.shape[1])[c] * x[n, c, h, w] / math.sqrt(sum(vector**2) + eps)
    return out


@pytest.mark.parametrize("name", ["normalize", "normalize, channels", "normalize, positions", "normalize as SSD"])
def test_normalize_divides_by_the_length(name: str) -> None:
    across = "across_spatial" not in CASES[name].text
    check_against(CASES[name], lambda x, scale: normalized(x, scale, across), rtol=1e-7)


# -- prior boxes ---------------------------------------------------------------------------------------------------

PRIORS = {
    "as SSD": "min_size: 12 max_size: 20.9 aspect_ratio: 2 aspect_ratio: 3 variance: [0.1, 0.1, 0.2, 0.2]",
    "two sizes": "min_size: 8 min_size: 12.7 max_size: 10 max_size: 14 aspect_ratio: 2",
    "no flip": "min_size: 12 aspect_ratio: 2 aspect_ratio: 1 aspect_ratio: 2 flip: false",
    "clipped": "min_size: 30 clip: true variance: 0.3",
    "step and offset": "min_size: 12 step: 9 offset: 0.25",
    "two steps": "min_size: 12 step_h: 9 step_w: 11",
    "size": "min_size: 12 img_size: 60",
    "two sizes of the image": "min_size: 12 img_h: 60 img_w: 90",
}


def prior_reference(name: str) -> Values:
    """Return the top for features of 3 rows and 4 columns, and an image of 40 rows and 50 columns."""
    fields = PRIORS[name]
    ratios = {"as SSD": [2, 1 / 2, 3, 1 / 3], "two sizes": [2, 1 / 2], "no flip": [2]}.get(name, [])
    sizes = {"as SSD": [(12, 20)], "two sizes": [(8, 10), (12, 14)], "clipped": [(30, 0)]}.get(name, [(12, 0)])
    high, wide = {"size": (60, 60), "two sizes of the image": (60, 90)}.get(name, (40, 50))
    steps = {"step and offset": (9, 9), "two steps": (9, 11)}.get(name, (high / 3, wide / 4))
    offset = 0.25 if "offset" in fields else 0.5
    boxes = []
    for row, column in product(range(3), range(4)):
        for least, most in sizes:
            forms = [(least, least)] + [(math.sqrt(least * most),) * 2] * bool(most)
            forms += [(least * math.sqrt(ratio), least / math.sqrt(ratio)) for ratio in ratios]
            for width, height in forms:
                x, y = (column + offset) * steps[1], (row + offset) * steps[0]
                corners = [(x - width / 2) / wide, (y - height / 2) / high, (x + width / 2) / wide]
                corners.append((y + height / 2) / high)
                boxes.append([min(max(v, 0), 1) for v in corners] if "clip" in fields else corners)
    variance = [0.1, 0.1, 0.2, 0.2] if name == "as SSD" else [0.3 if name == "clipped" else 0.1] * 4
    return np.stack((np.ravel(boxes), np.tile(variance, len(boxes))))[np.newaxis]


def prior_case(fields: str) -> LayerCase:
    return LayerCase(
        f'type: "PriorBox" prior_box_param {{ {fields} }}', [normal(2, 7, 3, 4), IMAGE], no_gradient=[0, 1]
    )


@pytest.mark.parametrize("name", PRIORS)
def test_the_prior_boxes_are_where_they_should_be(name: str) -> None:
    top = Rig(prior_case(PRIORS[name])).run().tops[0]
    np.testing.assert_allclose(top, prior_reference(name), rtol=1e-5, atol=1e-6)


def test_prior_boxes_pass_the_checks_for_layers() -> None:
    check_layer(prior_case(PRIORS["as SSD"]), gradients=False)


# -- detections ----------------------------------------------------------------------------------------------------

CLASSES, BOXES, ITEMS = 4, 30, 3


def detector(fields: str = "", *, shared: bool = True, seed: int = 2) -> LayerCase:
    rng = np.random.default_rng(seed)
    centres, half = rng.uniform(0.2, 0.8, (BOXES, 2)), rng.uniform(0.1, 0.25, (BOXES, 2))
    priors = np.concatenate((centres - half, centres + half), axis=1)
    variances = np.tile([0.1, 0.1, 0.2, 0.2], BOXES)
    kinds = 1 if shared else CLASSES
    bottoms = [
        rng.standard_normal((ITEMS, BOXES * kinds * 4)),
        rng.uniform(0, 1, (ITEMS, BOXES * CLASSES)),
        np.stack((priors.ravel(), variances))[np.newaxis],
    ]
    text = f'type: "DetectionOutput" detection_output_param {{ num_classes: {CLASSES} {fields} }}'
    return LayerCase(text, bottoms, no_gradient=[0, 1, 2], batched=False, phase=Phase.TEST)


def detected(
    case: LayerCase,
    code: str = "CORNER",
    background: int = 0,
    threshold: float = 0.3,
    least: float = -math.inf,
    top_k: int = -1,
    keep: int = -1,
    eta: float = 1.0,
    encoded: bool = False,
) -> Values:
    coded, scores, priors = (np.asarray(values, np.float64) for values in case.bottoms)
    corners, variances = priors[0].reshape(2, BOXES, 4)
    coded, scores = coded.reshape(ITEMS, BOXES, -1, 4), scores.reshape(ITEMS, BOXES, CLASSES)
    rows: list[list[float]] = []
    for item in range(ITEMS):
        found = []
        for label in range(CLASSES):
            if label == background:
                continue
            kind = label if coded.shape[2] > 1 else 0
            ones = [1.0] * 4
            boxes = [
                decode(coded[item, p, kind], corners[p], ones if encoded else variances[p], code) for p in range(BOXES)
            ]
            for p in suppressed(boxes, scores[item, :, label].tolist(), threshold, least, top_k, eta):
                found.append([item, label, scores[item, p, label], *boxes[p]])
        best = sorted(found, key=lambda row: -row[2])[: keep if keep > -1 else None]
        rows += [row for row in found if row in best]
    return np.array(rows).reshape(1, 1, -1, 7)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ("", {}),
        ("code_type: CENTER_SIZE", {"code": "CENTER_SIZE"}),
        ("code_type: CORNER_SIZE", {"code": "CORNER_SIZE"}),
        ("variance_encoded_in_target: true code_type: CENTER_SIZE", {"code": "CENTER_SIZE", "encoded": True}),
        ("background_label_id: 2", {"background": 2}),
        ("background_label_id: -1", {"background": -1}),
        ("confidence_threshold: 0.6", {"least": 0.6}),
        ("keep_top_k: 11", {"keep": 11}),
        ("nms_param { nms_threshold: 0.5 top_k: 9 }", {"threshold": 0.5, "top_k": 9}),
        ("nms_param { nms_threshold: 0.9 eta: 0.8 }", {"threshold": 0.9, "eta": 0.8}),
    ],
)
def test_it_detects_what_ssd_does(fields: str, options: dict[str, float], shared: bool) -> None:
    case = detector(fields + ("" if shared else " share_location: false"), shared=shared)
    check_against(case, lambda *_: detected(case, **options), rtol=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("threshold", "eta", "top_k"), [(0.3, 1.0, -1), (0.8, 0.999, -1), (0.45, 1.0, 200), (0.7, 0.99, 300), (0.3, 1.0, 0)]
)
def test_many_boxes_are_thinned_out_as_few_are(threshold: float, eta: float, top_k: int) -> None:
    """Of 400 boxes, which are more than are compared at once; many have one score."""
    rng = np.random.default_rng(4)
    low = rng.uniform(0, 0.7, (400, 2))
    boxes = np.concatenate((low, low + rng.uniform(0.05, 0.3, (400, 2))), axis=1).astype(np.float32)
    scores = rng.integers(1, 60, 400).astype(np.float32) / 60
    priors = np.stack((boxes, np.full_like(boxes, 0.1))).reshape(1, 2, -1)
    nms = f"nms_param {{ nms_threshold: {threshold} eta: {eta} top_k: {top_k} }}"
    text = f'type: "DetectionOutput" detection_output_param {{ num_classes: 2 {nms} }}'
    bottoms = [np.zeros((1, 1600)), np.stack((1 - scores, scores), axis=1).reshape(1, -1), priors]
    top = Rig(LayerCase(text, bottoms, phase=Phase.TEST, batched=False), dtype=np.float64).run().tops[0][0, 0]
    kept = suppressed(boxes.tolist(), scores.tolist(), np.float32(threshold).item(), 0.0, top_k, np.float32(eta).item())
    if not kept:
        assert top.tolist() == [[0, *[-1] * 6]]
        return
    np.testing.assert_array_equal(top[:, 2], np.float64(scores[kept]))
    np.testing.assert_array_equal(top[:, 3:], np.float64(boxes[kept]))


@pytest.mark.parametrize("fields", ["", "keep_top_k: 7 code_type: CENTER_SIZE", "confidence_threshold: 2"])
def test_detections_pass_the_checks_for_layers(fields: str) -> None:
    check_layer(detector(fields), gradients=False)


def test_nothing_found_is_a_row_for_each_image() -> None:
    top = Rig(detector("confidence_threshold: 2")).run().tops[0]
    np.testing.assert_array_equal(top, [[[[item, *[-1] * 6] for item in range(ITEMS)]]])


def test_the_number_of_images_may_change() -> None:
    case = detector("confidence_threshold: 0.7")
    rig = Rig(case)
    for images in (3, 1, 2):
        bottoms = [*(values[:images] for values in case.bottoms[:2]), case.bottoms[2]]
        fresh = Rig(LayerCase(case.text, bottoms, phase=Phase.TEST)).run().tops[0]
        np.testing.assert_array_equal(rig.run(bottoms, poison=True).tops[0], fresh)


LABEL_MAP = """
item { name: "none_of_the_above" label: 0 display_name: "background" }
item { name: "cat" label: 1 } item { name: "dog" label: 2 } item { name: "17" label: 3 }
"""


def saving(folder: Path, kind: str, more: str = "") -> LayerCase:
    (folder / "labels.prototxt").write_text(LABEL_MAP, encoding="utf-8")
    (folder / "sizes.txt").write_text("a 100 200\nb 300 400\n7 50 60\n", encoding="utf-8")
    return detector(
        f'confidence_threshold: 0.8 keep_top_k: 4 save_output_param {{ output_directory: "{folder / "out"}" '
        f'output_name_prefix: "det_" output_format: "{kind}" label_map_file: "{folder / "labels.prototxt"}" '
        f'name_size_file: "{folder / "sizes.txt"}" {more} }}'
    )


def expected_lines(case: LayerCase) -> list[tuple[str, int, str]]:
    """Return image, label, and the rest of its line for each detection."""
    sizes = [("a", 100, 200), ("b", 300, 400), ("7", 50, 60)]
    lines = []
    for item, label, score, *corners in Rig(case).run().tops[0][0, 0]:
        name, height, width = sizes[int(item)]
        box = [np.float32(np.clip(v, 0, 1)) * np.float32(s) for v, s in zip(corners, (width, height) * 2, strict=True)]
        x, y, w, h = (int(round(float(v), 2)) for v in (box[0], box[1], box[2] - box[0], box[3] - box[1]))
        lines.append((name, int(label), f"{score:g} {x} {y} {x + w} {y + h}"))
    return lines


def test_files_for_voc(tmp_path: Path) -> None:
    lines = expected_lines(saving(tmp_path, "VOC"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["det_17.txt", "det_cat.txt", "det_dog.txt"]
    for label, name in ((1, "cat"), (2, "dog"), (3, "17")):
        text = (tmp_path / "out" / f"det_{name}.txt").read_text()
        assert text.splitlines() == [f"{image} {rest}" for image, of, rest in lines if of == label]


def test_files_for_ilsvrc_and_coco(tmp_path: Path) -> None:
    lines = expected_lines(saving(tmp_path, "ILSVRC"))
    text = (tmp_path / "out" / "det_.txt").read_text()
    assert text.splitlines() == [f"{image} {label} {rest}" for image, label, rest in lines]
    Rig(saving(tmp_path, "COCO")).run()
    rows = json.loads((tmp_path / "out" / "det_.json").read_text())
    assert [row["image_id"] for row in rows] == [7 if image == "7" else image for image, *_ in lines]
    assert {row["category_id"] for row in rows} <= {"cat", "dog", 17}
    assert all(len(row["bbox"]) == 4 and 0.8 < row["score"] < 1 for row in rows)


def test_files_are_written_when_all_images_are_there_and_a_resumed_test_goes_on(tmp_path: Path) -> None:
    case = saving(tmp_path, "ILSVRC")
    (tmp_path / "sizes.txt").write_text("".join(f"image{i} 100 100\n" for i in range(2 * ITEMS)), encoding="utf-8")
    rig = Rig(case)
    rig.run()
    assert not (tmp_path / "out").exists()
    other = Rig(case)
    other.layer.set_state(json.loads(json.dumps(rig.layer.get_state())))
    other.run()
    assert "image0 " in (tmp_path / "out" / "det_.txt").read_text()


def test_detections_are_judged() -> None:
    objects = [[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9], [0.2, 0.2, 0.5, 0.5], [0.6, 0.1, 0.9, 0.4]]
    labels = np.array([[0, 1], [0, 1], [1, 2], [1, 1]])
    rows = [[*labels[i], 0, *objects[i], i == 3] for i in range(4)]
    detections = [
        [0, 1, 0.5, 0.1, 0.1, 0.4, 0.4],
        [0, 1, 0.9, 0.1, 0.1, 0.4, 0.38],
        [0, 1, 0.3, 0.45, 0.45, 0.5, 0.5],
        [0, 2, 0.8, 0.1, 0.1, 0.4, 0.4],
        [1, 1, 0.7, 0.6, 0.1, 0.9, 0.4],
        [2, 2, 0.6, 0.1, 0.1, 0.4, 0.4],
        [3, -1, -1, -1, -1, -1, -1],
    ]
    text = 'type: "DetectionEvaluate" detection_evaluate_param {{ num_classes: 3 evaluate_difficult_gt: {} }}'
    bottoms = [np.array(values, np.float32)[np.newaxis, np.newaxis] for values in (detections, rows)]
    verdicts = [
        [0, 1, 0.9, 1, 0],
        [0, 1, 0.5, 0, 1],
        [0, 1, 0.3, 0, 1],
        [0, 2, 0.8, 0, 1],
        [1, 1, 0.7, 0, 0],
        [2, 2, 0.6, 0, 1],
    ]
    for difficult, count in ((False, 2), (True, 3)):
        case = LayerCase(text.format(str(difficult).lower()), bottoms, no_gradient=[0, 1], batched=False)
        check_layer(case, gradients=False)
        verdicts[4][3] = float(difficult)
        expected = [[-1, 1, count, -1, -1], [-1, 2, 1, -1, -1], *verdicts]
        np.testing.assert_allclose(Rig(case).run().tops[0][0, 0], expected, rtol=1e-6)


def test_boxes_are_judged_in_pixels_where_sizes_are_known(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("a 10 10\nb 1000 1000\n", encoding="utf-8")
    text = f'name_size_file: "{tmp_path / "sizes.txt"}" num_classes: 2 overlap_threshold: 0.55'
    case = LayerCase(
        f'type: "DetectionEvaluate" detection_evaluate_param {{ {text} }}',
        [
            np.array([[[[item, 1, 0.9, 0.0, 0.0, 0.5, 0.1] for item in (0, 1)]]]),
            np.array([[[[item, 1, 0, 0.0, 0.0, 0.5, 0.2, 0] for item in (0, 1)]]]),
        ],
        no_gradient=[0, 1],
    )
    # 6 by 2 against 6 by 3 pixels, with their last ones; in the large image these hardly count
    assert Rig(case).run().tops[0][0, 0, 1:, 3].tolist() == [1, 0]


# -- what is refused, and the example ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        ('type: "Permute" permute_param { order: 0 order: 0 }', [(2, 3)], r"different axes below 2 as order"),
        ('type: "Permute" permute_param { order: 4 }', [(2, 3)], r"different axes below 2 as order"),
        ('type: "Normalize"', [(2,)], "at least 2 axes"),
        ('type: "PriorBox"', [(1, 1, 2, 2), (1, 1, 4, 4)], "min_size above 0"),
        ('type: "PriorBox" prior_box_param { min_size: 3 max_size: 2 }', [(1, 1, 2, 2)] * 2, "a larger one"),
        ('type: "PriorBox" prior_box_param { min_size: 3 variance: [1, 2] }', [(1, 1, 2, 2)] * 2, "or four"),
        ('type: "PriorBox" prior_box_param { min_size: 3 step: 2 step_h: 1 }', [(1, 1, 2, 2)] * 2, "got both"),
        ('type: "PriorBox" prior_box_param { min_size: 3 }', [(1, 1, 2, 2)], "img_size or a second bottom"),
        ('type: "DetectionOutput"', [(1, 8), (1, 4), (1, 2, 8)], "expected num_classes"),
        (
            'type: "DetectionOutput" detection_output_param { num_classes: 2 }',
            [(1, 8), (1, 6), (1, 2, 8)],
            r"expected 4 values for each of 1 images and 2 prior boxes, got shape \(1, 6\)",
        ),
        (
            'type: "DetectionEvaluate" detection_evaluate_param { num_classes: 2 }',
            [(1, 1, 3, 7), (1, 1, 3, 7)],
            r"labels of shape \(1, 1, objects, 8\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(text: str, shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(NetcanvasError, match=message) as caught:
        Rig(LayerCase(text, [np.zeros(shape, np.float32) for shape in shapes]))
    assert "subject" in str(caught.value)


def test_the_example_learns_to_detect() -> None:
    import engine.compat

    engine.compat.install()
    import caffe

    folder = plugins_path() / "ssd" / "examples"
    solver = caffe.SGDSolver(str(folder / "solver.prototxt"))
    losses = []
    for _ in range(80):
        solver.step(1)
        losses.append(float(solver.net.blobs["loss"].data.item()))
    assert np.mean(losses[-10:]) < 0.75 * np.mean(losses[:10])
    net = Net((folder / "net.prototxt").read_text(), Phase.TEST, base_dirs=[folder], seed=1)
    for name, blobs in net.params.items():
        for mine, theirs in zip(blobs, solver.net.params[name], strict=True):
            mine.data[...] = theirs.data
    right = objects = 0.0
    for _ in range(5):
        net.forward()
        verdicts = net.blobs["verdicts"].data.reshape(-1, 5)
        objects += verdicts[:2, 2].sum()
        right += verdicts[2:, 3].sum()
    assert right > 0.3 * objects


def test_the_overlap_of_the_reference_is_what_it_should_be() -> None:
    assert jaccard((0, 0, 2, 2), (1, 1, 3, 3)) == pytest.approx(1 / 7)
