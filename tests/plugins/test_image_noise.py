"""Noise of ``AnnotatedData`` against OpenCV, of which SSD's Caffe makes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.layer import Phase
from engine.net import Net
from tests.plugins.annotated_records import write
from tests.plugins.forks import Values

cv2: Any = pytest.importorskip("cv2")

SIZES = [(48, 64), (37, 53), (40, 53), (5, 9)]  # of the second and third, OpenCV extends both axes


def image_of(size: tuple[int, int]) -> Values:
    """Return an image with smooth parts, dark ones, and some noise, shape (height, width, 3)."""
    height, width = size
    rng = np.random.default_rng(3)
    slope = np.add.outer(np.linspace(10, 90, height), np.linspace(0, 100, width))
    colours = slope[:, :, np.newaxis] * [0.4, 1.0, 0.7] + rng.normal(0, 12, (height, width, 3))
    return colours.clip(0, 255).astype(np.uint8)


def through_brightness(change: Callable[[Values], Values], image: Values) -> Values:
    if image.ndim == 2:
        return change(image)
    planes = list(cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2YCrCb)))
    return np.asarray(cv2.cvtColor(cv2.merge([change(planes[0]), *planes[1:]]), cv2.COLOR_YCrCb2BGR))


def squeezed(image: Values, quality: int) -> Values:
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))


def posterized(image: Values) -> Values:
    return np.asarray(cv2.LUT(image, np.array([value // 64 * 64 + 32 for value in range(256)], np.uint8)))


def grey(image: Values) -> Values:
    """OpenCV's grey, as it was up to version 3; later ones have one binary place more."""
    blue, green, red = image.astype(int).transpose(2, 0, 1)
    plane = ((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14).astype(np.uint8)
    assert np.abs(plane.astype(int) - cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)).max() <= 1
    return np.repeat(plane[:, :, np.newaxis], 3, axis=2)


CROSS = cv2.getStructuringElement(2, (3, 3), (1, 1))
#: What SSD's ``ApplyNoise`` calls, in its order.
NOISES: dict[str, Callable[[Values], Values]] = {
    "decolorize: true": grey,
    "gauss_blur: true": lambda x: cv2.GaussianBlur(x, (7, 7), 1.5),
    "hist_eq: true": lambda x: through_brightness(cv2.equalizeHist, x),
    "clahe: true": lambda x: through_brightness(cv2.createCLAHE(4).apply, x),
    "jpeg: 30": lambda x: squeezed(x, 30),
    "jpeg: 300": lambda x: squeezed(x, 300),
    "erode: true": lambda x: cv2.erode(x, CROSS),
    "posterize: true": posterized,
    "inverse: true": cv2.bitwise_not,
    "convert_to_hsv: true": lambda x: cv2.cvtColor(x, cv2.COLOR_BGR2HSV),
}


def noised(folder: Path, image: Values, fields: str) -> Values:
    """Return the image as a net gives it, shape (height, width, channels)."""
    planes = image[np.newaxis] if image.ndim == 2 else image.transpose(2, 0, 1)
    if not (folder / "database").exists():
        write(folder / "database", [(planes, [(1, 0, [0.1, 0.1, 0.9, 0.9], False)])])
    net = Net(
        f'layer {{ name: "data" type: "AnnotatedData" top: "data" transform_param {{ noise_param {{ {fields} }} }}'
        ' data_param { source: "database" batch_size: 1 backend: LMDB } }',
        Phase.TRAIN,
        base_dirs=[folder],
        seed=1,
    )
    net.forward()
    values = net.blobs["data"].data[0].transpose(1, 2, 0).copy()
    for layer in net.layers:
        layer.close()
    return values


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("fields", NOISES)
def test_noise_is_opencvs_to_the_bit(tmp_path: Path, fields: str, size: tuple[int, int]) -> None:
    image = image_of(size)
    np.testing.assert_array_equal(noised(tmp_path, image, fields), NOISES[fields](image))


@pytest.mark.parametrize("fields", ["hist_eq: true", "clahe: true", "gauss_blur: true", "erode: true", "inverse: true"])
def test_images_of_one_channel_have_noise_too(tmp_path: Path, fields: str) -> None:
    image = image_of((37, 53))[:, :, 0]
    np.testing.assert_array_equal(noised(tmp_path, image, fields)[:, :, 0], NOISES[fields](image))


def test_noises_come_one_after_the_other(tmp_path: Path) -> None:
    image = expected = image_of((40, 53))
    fields = [each for each in NOISES if each not in ("jpeg: 300", "convert_to_hsv: true")]
    for each in fields:
        expected = NOISES[each](expected)
    np.testing.assert_array_equal(noised(tmp_path, image, " ".join(reversed(fields))), expected)


@pytest.mark.parametrize("value", [0, 255])
def test_a_plane_of_one_value_stays_as_opencv_leaves_it(tmp_path: Path, value: int) -> None:
    image = np.full((24, 32, 3), value, np.uint8)
    for fields in ("hist_eq: true", "clahe: true"):
        np.testing.assert_array_equal(noised(tmp_path, image, fields), NOISES[fields](image))


def test_lab_colours_are_those_of_cie(tmp_path: Path) -> None:
    image = image_of((20, 30))
    image[0, :3] = [[0, 0, 255], [255, 255, 255], [0, 0, 0]]
    lab = noised(tmp_path, image, "convert_to_lab: true")
    expected = [[53.24, 80.09, 67.20], [100, 0, 0], [0, 0, 0]]  # red, white and black of sRGB under D65
    np.testing.assert_allclose(lab[0, :3], expected, rtol=0, atol=0.02)
    theirs = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)  # which interpolates in a table
    np.testing.assert_allclose(lab, theirs, rtol=0, atol=0.5)


def test_salt_and_pepper_changes_a_part_of_the_pixels(tmp_path: Path) -> None:
    image = np.full((40, 50, 3), 100, np.uint8)
    fields = "saltpepper: true saltpepper_param { fraction: 0.1 value: [7, 8, 9.9] }"
    changed = (noised(tmp_path, image, fields) == [7, 8, 9]).all(axis=2)
    assert 150 < changed.sum() <= 200  # 200 are drawn, some twice
    assert (noised(tmp_path, image, fields)[~changed] == 100).all()
