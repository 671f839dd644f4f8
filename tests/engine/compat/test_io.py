"""``caffe.io``: images into nets and back, and arrays as messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from engine.compat.caffe import io
from engine.errors import DataError

SHAPE = (1, 3, 2, 2)


def transformer(shape: Sequence[int] = SHAPE, **settings: Any) -> io.Transformer:
    made = io.Transformer({"data": tuple(shape)})
    for name, value in settings.items():
        getattr(made, f"set_{name}")("data", value)
    return made


CAFFE_NET: dict[str, Any] = {
    "transpose": (2, 0, 1),
    "channel_swap": (2, 1, 0),
    "raw_scale": 255,
    "mean": np.array([1.0, 2.0, 3.0]),
    "input_scale": 0.5,
}


class TestTransformer:
    def test_order_of_steps(self) -> None:
        image = np.tile(np.array([0.2, 0.4, 0.6], np.float32), (2, 2, 1))
        kept = image.copy()
        got = transformer(**CAFFE_NET).preprocess("data", image)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, np.broadcast_to(np.reshape([76, 50, 24], (3, 1, 1)), (3, 2, 2)), rtol=1e-6)
        np.testing.assert_array_equal(image, kept)

    @pytest.mark.parametrize("axes_in_front", [(), (1,)])
    @pytest.mark.parametrize("left_out", [None, *CAFFE_NET])
    def test_deprocess_inverts(self, left_out: str | None, axes_in_front: tuple[int, ...]) -> None:
        settings = {name: value for name, value in CAFFE_NET.items() if name != left_out}
        image = np.random.default_rng(1).random((3, 3, 3), dtype=np.float32)  # any order of axes is 3 x 3 x 3
        made = transformer((1, 3, 3, 3), **settings)
        blob = made.preprocess("data", image)
        kept = blob.copy()
        back = made.deprocess("data", blob.reshape(*axes_in_front, *blob.shape))
        np.testing.assert_allclose(back, image, atol=1e-6)
        np.testing.assert_array_equal(blob, kept)

    @pytest.mark.parametrize("shape", [(4, 6, 1), (4, 6)])
    def test_grey(self, shape: tuple[int, ...]) -> None:
        image = np.random.default_rng(2).random(shape, dtype=np.float32)
        made = transformer((1, 1, 4, 6), transpose=(2, 0, 1), raw_scale=2)
        blob = made.preprocess("data", image)
        np.testing.assert_array_equal(blob, image.reshape(1, 4, 6) * 2)
        np.testing.assert_array_equal(made.deprocess("data", blob[np.newaxis]), image.reshape(4, 6, 1))

    def test_constant_image_is_resized(self) -> None:
        got = transformer(transpose=(2, 0, 1)).preprocess("data", np.full((5, 7, 3), 0.25))
        np.testing.assert_array_equal(got, np.full((3, 2, 2), 0.25, np.float32))

    def test_size_given_as_a_list(self) -> None:
        image = np.random.default_rng(3).random((2, 2, 3))
        made = io.Transformer({"data": [1, 3, 2, 2]})
        np.testing.assert_array_equal(made.preprocess("data", image), image.astype(np.float32))

    def test_mean_image_of_another_size(self) -> None:
        mean = np.stack([np.full((6, 6), value) for value in (10.0, 20.0, 30.0)])
        made = transformer(mean=mean)
        assert made.mean["data"].shape == (3, 2, 2)
        np.testing.assert_allclose(made.mean["data"], mean[:, :2, :2], rtol=1e-6)
        plane = np.arange(4.0).reshape(2, 2)
        np.testing.assert_array_equal(transformer(mean=plane).mean["data"], plane[np.newaxis])

    @pytest.mark.parametrize(
        ("setting", "value", "words"),
        [
            ("transpose", (1, 0), "expected the transpose of input 'data' to have 3 axes, got 2"),
            ("channel_swap", (1, 0), "to have 3 channels, got 2"),
            ("mean", np.zeros(4), "to have 3 channels, got 4"),
            ("mean", np.zeros((1, 3, 2, 2)), "mean\\[0\\]"),
        ],
    )
    def test_wrong_settings(self, setting: str, value: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            transformer(**{setting: value})

    def test_unknown_input(self) -> None:
        with pytest.raises(DataError, match="'image' is not one of the inputs. Inputs: data"):
            transformer().preprocess("image", np.zeros((2, 2, 3)))


class TestResize:
    def test_linear_between_centres_and_dark_at_the_borders(self) -> None:
        """Values of skimage.transform.resize(..., order=1, mode='constant', anti_aliasing=False)."""
        image = np.array([[0.0, 1.0], [1.0, 1.0]])[:, :, np.newaxis]
        expected = [
            [0.0, 0.1875, 0.5625, 0.5625],
            [0.1875, 0.4375, 0.8125, 0.75],
            [0.5625, 0.8125, 0.9375, 0.75],
            [0.5625, 0.75, 0.75, 0.5625],
        ]
        np.testing.assert_allclose(io.resize_image(image, (4, 4))[:, :, 0], expected, atol=1e-6)
        # outside counts as the smallest value, whatever that is
        lower = io.resize_image(image * 2 - 3, (4, 4))
        np.testing.assert_allclose(lower[:, :, 0], np.multiply(expected, 2) - 3, atol=1e-6)

    def test_other_numbers_of_channels_keep_their_corners(self) -> None:
        """Values of scipy.ndimage.zoom(..., order=1)."""
        image = np.repeat(np.array([[1.0, 3.0]])[:, :, np.newaxis], 2, axis=2)
        got = io.resize_image(image, (2, 5))
        np.testing.assert_allclose(got[:, :, 1], [[1, 1.5, 2, 2.5, 3]] * 2)

    def test_shrinking_takes_no_mean(self) -> None:
        image = np.zeros((9, 9, 3))
        image[4, 4] = 1
        assert io.resize_image(image, (3, 3))[1, 1].tolist() == [1, 1, 1]

    def test_nearest(self) -> None:
        image = np.array([[1.0, 2.0], [3.0, 4.0]])[:, :, np.newaxis]
        assert io.resize_image(image, (4, 2), interp_order=0)[:, :, 0].tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]

    @pytest.mark.parametrize(
        ("shape", "size", "order"), [((2, 2, 3), (2, 2), 3), ((4,), (2, 2), 1), ((2, 2, 3), (0, 2), 1)]
    )
    def test_refused(self, shape: tuple[int, ...], size: tuple[int, int], order: int) -> None:
        with pytest.raises(DataError, match="expected"):
            io.resize_image(np.zeros(shape), size, order)


class TestOversample:
    def test_corners_centre_mirrored(self) -> None:
        image = np.arange(20.0).reshape(4, 5, 1)
        crops = io.oversample([image, image + 100], (2, 2))
        assert crops.shape == (20, 2, 2, 1)
        assert crops.dtype == np.float32
        assert crops[:5, 0, 0, 0].tolist() == [0, 3, 10, 13, 6]
        assert crops[5:10, 0, 0, 0].tolist() == [1, 4, 11, 14, 7]
        np.testing.assert_array_equal(crops[10:], crops[:10] + 100)

    def test_larger_than_the_images(self) -> None:
        with pytest.raises(DataError, match="at least 5 x 2, got 4 x 5"):
            io.oversample([np.zeros((4, 5, 3))], (5, 2))


class TestLoadImage:
    @pytest.mark.parametrize(
        ("mode", "pixel", "color", "expected"),
        [
            ("RGB", (255, 51, 0), True, [1, 0.2, 0]),
            ("RGBA", (255, 51, 0, 7), True, [1, 0.2, 0]),
            ("P", (255, 51, 0), True, [1, 0.2, 0]),
            ("L", 51, True, [0.2, 0.2, 0.2]),
            ("LA", (51, 9), True, [0.2, 0.2, 0.2]),
            ("1", 1, True, [1, 1, 1]),
            ("L", 51, False, [0.2]),
            ("RGB", (255, 51, 0), False, [0.2125 + 0.7154 / 5]),
            ("I;16", 13107, False, [0.2]),
        ],
    )
    def test_kinds(self, tmp_path: Path, mode: str, pixel: Any, color: bool, expected: list[float]) -> None:
        image = Image.new("RGB" if mode == "P" else mode, (3, 2), pixel)
        (image.quantize(4) if mode == "P" else image).save(tmp_path / "a.png")
        got = io.load_image(str(tmp_path / "a.png"), color)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, np.broadcast_to(expected, (2, 3, len(expected))), rtol=1e-6)

    def test_missing_and_damaged(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            io.load_image(tmp_path / "none.png")
        (tmp_path / "a.png").write_bytes(b"no image")
        with pytest.raises(DataError, match=r"a\.png' cannot be decoded: no known kind of image"):
            io.load_image(tmp_path / "a.png")


class TestMessages:
    @pytest.mark.parametrize("shape", [(2, 3), (1, 3, 2, 2), ()])
    def test_blobs(self, shape: tuple[int, ...]) -> None:
        data = np.random.default_rng(4).random(shape, dtype=np.float32)
        blob = io.array_to_blobproto(data, data * 2)
        np.testing.assert_array_equal(io.blobproto_to_array(blob), data)
        np.testing.assert_array_equal(io.blobproto_to_array(blob, return_diff=True), data * 2)
        assert io.blobproto_to_array(blob).dtype == np.float64

    def test_old_blobs_have_four_axes(self) -> None:
        blob = io.caffe_pb2.BlobProto(num=1, channels=2, height=1, width=3, data=range(6))
        assert io.blobproto_to_array(blob).tolist() == [[[[0, 1, 2]], [[3, 4, 5]]]]
        with pytest.raises(DataError, match="holds no diff"):
            io.blobproto_to_array(blob, return_diff=True)

    def test_a_blob_without_a_shape_is_a_value_error(self) -> None:
        with pytest.raises(ValueError, match="expected data of shape"):
            io.blobproto_to_array(io.caffe_pb2.BlobProto(data=range(6)))
        assert io.blobproto_to_array(io.caffe_pb2.BlobProto(data=[3])).tolist() == 3

    def test_doubles(self) -> None:
        blob = io.caffe_pb2.BlobProto(double_data=[0.1, 0.2])
        blob.shape.dim.append(2)
        assert io.blobproto_to_array(blob).tolist() == [0.1, 0.2]

    def test_vectors(self) -> None:
        arrays: list[npt.NDArray[np.float32]] = [np.arange(4, dtype=np.float32), np.ones((2, 2), np.float32)]
        back = io.blobprotovector_str_to_arraylist(io.arraylist_to_blobprotovector_str(arrays))
        assert [array.tolist() for array in back] == [array.tolist() for array in arrays]

    @pytest.mark.parametrize("values", [np.array([0.5, 2.7]), np.array([0, 255], np.uint8)])
    def test_records(self, values: npt.NDArray[Any]) -> None:
        values = values.astype(np.float32) if values.dtype.kind == "f" else values
        datum = io.array_to_datum(values.reshape(1, 1, 2), 3)
        assert bool(datum.data) == (values.dtype == np.uint8)
        assert datum.label == 3
        back = io.datum_to_array(io.caffe_pb2.Datum.FromString(datum.SerializeToString()))
        assert back.dtype == (np.uint8 if values.dtype == np.uint8 else np.float64)
        np.testing.assert_array_equal(back.reshape(-1), values)
        assert not io.array_to_datum(values.reshape(1, 1, 2)).HasField("label")

    @pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.int8])
    def test_records_of_other_types(self, dtype: type) -> None:
        with pytest.raises(DataError, match="expected an array of uint8 or float"):
            io.array_to_datum(np.zeros((1, 1, 2), dtype))


def test_flip_image() -> None:
    image = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    assert io.flip_image(image).tolist() == [[[3, 4], [1, 2]]]
    assert io.flip_image(image, 10, is_flow=True).tolist() == [[[7, 4], [9, 2]]]
    assert image.tolist() == [[[1, 2], [3, 4]]]


def test_is_caffe_io() -> None:
    import engine.compat

    engine.compat.install()
    import caffe

    assert caffe.io.Transformer is io.Transformer
