from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.data import BatchSource, open_window_source
from engine.data.resizing import resize_bytes
from engine.data.window_crop import WindowCrop, cut_window
from engine.data.window_file import read_windows
from engine.errors import DataError
from engine.files import write_blob
from tests.engine.data.conftest import LayerMaker
from tests.engine.data.support import check_position_is_restored

RNG = np.random.default_rng(4)
FIRST = RNG.integers(0, 256, (20, 30, 3), dtype=np.uint8)
SECOND = RNG.integers(0, 256, (16, 16, 3), dtype=np.uint8)

FILE = """# 0
first.png
3
20
30
4
2 0.9 4 4 11 11
3 0.5 10 2 17 9
1 0.4 0 0 7 7
1 0.1 20 10 27 17
# 1
second.png
3 16 16
1
5 0.0 8 8 15 15
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two images and a window file: two windows with objects, two without (threshold 0.3), one between."""
    Image.fromarray(FIRST).save(tmp_path / "first.png")
    Image.fromarray(SECOND).save(tmp_path / "second.png")
    (tmp_path / "windows.txt").write_text(FILE)
    return tmp_path


def text(folder: Path, more: str = "", transform: str = "crop_size: 8", batch: int = 8) -> str:
    return (
        f'name: "w" type: "WindowData" top: "data" top: "label" transform_param {{ {transform} }} '
        f'window_data_param {{ source: "{folder}/windows.txt" batch_size: {batch} bg_threshold: 0.3 {more} }}'
    )


def opened(layer: LayerMaker, param: str, seed: int = 0) -> BatchSource:
    return open_window_source(layer(param), seed=seed)


def bgr(image: np.ndarray, x1: int, y1: int, x2: int, y2: int) -> np.ndarray:
    return image[y1 : y2 + 1, x1 : x2 + 1, ::-1].transpose(2, 0, 1).astype(np.float64)


OBJECTS = {2: bgr(FIRST, 4, 4, 11, 11), 3: bgr(FIRST, 10, 2, 17, 9)}
OTHERS = [bgr(FIRST, 20, 10, 27, 17), bgr(SECOND, 8, 8, 15, 15)]


def test_file_is_read_as_caffe_reads_it(folder: Path) -> None:
    found = read_windows("windows.txt", (folder,), "Layer 'w'", fg_threshold=0.5, bg_threshold=0.3)
    assert found.paths == ("first.png", "second.png") and found.lines == (1, 11)
    assert found.foreground.label.tolist() == [2, 3] and found.background.label.tolist() == [0, 0]
    assert found.foreground.line.tolist() == [7, 8] and found.background.line.tolist() == [10, 15]
    assert found.background.image.tolist() == [0, 1]
    assert found.background.box.tolist() == [[20, 10, 27, 17], [8, 8, 15, 15]]


def test_batches_hold_background_then_objects_in_their_share(folder: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(folder))  # fg_fraction is 0.25
    assert source.shapes == ((8, 3, 8, 8), (8,))
    seen: set[float] = set()
    for _ in range(6):
        images, labels = source.next().arrays
        assert labels[:6].tolist() == [0] * 6
        for image in images[:6]:
            assert any(np.array_equal(image, other) for other in OTHERS)
        for image, label in zip(images[6:], labels[6:], strict=True):
            np.testing.assert_array_equal(image, OBJECTS[int(label)])
            seen.add(float(label))
    assert seen == {2, 3}
    source.close()


def test_scale_is_read_from_its_own_block_and_the_rest_from_transform_param(folder: Path, layer: LayerMaker) -> None:
    transform = "crop_size: 8 scale: 100 mean_value: 1 mean_value: 2 mean_value: 3"
    source = opened(layer, text(folder, "scale: 0.5 crop_size: 4 mirror: true fg_fraction: 1", transform))
    mean = np.array([1, 2, 3]).reshape(3, 1, 1)
    for image, label in zip(*source.next().arrays, strict=True):
        np.testing.assert_array_equal(image, (OBJECTS[int(label)] - mean) * 0.5)
    source.close()


def test_mean_file_is_taken_about_its_middle(folder: Path, layer: LayerMaker) -> None:
    mean = RNG.random((1, 3, 14, 12)).astype(np.float32)
    write_blob(folder / "mean.binaryproto", mean)
    transform = f'crop_size: 8 mean_file: "{folder}/mean.binaryproto"'
    source = opened(layer, text(folder, "fg_fraction: 1", transform))
    under = mean[0, :, 2:10, 2:10].astype(np.float64)  # (12 - 8) / 2 from the width, in both directions
    for image, label in zip(*source.next().arrays, strict=True):
        np.testing.assert_allclose(image, OBJECTS[int(label)] - under, rtol=1e-6)
    source.close()


def test_mirror_flips_about_half(folder: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(folder, "fg_fraction: 1", "crop_size: 8 mirror: true", batch=64))
    flipped = []
    for image, label in zip(*source.next().arrays, strict=True):
        flipped.append(np.array_equal(image, OBJECTS[int(label)][:, :, ::-1]))
        assert flipped[-1] or np.array_equal(image, OBJECTS[int(label)])
    assert 16 < sum(flipped) < 48
    source.close()


@pytest.mark.parametrize("consumed", [0, 2])
def test_position_is_restored_exactly(folder: Path, layer: LayerMaker, consumed: int) -> None:
    param = text(folder, "context_pad: 1 cache_images: true", "crop_size: 8 mirror: true")
    check_position_is_restored(lambda seed: opened(layer, param, seed=seed), consumed, batches=3)


def reference(image: np.ndarray, box: tuple[int, int, int, int], size: int, context: int, square: bool) -> np.ndarray:
    """The window in float64: the square of ``size`` pixels laid over the widened window, 0 outside the image.

    After R-CNN (Girshick et al. 2014, appendix A): the window becomes ``size - 2 context`` pixels.
    """
    x1, y1, x2, y2 = box
    half = np.array([(x2 - x1 + 1) / 2, (y2 - y1 + 1) / 2])
    center = np.array([x1, y1]) + half
    if square:
        half[:] = half.max()
    half *= size / (size - 2 * context)
    low, high = np.floor(center - half + 0.5), np.floor(center + half + 0.5)
    out = np.zeros((size, size, 3))
    for row in range(size):
        for column in range(size):
            x = low[0] + (column + 0.5) * (high[0] - low[0] + 1) / size
            y = low[1] + (row + 0.5) * (high[1] - low[1] + 1) / size
            if 0 <= x < image.shape[1] and 0 <= y < image.shape[0]:
                out[row, column] = image[int(y), int(x)]
    return out


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    ("box", "size", "context", "square"),
    [
        ((4, 4, 11, 11), 16, 2, False),
        ((0, 0, 9, 5), 16, 4, False),  # over the upper left corner
        ((22, 12, 29, 19), 20, 4, False),  # over the lower right corner
        ((2, 6, 25, 9), 12, 0, True),
        ((0, 1, 3, 18), 15, 3, True),
        ((-3, -2, 8, 8), 12, 1, False),  # the window itself lies outside
    ],
)
def test_context_and_squares(box: tuple[int, int, int, int], size: int, context: int, square: bool, flip: bool) -> None:
    smooth = np.add.outer(np.arange(20) * 4, np.arange(30) * 3)
    image = np.stack([smooth + 40, smooth + 50, smooth + 60], axis=2).astype(np.uint8)
    cut, top, left = cut_window(image, box, WindowCrop(size, context, square), flip=flip)
    out = np.zeros((size, size, 3))
    out[top : top + cut.shape[0], left : left + cut.shape[1]] = cut
    expected = reference(image, box, size, context, square)
    if flip:
        expected = expected[:, ::-1]
    both = (out > 0) & (expected > 0)
    assert ((out > 0) != (expected > 0)).mean() < 0.17  # rounding may move an edge by one pixel
    assert np.abs(out - expected)[both].max() <= 9  # the nearest pixel against the interpolated one
    assert both.mean() > 0.3


def test_a_window_outside_is_padded_at_the_place_that_caffe_computes() -> None:
    """By hand: 8 pixels and a context of 2 of 16 widen by 16 / 12 to 11 pixels, 1 of them outside on two sides."""
    cut, top, left = cut_window(FIRST, (0, 0, 7, 7), WindowCrop(16, 2))
    # half 4 * 4/3 = 5.33: from round(-1.33) = -1 to round(9.33) = 9, 11 pixels, scale 16/11
    assert (top, left) == (1, 1) and cut.shape == (15, 15, 3)  # round(1.45) = 1, round(10 * 1.45) = 15
    np.testing.assert_array_equal(cut, resize_bytes(FIRST[:10, :10], 15, 15))
    flipped, _, left = cut_window(FIRST, (0, 0, 7, 7), WindowCrop(16, 2), flip=True)
    assert left == 0
    np.testing.assert_array_equal(flipped, cut[:, ::-1])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# 1\n", "# 7\n", r"windows.txt:11: expected images numbered from 0, so 1, got 7"),
        ("# 0\n", "0\n", "expected '# 0' at the beginning"),
        (FILE, "", "got an empty file"),
        ("3\n20", "1\n20", r":1: expected 3 channels"),
        ("\n4\n2 0.9", "\n5\n2 0.9", r"expected 5 windows of 6 values for image 0, got 4 times"),
        ("3 0.5 10", "3 0.5 ten", r":8: expected numbers, got 'ten'"),
        ("3 0.5 10 ", "3 0.5 10.5 ", r":8: expected whole numbers as class and corners"),
        ("3 0.5", "0 0.5", r":8: expected a class above 0 .* got 0"),
        ("first.png", "gone.png", r"'gone.png', listed in .*:1, was not found; tried"),
        ("16 16\n1\n5", "16 sixteen\n1\n5", r":11: expected a whole number as width, got 'sixteen'"),
    ],
)
def test_a_file_of_another_form_is_named_with_its_line(
    folder: Path, layer: LayerMaker, old: str, new: str, message: str
) -> None:
    (folder / "windows.txt").write_text(FILE.replace(old, new, 1))
    with pytest.raises(DataError, match=rf"Layer 'w' \(WindowData\): .*{message}"):
        opened(layer, text(folder))


@pytest.mark.parametrize(
    ("more", "transform", "message"),
    [
        ("", "", "transform_param.crop_size of at least 1"),
        ("fg_threshold: 2", "crop_size: 8", "a window that shows an object .* got none"),
        ("bg_threshold: 0", "crop_size: 8", "a window that shows background .* got none"),
        ("crop_mode: 'round'", "crop_size: 8", "crop_mode 'warp' or 'square'"),
        ("context_pad: 4", "crop_size: 8", "context_pad of less than half"),
        ("", "crop_size: 8 mean_value: 1 mean_value: 2", "one mean_value or 3, got 2"),
        ("", "crop_size: 8 mean_value: 1 mean_file: 'x'", "mean_file or mean_value, got both"),
        ("fg_fraction: 1.5", "crop_size: 8", "fg_fraction from 0 to 1"),
    ],
)
def test_settings_that_do_not_fit(folder: Path, layer: LayerMaker, more: str, transform: str, message: str) -> None:
    param = text(folder, more, transform)
    with pytest.raises(DataError, match=rf"Layer 'w' \(WindowData\): .*{message}"):
        opened(layer, param.replace("bg_threshold: 0.3", "") if "bg_threshold" in more else param)


def test_a_window_outside_its_image_is_named(folder: Path, layer: LayerMaker) -> None:
    (folder / "windows.txt").write_text(FILE.replace("5 0.0 8 8 15 15", "5 0.0 8 8 16 15").replace("1 0.1", "1 0.35"))
    source = opened(layer, text(folder))
    with pytest.raises(DataError, match=r"window \(8, 8, 16, 15\) of .*windows.txt:15 in 'second.png'.*16 x 16"):
        source.next()
    source.close()


def test_a_damaged_image_is_named(folder: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(folder))
    (folder / "second.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError, match=r"image 'second.png', .*windows.txt:11: expected an encoded image"):
        for _ in range(9):
            source.next()
    source.close()
