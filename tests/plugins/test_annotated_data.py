"""``AnnotatedData`` of ``plugins/ssd``: what it reads, what it does to it, and that it can go on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.layer import Phase, stream
from engine.net import Net
from tests.plugins.annotated_records import SIZE, Boxes, records, write
from tests.plugins.forks import Values

Opened = Callable[..., Net]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Return a function that writes a database and opens a net of one layer over it."""
    nets: list[Net] = []

    def make(
        fields: str = "",
        *,
        batch: int = 2,
        rows: list[tuple[Values, Boxes]] | None = None,
        phase: Phase = Phase.TRAIN,
        seed: int = 3,
        tops: str = 'top: "data" top: "label"',
        **how: Any,
    ) -> Net:
        path = tmp_path / "database"
        if not path.exists():
            write(path, records() if rows is None else rows, **how)
        data = f'data_param {{ source: "database" batch_size: {batch} backend: LMDB }}'
        text = f'layer {{ name: "data" type: "AnnotatedData" {tops} {data} {fields} }}'
        net = Net(text, phase, base_dirs=[tmp_path], seed=seed)
        nets.append(net)
        return net

    yield make
    for net in nets:
        for layer in net.layers:
            layer.close()


def batch_of(net: Net) -> tuple[Values, Values]:
    net.forward()
    return net.blobs["data"].data.copy(), net.blobs["label"].data.copy()


def rows_of(found: list[tuple[Values, Boxes]]) -> list[list[float]]:
    return [
        [item, label, instance, *corners, difficult]
        for item, (_, boxes) in enumerate(found)
        for label, instance, corners, difficult in boxes
    ]


@pytest.mark.parametrize("encode", ["png", ""])
def test_it_reads_images_and_boxes(opened: Opened, encode: str) -> None:
    net = opened("transform_param { mean_value: [10, 20, 30] scale: 0.5 }", encode=encode)
    assert net.blobs["data"].shape == (2, 3, *SIZE)
    found = records()
    for start in (0, 2, 4, 0):  # from the start again after the last
        data, label = batch_of(net)
        pixels = np.stack([image for image, _ in found[start : start + 2]])
        np.testing.assert_allclose(data, (pixels - np.float32([10, 20, 30])[:, None, None]) * 0.5)
        np.testing.assert_allclose(label[0, 0], rows_of(found[start : start + 2]), rtol=1e-6)


def test_a_batch_without_boxes_has_one_row_that_is_none(opened: Opened) -> None:
    net = opened(batch=1)
    labels = [batch_of(net)[1] for _ in range(3)]
    np.testing.assert_array_equal(labels[2], np.full((1, 1, 1, 8), -1))


def test_records_without_a_kind_have_labels_alone(opened: Opened) -> None:
    net = opened(typed=False)
    assert net.blobs["label"].shape == (2, 1, 1, 1)
    assert [batch_of(net)[1].ravel().tolist() for _ in range(2)] == [[0, 1], [2, 3]]


def test_images_may_be_had_without_labels(opened: Opened) -> None:
    net = opened(tops='top: "data"')
    net.forward()
    assert list(net.blobs) == ["data"]


def mirrored(net: Net) -> tuple[bool, Values, Values]:
    """Return whether the next image, which is the first of all, is mirrored, and what it is."""
    data, label = batch_of(net)
    image, _ = records(1)[0]
    flipped = np.array_equal(data[0], image[:, :, ::-1])
    assert flipped or np.array_equal(data[0], image)
    return flipped, data, label


def test_boxes_are_mirrored_with_their_image(opened: Opened) -> None:
    net = opened("transform_param { mirror: true }", batch=1, rows=records(1))
    seen = {}
    for _ in range(12):
        flipped, _, label = mirrored(net)
        seen[flipped] = label[0, 0, 0]
    x1, y1, x2, y2 = seen[False][3:7]
    np.testing.assert_allclose(seen[True][3:7], [1 - x2, y1, 1 - x1, y2], rtol=1e-5)


@pytest.mark.parametrize("phase", [Phase.TRAIN, Phase.TEST])
def test_boxes_follow_a_crop(opened: Opened, phase: Phase) -> None:
    image, boxes = records(1)[0][0], [(1, 0, [0.3, 0.2, 0.7, 0.6], False)]
    net = opened("transform_param { crop_h: 16 crop_w: 20 }", batch=1, rows=[(image, boxes)], phase=phase)
    places = set()
    for _ in range(6):
        data, label = batch_of(net)
        assert data.shape == (1, 3, 16, 20)
        y, x = next(
            (y, x)
            for y in range(SIZE[0] - 15)
            for x in range(SIZE[1] - 19)
            if np.array_equal(data[0], image[:, y : y + 16, x : x + 20])
        )
        places.add((y, x))
        x1, y1, x2, y2 = np.array(boxes[0][2]) * [SIZE[1], SIZE[0], SIZE[1], SIZE[0]]
        expected = np.clip([(x1 - x) / 20, (y1 - y) / 16, (x2 - x) / 20, (y2 - y) / 16], 0, 1)
        np.testing.assert_allclose(label[0, 0, 0, 3:7], expected, atol=1e-5)
    assert len(places) > 1 if phase == Phase.TRAIN else places == {(4, 8)}


def test_the_constraint_drops_boxes_whose_centre_is_cut_off(opened: Opened) -> None:
    left: Boxes = [(1, 0, [0.0, 0.0, 0.4, 1.0], False)]
    middle: Boxes = [(2, 0, [0.2, 0.2, 0.8, 0.8], False)]
    rows = [(records(1)[0][0], left + middle)]
    text = "transform_param {{ crop_h: 24 crop_w: 18 emit_constraint {{ {} }} }}"
    for constraint, kept in (
        ("emit_type: CENTER", [2]),
        ("emit_type: MIN_OVERLAP emit_overlap: 0.3", [1, 2]),
        ("emit_type: MIN_OVERLAP emit_overlap: 0.5", [2]),
    ):
        net = opened(text.format(constraint), batch=1, rows=rows, phase=Phase.TEST)
        assert batch_of(net)[1][0, 0, :, 1].tolist() == kept


@pytest.mark.parametrize(
    ("fields", "shape", "corners"),
    [
        ("resize_mode: WARP", (30, 30), [0.25, 0.5, 0.5, 1.0]),
        ("resize_mode: FIT_SMALL_SIZE", (30, 45), [0.25, 0.5, 0.5, 1.0]),
        # 30 wide and 20 high, so that 5 rows are above and below
        ("resize_mode: FIT_LARGE_SIZE_AND_PAD pad_value: 7", (30, 30), [0.25, 0.5, 0.5, 5 / 6]),
    ],
)
def test_images_are_resized_and_boxes_with_them(
    opened: Opened, fields: str, shape: tuple[int, int], corners: list[float]
) -> None:
    rows: list[tuple[Values, Boxes]] = [(np.full((3, *SIZE), 90, np.uint8), [(1, 0, [0.25, 0.5, 0.5, 1.0], False)])]
    net = opened(
        f"transform_param {{ resize_param {{ {fields} height: 30 width: 30 }} }}", batch=1, rows=rows, encode=""
    )
    assert net.blobs["data"].shape == (1, 3, *shape)
    data, label = batch_of(net)
    np.testing.assert_allclose(label[0, 0, 0, 3:7], corners, rtol=1e-5)
    bars = 5 if "PAD" in fields else 0
    assert (data[:, :, bars : 30 - bars] == 90).all()
    assert (data[:, :, :bars] == 7).all() and (data[:, :, 30 - bars :] == 7).all()


def test_an_expanded_image_keeps_its_boxes(opened: Opened) -> None:
    net = opened("transform_param { mean_value: 50 expand_param { max_expand_ratio: 3 } }", batch=1, rows=records(1))
    ((image, boxes),) = records(1)
    sizes = set()
    for _ in range(4):
        data, label = batch_of(net)
        _, _, height, width = data.shape
        sizes.add((height, width))
        x1, y1, x2, y2 = boxes[0][2]
        at = label[0, 0, 0, 3:7] * [width, height, width, height]
        # where the image lies follows from where its box came to lie
        x, y = round(at[0] - x1 * SIZE[1]), round(at[1] - y1 * SIZE[0])
        np.testing.assert_array_equal(data[0, :, y : y + SIZE[0], x : x + SIZE[1]] + 50, image)
        np.testing.assert_allclose(at[2:] - at[:2], [(x2 - x1) * SIZE[1], (y2 - y1) * SIZE[0]], rtol=1e-4)
        assert np.count_nonzero(data + 0.0 != 0) <= image.size
    assert len(sizes) > 1 and all(height < 3 * SIZE[0] for height, _ in sizes)


SAMPLED = """
    transform_param { resize_param { height: 20 width: 20 } }
    annotated_data_param {
      batch_sampler { max_sample: 1 max_trials: 1 }
      batch_sampler {
        sampler { min_scale: 0.3 max_scale: 0.9 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }
        sample_constraint { min_jaccard_overlap: 0.1 }
        max_sample: 1
        max_trials: 50
      }
    }
"""


def test_patches_are_sampled_and_hold_what_their_boxes_hold(opened: Opened) -> None:
    """Boxes are bright and all else is dark, so that a box says which pixels must be bright."""
    pixels = np.zeros((3, 120, 160), np.uint8)
    corners = [0.25, 0.3, 0.75, 0.8]
    pixels[:, 36:96, 40:120] = 200
    net = opened(SAMPLED, batch=1, rows=[(pixels, [(1, 0, corners, False)])])
    seen = set()
    for _ in range(20):
        data, label = batch_of(net)
        x1, y1, x2, y2 = label[0, 0, 0, 3:7]
        seen.add(tuple(label[0, 0, 0, 3:7].tolist()))
        inside = np.zeros((20, 20), bool)
        inside[int(np.ceil(y1 * 20 + 1)) : int(y2 * 20 - 1), int(np.ceil(x1 * 20 + 1)) : int(x2 * 20 - 1)] = True
        assert (data[0][:, inside] == 200).all()
        outside = np.ones((20, 20), bool)
        outside[max(int(y1 * 20 - 1), 0) : int(y2 * 20 + 2), max(int(x1 * 20 - 1), 0) : int(x2 * 20 + 2)] = False
        assert (data[0][:, outside] == 0).all()
    assert len(seen) > 5


ALL = """
    transform_param {
      mirror: true mean_value: [104, 117, 123]
      resize_param { height: 30 width: 30 interp_mode: [LINEAR, AREA, NEAREST, CUBIC, LANCZOS4] }
      emit_constraint { emit_type: CENTER }
      distort_param {
        brightness_prob: 0.5 brightness_delta: 32 contrast_prob: 0.5 contrast_lower: 0.5 contrast_upper: 1.5
        hue_prob: 0.5 hue_delta: 18 saturation_prob: 0.5 saturation_lower: 0.5 saturation_upper: 1.5
        random_order_prob: 0.3
      }
      expand_param { prob: 0.5 max_expand_ratio: 4 }
      noise_param { decolorize: true gauss_blur: true hist_eq: true clahe: true jpeg: 40 posterize: true erode: true
                    inverse: true saltpepper: true saltpepper_param { fraction: 0.1 value: 5 } }
    }
    annotated_data_param {
      batch_sampler {
        sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }
        sample_constraint { min_jaccard_overlap: 0.3 }
        max_sample: 1
        max_trials: 20
      }
    }
"""


def test_equal_seeds_give_equal_batches_and_others_do_not(opened: Opened) -> None:
    first, second, other = (opened(ALL, seed=seed) for seed in (3, 3, 4))
    for _ in range(4):
        batches = [batch_of(net) for net in (first, second, other)]
        np.testing.assert_array_equal(batches[0][0], batches[1][0])
        np.testing.assert_array_equal(batches[0][1], batches[1][1])
        assert not np.array_equal(batches[0][0], batches[2][0])


def test_a_resumed_run_goes_on_with_the_same_batches(opened: Opened) -> None:
    net = opened(ALL)
    for _ in range(3):
        batch_of(net)
    layer = net.layer("data")
    state = json.loads(json.dumps(layer.get_state()))
    draws = stream(layer).bit_generator.state
    resumed = opened(ALL, seed=8)
    resumed.layer("data").set_state(state)
    stream(resumed.layer("data")).bit_generator.state = draws
    for _ in range(4):
        for mine, theirs in zip(batch_of(net), batch_of(resumed), strict=True):
            np.testing.assert_array_equal(mine, theirs)


SAMPLER_OF = "annotated_data_param {{ batch_sampler {{ sampler {{ {} }} }} }}"


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        ("", {"batch": 0}, "batch_size of at least 1"),
        ("transform_param { resize_param { height: 3 } }", {}, "height and width in resize_param"),
        ("transform_param { resize_param { height: 3 width: 3 resize_mode: FIT_SMALL_SIZE } }", {}, "batch_size of 1"),
        ("transform_param { expand_param { } }", {}, "max_expand_ratio above 1, got 1"),
        ("transform_param { noise_param { saltpepper_param { value: [1, 2] } } }", {}, "saltpepper_param, got 2"),
        (
            "transform_param { force_gray: true noise_param { decolorize: true } }",
            {"encode": "png"},
            "3 channels with decolorize, got 1",
        ),
        (SAMPLER_OF.format("min_scale: 0"), {}, "min_scale <= max_scale <= 1, got 0 and 1"),
        (SAMPLER_OF.format("min_scale: 0.5 max_scale: 0.3"), {}, "got 0.5 and 0.3"),
        (SAMPLER_OF.format("max_aspect_ratio: 0.5"), {}, "min_aspect_ratio <= max_aspect_ratio, got 1 and 0.5"),
        ("transform_param { mean_value: [1, 2] }", {}, "mean of shape"),
        ("transform_param { crop_size: 99 }", {}, "at least 99 by 99 pixels, got 24 by 36"),
        ("transform_param { mean_file: 'no_such_mean' }", {}, "'no_such_mean' was not found"),
        ("data_param { source: 'no_such_database' }", {}, "only once|'no_such_database' was not found"),
    ],
)
def test_what_does_not_fit_is_refused(opened: Opened, fields: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(NetcanvasError, match=message):
        batch_of(opened(fields, **options))


def test_images_of_two_sizes_do_not_make_a_batch(opened: Opened) -> None:
    rows = [*records(1), *records(1, size=(10, 12))]
    with pytest.raises(NetcanvasError, match=r"'0001'.*shape \(3, 24, 36\).*got \(3, 10, 12\)"):
        batch_of(opened(rows=rows))


def test_records_of_another_kind_are_refused(opened: Opened, tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path / "database"), map_size=1 << 20) as base, base.begin(write=True) as transaction:
        transaction.put(b"first", b"no message at all")
    with pytest.raises(NetcanvasError, match="'first'.*expected an AnnotatedDatum"):
        opened()
