from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.data import Transform
from engine.data.transform import read_mean
from engine.errors import DataError, FileFormatError
from engine.prototxt import parse
from engine.schema import load_schema, to_message

SHAPE = (3, 6, 7)


def param(text: str) -> Any:
    return to_message(parse(text.encode()).root, "TransformationParameter", strict=True)


def reference(
    pixels: np.ndarray, mean: np.ndarray, scale: float, top: int, left: int, crop: int, flip: bool
) -> np.ndarray:
    """Caffe's loop, one pixel at a time, in float64."""
    channels, height, width = pixels.shape
    rows, columns = (crop, crop) if crop else (height, width)
    out = np.zeros((channels, rows, columns))
    for c in range(channels):
        for y in range(rows):
            for x in range(columns):
                value = (float(pixels[c, top + y, left + x]) - mean[c, top + y, left + x]) * scale
                out[c, y, columns - 1 - x if flip else x] = value
    return out


def run(transform: Transform, pixels: np.ndarray, seed: int = 0) -> np.ndarray:
    out = np.full((len(pixels), *transform.output_shape), np.nan, np.float32)
    transform.apply(pixels, out, np.random.default_rng(seed))
    return out


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (5, *SHAPE), dtype=np.uint8)


@pytest.mark.parametrize("scale", [1.0, 0.00390625])
@pytest.mark.parametrize("mean", ["", "mean_value: 7", "mean_value: 1 mean_value: 2 mean_value: 3", "file"])
@pytest.mark.parametrize("crop", [0, 4])
def test_centre_crop_mean_and_scale(pixels: np.ndarray, scale: float, mean: str, crop: int) -> None:
    image_mean = np.random.default_rng(4).random(SHAPE).astype(np.float32) if mean == "file" else None
    text = f"scale: {scale} crop_size: {crop} " + (mean if mean != "file" else "")
    transform = Transform(param(text), SHAPE, train=False, owner="layer", mean=image_mean)
    whole = np.zeros(SHAPE)
    if image_mean is not None:
        whole += image_mean
    elif mean:
        whole += np.broadcast_to(np.array(param(text).mean_value).reshape(-1, 1, 1), SHAPE)
    top, left = ((SHAPE[1] - crop) // 2, (SHAPE[2] - crop) // 2) if crop else (0, 0)
    expected = [reference(image, whole, scale, top, left, crop, False) for image in pixels]
    np.testing.assert_allclose(run(transform, pixels), expected, rtol=1e-6, atol=1e-5)


def test_random_crop_and_mirror_cover_all_places_with_the_right_mean() -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, SHAPE, dtype=np.uint8)
    mean = rng.random(SHAPE).astype(np.float32) * 100
    transform = Transform(param("crop_size: 4 mirror: true"), SHAPE, train=True, owner="layer", mean=mean)
    results = {out.tobytes() for out in run(transform, np.broadcast_to(image, (600, *SHAPE)))}
    expected = {
        reference(image, mean, 1.0, top, left, 4, flip).astype(np.float32).tobytes()
        for top in range(3)
        for left in range(4)
        for flip in (False, True)
    }
    assert results == expected


@pytest.mark.parametrize("train", [True, False])
def test_mirror_is_random_in_both_phases(pixels: np.ndarray, train: bool) -> None:
    out = run(Transform(param("mirror: true"), SHAPE, train=train, owner="layer"), pixels)
    flipped = [not np.array_equal(got, image) for got, image in zip(out, pixels, strict=True)]
    assert any(flipped) and not all(flipped)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crop_size: 7", "crop_size of at most 6, got 7"),
        ("mean_value: 1 mean_value: 2", "each of 3 channels, got 2"),
        ('mean_value: 1 mean_file: "m"', "got both"),
    ],
)
def test_settings_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Transform(param(text), SHAPE, train=True, owner="layer")


def test_mean_of_another_shape_names_both() -> None:
    with pytest.raises(DataError, match=r"\(3, 6, 7\).*\(3, 5, 7\)"):
        Transform(param(""), SHAPE, train=True, owner="layer", mean=np.zeros((3, 5, 7), np.float32))


def test_mean_file(tmp_path: Path) -> None:
    blob = load_schema().message("BlobProto")(num=1, channels=3, height=1, width=2, data=range(6))
    (tmp_path / "mean.binaryproto").write_bytes(blob.SerializeToString())
    mean = read_mean("mean.binaryproto", (tmp_path,), "layer")
    np.testing.assert_array_equal(mean, np.arange(6, dtype=np.float32).reshape(3, 1, 2))
    with pytest.raises(DataError, match="was not found; tried"):
        read_mean("gone", (tmp_path,), "layer")
    (tmp_path / "bad").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match="^layer: mean_file: .*HTML"):
        read_mean("bad", (tmp_path,), "layer")
    blob.num = 2
    blob.data.extend(range(6))
    (tmp_path / "two").write_bytes(blob.SerializeToString())
    with pytest.raises(DataError, match=r"mean of one image.*\(2, 3, 1, 2\)"):
        read_mean("two", (tmp_path,), "layer")
