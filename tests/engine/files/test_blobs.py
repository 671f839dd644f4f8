"""Arrays and messages."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import DataError, FileFormatError
from engine.files import array_to_datum, blob_from_proto, blob_to_proto, datum_to_array
from engine.files.blobs import decode_blob
from engine.schema import load_schema

SCHEMA = load_schema()


def blob_message(**fields):
    return SCHEMA.message("BlobProto")(**fields)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1, 3, 4), (0, 3), (1, 2, 1, 2, 1)])
def test_round_trip(shape, dtype):
    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    proto = blob_to_proto(array, -array)
    back = blob_from_proto(proto)
    assert back.shape == array.shape
    assert back.dtype == array.dtype or not array.size, "an empty array does not say its type"
    np.testing.assert_array_equal(back, array)
    back[...] = 0  # a copy of its own
    gradient = proto.double_diff if dtype is np.float64 else proto.diff
    np.testing.assert_array_equal(np.array(gradient, dtype=dtype).reshape(shape), -array)


def test_written_like_protobuf_does():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = blob_message(data=array.reshape(-1).tolist(), shape={"dim": [2, 3]})
    assert blob_to_proto(array).SerializeToString() == expected.SerializeToString()


def test_strided_arrays_are_written_in_logical_order():
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    np.testing.assert_array_equal(blob_from_proto(blob_to_proto(array)), array)


@pytest.mark.parametrize(
    ("fields", "shape"),
    [
        ({"num": 1, "channels": 1, "height": 2, "width": 3}, (1, 1, 2, 3)),
        ({"shape": {"dim": [3, 2]}}, (3, 2)),
        ({}, (6,)),
    ],
)
def test_shapes_old_and_new(fields, shape):
    values = blob_from_proto(blob_message(data=range(6), **fields))
    assert values.shape == shape
    np.testing.assert_array_equal(values.reshape(-1), np.arange(6))


def test_unpacked_floats():
    array = np.arange(3, dtype="<f4")
    data = b"".join(b"\x2d" + value.tobytes() for value in array)
    np.testing.assert_array_equal(decode_blob(memoryview(data)).data, array)


def test_doubles_win_over_floats():
    values = blob_from_proto(blob_message(data=[1.0], double_data=[1 / 3], shape={"dim": [1]}))
    assert values.dtype == np.float64
    assert values[0] == 1 / 3


@pytest.mark.parametrize("fields", [{"shape": {"dim": [2, 2]}}, {"shape": {"dim": [-1, -3]}}, {"num": 3}])
def test_values_that_do_not_fit_the_shape(fields):
    with pytest.raises(FileFormatError, match="shape"):
        blob_from_proto(blob_message(data=[1, 2, 3], **fields))


@pytest.mark.parametrize(
    ("stored", "legacy", "wanted", "fits"),
    [
        ((1, 1, 500, 800), True, (500, 800), True),
        ((1, 1, 1, 500), True, (500,), True),
        ((500, 800, 1, 1), True, (500, 800), False),
        ((20, 1, 5, 5), True, (20, 1, 5, 5), True),
        ((1, 1, 500, 800), False, (500, 800), False),
        ((500, 800), False, (500, 800), True),
        ((1, 1, 2, 3), True, (1, 1, 1, 2, 3), False),
    ],
)
def test_which_shapes_fit(stored, legacy, wanted, fits):
    from engine.files import StoredBlob

    assert StoredBlob(np.zeros(stored, np.float32), legacy).fits(wanted) is fits


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_datum_round_trip(dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    datum = array_to_datum(array, 7)
    assert (datum.label, len(datum.data) > 0) == (7, dtype is np.uint8)
    back = datum_to_array(SCHEMA.message("Datum").FromString(datum.SerializeToString()))
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, array)


def test_datum_faults():
    with pytest.raises(DataError, match=r"\(channels, height, width\), got \(3, 4\)"):
        array_to_datum(np.zeros((3, 4), np.uint8))
    with pytest.raises(DataError, match=r"expected \(1, 2, 2\) values, got 3"):
        datum_to_array(SCHEMA.message("Datum")(channels=1, height=2, width=2, data=b"abc"))
    with pytest.raises(DataError, match="compressed"):
        datum_to_array(SCHEMA.message("Datum")(encoded=True, data=b"abc"))
