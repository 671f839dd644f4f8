from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.data.images import decode_image, read_image
from engine.data.resizing import resize_bytes
from engine.errors import DataError

RNG = np.random.default_rng(3)
RGB = RNG.integers(0, 256, (13, 17, 3), dtype=np.uint8)


def encoded(pixels: np.ndarray, form: str, mode: str | None = None, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(buffer, form, **options)
    return buffer.getvalue()


def opencv(data: bytes, color: bool | None) -> np.ndarray:
    cv2 = pytest.importorskip("cv2", reason="OpenCV, which Caffe reads images with, is not installed")
    image = cv2.imdecode(np.frombuffer(data, np.uint8), {True: 1, False: 0, None: -1}[color])
    return image[np.newaxis] if image.ndim == 2 else image.transpose(2, 0, 1)


@pytest.mark.parametrize("color", [True, False, None])
@pytest.mark.parametrize(
    ("data", "limit"),
    [
        (encoded(RGB, "PNG"), 0.01),
        (encoded(RGB, "JPEG", quality=80), 0.01),
        (encoded(RGB, "BMP"), 0.01),
        (encoded(RGB, "PNG", "L"), 0.01),
        (encoded(RGB, "JPEG", "L"), 0.01),
        (encoded(RGB, "PNG", "LA"), 0.01),
        (encoded(RGB, "PNG", "RGBA"), 0.01),
        (encoded(RGB, "PNG", "P"), 0.01),
        (encoded(RGB, "PNG", "1"), 0.01),
        (encoded(RGB, "JPEG", "CMYK"), 1.0),  # another rounding of inks
    ],
    ids=["png", "jpeg", "bmp", "grey png", "grey jpeg", "grey alpha", "alpha", "palette", "bits", "cmyk"],
)
def test_images_are_decoded_as_opencv_does(data: bytes, limit: float, color: bool | None) -> None:
    expected = opencv(data, color)
    got = decode_image(data, color=color)
    assert got.shape == expected.shape and got.flags.c_contiguous
    off = np.abs(got.astype(int) - expected)
    assert off.max() <= 1 and (off > 0).mean() < limit


def test_channels_are_blue_green_red() -> None:
    data = encoded(np.full((1, 1, 3), (10, 20, 30), np.uint8), "PNG")
    assert decode_image(data, color=True)[:, 0, 0].tolist() == [30, 20, 10]
    assert decode_image(data, color=False)[:, 0, 0].tolist() == [(299 * 10 + 587 * 20 + 114 * 30) // 1000]


@pytest.mark.parametrize(("color", "channels"), [(True, 3), (False, 1)])
def test_sixteen_bits_become_eight(color: bool, channels: int) -> None:
    deep = RNG.integers(0, 65536, (4, 5), dtype=np.uint16)
    data = encoded(deep, "PNG")
    np.testing.assert_array_equal(decode_image(data, color=color), np.stack([deep >> 8] * channels))
    with pytest.raises(DataError, match="more than 8 bits"):
        decode_image(data)


def test_a_turned_camera_is_turned_back() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(RGB, "PNG", exif=exif.tobytes())
    assert decode_image(data, color=True).shape == (3, 17, 13)
    assert decode_image(data).shape == (3, 13, 17)


SIZES = [(13, 17), (20, 30), (5, 7), (1, 1), (64, 48), (13, 40)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("image", [RGB, RGB[:, :, 0]], ids=["colour", "grey"])
def test_resizing_equals_opencv_to_the_bit(image: np.ndarray, size: tuple[int, int]) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV, which Caffe resizes with, is not installed")
    np.testing.assert_array_equal(resize_bytes(image, *size), cv2.resize(image, size[::-1]))


@pytest.mark.parametrize("size", SIZES)
def test_resizing_is_bilinear(size: tuple[int, int]) -> None:
    """The definition in float64: weights of the four neighbours of (i + 0.5) * old / new - 0.5, edges repeated."""
    height, width = size
    expected = np.empty((height, width, 3))
    source = np.pad(RGB.astype(float), ((1, 1), (1, 1), (0, 0)), mode="edge")
    for row in range(height):
        for column in range(width):
            y = (row + 0.5) * RGB.shape[0] / height - 0.5 + 1
            x = (column + 0.5) * RGB.shape[1] / width - 0.5 + 1
            above, left = int(y), int(x)
            v, h = y - above, x - left
            block = source[above : above + 2, left : left + 2]
            expected[row, column] = np.einsum("ijc,i,j->c", block, [1 - v, v], [1 - h, h])
    assert np.abs(resize_bytes(RGB, height, width) - expected).max() <= 1.01


def test_shrinking_to_half_takes_means() -> None:
    image = np.array([[0, 1, 10, 20], [2, 3, 30, 41]], np.uint8)
    assert resize_bytes(image, 1, 2).tolist() == [[2, 25]]  # 1.5 and 25.25


@pytest.mark.parametrize("data", [b"", b"no image at all", encoded(RGB, "PNG")[:60], encoded(RGB, "JPEG")[:200]])
def test_what_is_no_image_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DataError, match="expected an encoded image, got"):
        decode_image(data, color=True)
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(DataError, match=r"Image '.*a\.png': expected"):
        read_image(tmp_path / "a.png")


def test_a_missing_image_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.png' cannot be read: No such file"):
        read_image(tmp_path / "gone.png")
