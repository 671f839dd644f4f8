"""Files of one blob."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import FileFormatError
from engine.files import read_blob, write_blob
from engine.schema import load_schema
from tests.support import shared


def test_public_mean_file():
    path = shared("corpus/weights/ResNet_mean.binaryproto")
    mean = read_blob(path)
    assert mean.shape == (1, 3, 224, 224)
    assert 80 < mean.mean() < 140
    proto = load_schema().message("BlobProto").FromString(path.read_bytes())
    np.testing.assert_array_equal(mean.reshape(-1), np.array(proto.data, np.float32))


def test_round_trip(tmp_path):
    array = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    write_blob(tmp_path / "mean.binaryproto", array)
    np.testing.assert_array_equal(read_blob(tmp_path / "mean.binaryproto"), array)


def broken():
    return load_schema().message("BlobProto")(data=[1, 2, 3], shape={"dim": [2]}).SerializeToString()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html></html>", "looks like an HTML page"),
        (broken(), r"damaged: a blob of shape \(2,\) holds 3 values"),
        (broken()[:-1], "too early"),
    ],
)
def test_faults(tmp_path, content, words):
    path = tmp_path / "mean.binaryproto"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"{path}.*{words}"):
        read_blob(path)
