"""``DenseImageData``: images and label images stay together whatever is done to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.solvers import Solver

COUNT, HEIGHT, WIDTH = 5, 6, 8
RNG = np.random.default_rng(5)
PICTURES = RNG.integers(0, 256, (COUNT, HEIGHT, WIDTH, 3), dtype=np.uint8)
#: Each label is the blue of its pixel, so that a test sees whether both still belong together.
LABELS = PICTURES[..., 2]
BGR = PICTURES[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for index, (picture, label) in enumerate(zip(PICTURES, LABELS, strict=True)):
        Image.fromarray(picture).save(tmp_path / "sub" / f"{index}.png")
        Image.fromarray(label).save(tmp_path / "sub" / f"{index}_label.png")
    pairs = [f"sub/{index}.png sub/{index}_label.png\n" for index in range(COUNT)]
    (tmp_path / "list.txt").write_text("".join(pairs))
    return tmp_path


def net(folder: Path, fields: str = "", transform: str = "", **options: Any) -> Net:
    text = (
        'layer { name: "d" type: "DenseImageData" top: "data" top: "label" '
        f'transform_param {{ {transform} }} dense_image_data_param {{ source: "list.txt" {fields} }} }}'
        'layer { name: "f" type: "Flatten" bottom: "data" top: "flat" }'
    )
    return Net(text, options.pop("phase", Phase.TRAIN), base_dirs=(folder,), **{"seed": 3} | options)


def step(made: Net) -> tuple[Any, Any]:
    for blob in made.blobs.values():
        blob.data[...] = np.nan
    made.forward()
    return made.blobs["data"].data.copy(), made.blobs["label"].data.copy()


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_pairs_come_in_the_order_of_the_list_and_start_over(folder: Path, backend: str) -> None:
    with net(folder, "batch_size: 3", backend=backend) as made:
        assert made.blobs["data"].shape == (3, 3, HEIGHT, WIDTH) and made.blobs["label"].shape == (3, 1, HEIGHT, WIDTH)
        for expected in ([0, 1, 2], [3, 4, 0]):
            images, labels = step(made)
            np.testing.assert_array_equal(images, BGR[expected])
            np.testing.assert_array_equal(labels[:, 0], LABELS[expected])
            np.testing.assert_array_equal(made.blobs["flat"].data, BGR[expected].reshape(3, -1))


def test_mean_and_scale_are_for_the_images_only(folder: Path) -> None:
    with net(folder, "batch_size: 2", "scale: 0.5 mean_value: 1 mean_value: 2 mean_value: 3") as made:
        images, labels = step(made)
    np.testing.assert_array_equal(images, (BGR[:2] - np.array([1, 2, 3]).reshape(3, 1, 1)) / 2)
    np.testing.assert_array_equal(labels[:, 0], LABELS[:2])


@pytest.mark.parametrize("phase", [Phase.TRAIN, Phase.TEST])
def test_crop_and_mirror_treat_both_alike(folder: Path, phase: Phase) -> None:
    with net(folder, "batch_size: 5 crop_height: 3 crop_width: 4 mirror: true", phase=phase) as made:
        cuts = set()
        for _ in range(8):
            images, labels = step(made)
            assert images.shape == (5, 3, 3, 4)
            np.testing.assert_array_equal(images[:, 0], labels[:, 0])  # blue, see LABELS
            cuts |= {(index, place_of(images[index], index)) for index in range(COUNT)}
    assert {flipped for _, (_, _, flipped) in cuts} == {False, True}
    assert len({place[:2] for _, place in cuts}) > 8


def place_of(image: Any, index: int) -> tuple[int, int, bool]:
    for top, left, flipped in np.ndindex(HEIGHT - 2, WIDTH - 3, 2):
        whole = BGR[index][:, :, ::-1] if flipped else BGR[index]
        if np.array_equal(image, whole[:, top : top + 3, left : left + 4]):
            return top, left, bool(flipped)
    raise AssertionError("not a part of the picture")


def test_labels_are_resized_without_mixing_and_divided(folder: Path) -> None:
    for index in range(COUNT):
        blocks = np.kron(np.array([[0, 9], [200, 255]], np.uint8), np.ones((10, 12), np.uint8))
        Image.fromarray(blocks).save(folder / "sub" / f"{index}_label.png")
    with net(folder, "batch_size: 1 new_height: 12 new_width: 16 label_divide_factor: 2") as made:
        images, labels = step(made)
    assert images.shape == (1, 3, 12, 16)
    expected = np.kron(np.array([[0, 9], [200, 255]]), np.ones((3, 4)))
    np.testing.assert_array_equal(labels, expected[None, None])


def test_resizing_takes_the_pixels_that_opencv_takes(folder: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    for height, width in ((5, 11), (4, 3), (13, 16)):
        with net(folder, f"batch_size: 1 new_height: {height} new_width: {width}") as made:
            _, labels = step(made)
        expected = cv2.resize(LABELS[0], (width, height), interpolation=cv2.INTER_NEAREST)
        np.testing.assert_array_equal(labels[0, 0], expected)


def test_images_in_grey_and_of_other_sizes(folder: Path) -> None:
    for name in ("1.png", "1_label.png"):
        Image.fromarray(LABELS[1][:4, :6]).save(folder / "sub" / name)
    with net(folder, "batch_size: 1 is_color: false") as made:
        sizes = [step(made)[0].shape[1:] for _ in range(3)]
    assert sizes == [(1, HEIGHT, WIDTH), (1, 4, 6), (1, HEIGHT, WIDTH)]


def test_every_pass_has_an_order_of_its_own_with_every_pair_once(folder: Path) -> None:
    with net(folder, "batch_size: 5 shuffle: true") as made:
        passes = [step(made) for _ in range(3)]
    orders = []
    for images, labels in passes:
        np.testing.assert_array_equal(images[:, 0], labels[:, 0])
        orders.append([int(np.argmax([np.array_equal(image, whole) for whole in BGR])) for image in images])
    assert all(sorted(order) == list(range(COUNT)) for order in orders)
    assert len({tuple(order) for order in orders}) > 1


ALL = "batch_size: 2 shuffle: true mirror: true crop_height: 4 crop_width: 4 rand_skip: 3"


def test_equal_seeds_are_equal_runs_and_others_are_not(folder: Path) -> None:
    runs = []
    for seed in (1, 1, 2):
        with net(folder, ALL, seed=seed) as made:
            runs.append([step(made) for _ in range(6)])
    for mine, theirs in zip(runs[0], runs[1], strict=True):
        np.testing.assert_array_equal(mine[0], theirs[0])
        np.testing.assert_array_equal(mine[1], theirs[1])
    assert any(not np.array_equal(a[0], b[0]) for a, b in zip(runs[0], runs[2], strict=True))


@pytest.mark.parametrize("before", [0, 1, 4])
def test_a_resumed_run_goes_on_where_it_was(folder: Path, before: int) -> None:
    with net(folder, ALL) as first, net(folder, ALL, seed=99) as second:
        for _ in range(before):
            step(first)
        state = first.layer("d").get_state()
        second.layer("d").set_state(state)
        for _ in range(6):
            for mine, theirs in zip(step(first), step(second), strict=True):
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("fields", "transform", "fault"),
    [
        ("batch_size: 0", "", "batch_size of at least 1"),
        ("batch_size: 1 new_height: 3", "", "new_height and new_width, or neither"),
        ("batch_size: 1 crop_width: 3", "", "crop_height and crop_width, or neither"),
        ("batch_size: 1 crop_height: 7 crop_width: 3", "", "at least 7 high and 3 wide to crop, got 6 and 8"),
        ("batch_size: 1 label_divide_factor: 2", "", "3 high and 4 wide, got 6 and 8"),
        ("batch_size: 1 label_divide_factor: 2 crop_height: 2 crop_width: 2", "", "no crop with a label_divide_factor"),
        ("batch_size: 1 label_divide_factor: 0", "", "label_divide_factor of at least 1"),
        ("batch_size: 1", "mirror: true", "no mirror and crop_size in transform_param"),
        ("batch_size: 1", "mean_value: 1 mean_value: 2", "one for each of 3 channels"),
        ('batch_size: 1 root_folder: "nowhere/"', "", r"list.txt:1, was not found"),
    ],
)
def test_what_does_not_fit_is_told_before_a_run(folder: Path, fields: str, transform: str, fault: str) -> None:
    with pytest.raises(NetcanvasError, match=fault):
        net(folder, fields, transform)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "got 0 paths"),
        ("sub/0.png\n", "got 1 paths"),
        ("sub/0.png sub/list.txt\n", "was not found"),
        ("list.txt sub/0_label.png\n", "list.txt"),
    ],
)
def test_lists_that_are_wrong(folder: Path, content: str, fault: str) -> None:
    (folder / "list.txt").write_text(content)
    with pytest.raises(NetcanvasError, match=fault):
        net(folder, "batch_size: 1")


def test_sizes_that_differ_within_a_batch_are_told(folder: Path) -> None:
    for name in ("1.png", "1_label.png"):
        Image.fromarray(LABELS[1][:4, :6]).save(folder / "sub" / name)
    with net(folder, "batch_size: 2 is_color: false") as made:
        with pytest.raises(NetcanvasError, match="1.png.*as the first of its batch has"):
            made.forward()
        with pytest.raises(NetcanvasError, match="as the first of its batch has"):
            made.forward()


NET = """
layer { name: "pairs" type: "DenseImageData" top: "data" top: "label" transform_param { scale: 0.01 }
  dense_image_data_param {
    source: "classes.txt" batch_size: 2 shuffle: true mirror: true crop_height: 4 crop_width: 6 } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "bn" type: "BN" bottom: "conv" top: "conv" bn_param { slope_filler { type: "constant" value: 1 } } }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" dropout_param { sample_weights_test: true } }
layer { name: "classes" type: "ConvolutionDepthwise" bottom: "conv" top: "classes"
  convolution_param { kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "classes" bottom: "label" top: "loss"
  loss_param { weight_by_label_freqs: true } }
"""
SOLVER = (
    'net: "net.prototxt" base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" snapshot_prefix: "snap" '
    "snapshot_after_train: true random_seed: "
)


def test_an_interrupted_training_ends_in_the_same_bits(folder: Path) -> None:
    for index in range(COUNT):
        Image.fromarray(LABELS[index] % 4).save(folder / "sub" / f"{index}_class.png")
    pairs = [f"sub/{index}.png sub/{index}_class.png\n" for index in range(COUNT)]
    (folder / "classes.txt").write_text("".join(pairs))
    (folder / "net.prototxt").write_text(NET)
    ends = []
    for seed, end, state in ((1, 7, None), (1, 3, None), (2, 7, folder / "snap_iter_3.solverstate")):
        text = f"{SOLVER}{seed} max_iter: {end}\n"
        solver = Solver.create(text, base_dirs=(folder,), output_dir=folder)
        solver.solve(state)
        blobs = [blob for name in sorted(solver.net.params) for blob in solver.net.params[name]]
        ends.append([blob.data.tobytes() for blob in blobs])
        solver.close()
    assert len(ends[0]) == 2 + 4 + 2
    assert ends[2] == ends[0] != ends[1]
