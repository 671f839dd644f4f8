"""Mean images, as Caffe's tool computes and writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main
from engine.files import array_to_datum, read_blob
from engine.files.new_database import new_database
from engine.layer import Phase
from engine.net import Net
from engine.schema import load_schema


def write(path: str, images: list[np.ndarray], kind: str = "lmdb") -> None:
    with new_database(path, kind) as database:
        for index, image in enumerate(images):
            database.put(b"%08d" % index, array_to_datum(image).SerializeToString())


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    monkeypatch.chdir(tmp_path)
    return list(np.random.default_rng(5).integers(0, 256, (150, 3, 4, 6), dtype=np.uint8))


@pytest.mark.parametrize("kind", ["lmdb", "leveldb"])
def test_mean_of_each_pixel_and_channel(
    images: list[np.ndarray], kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "leveldb":
        pytest.importorskip("plyvel")
    write("db", images, kind)
    assert main(["compute_image_mean", "db", "-backend", kind, "mean.binaryproto"]) == 0
    captured = capsys.readouterr()
    wanted = np.mean(images, axis=0)
    assert read_blob("mean.binaryproto").shape == (1, 3, 4, 6)
    np.testing.assert_allclose(read_blob("mean.binaryproto")[0], wanted, rtol=1e-6)
    proto = load_schema().message("BlobProto").FromString(Path("mean.binaryproto").read_bytes())
    assert (proto.num, proto.channels, proto.height, proto.width) == (1, 3, 4, 6) and not proto.HasField("shape")
    head, *lines = captured.out.splitlines()
    assert head == "Number of channels: 3"
    for channel, line in enumerate(lines):
        match = re.fullmatch(rf"mean_value channel \[{channel}\]: ([0-9.]+)", line)
        assert match and float(match[1]) == pytest.approx(wanted[channel].mean(), rel=1e-5)
    log = [line.partition("] ")[2] for line in captured.err.splitlines()]
    assert log == ["Starting iteration", "Processed 150 files.", "Write to mean.binaryproto"]


def test_sums_are_float32_in_key_order(images: list[np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    values = np.random.default_rng(6).standard_normal((200, 1, 2, 50)).astype(np.float32) * 1e4
    write("db", list(values))
    assert main(["compute_image_mean", "db", "mean", "--json"]) == 0
    total = np.zeros((1, 2, 50), np.float32)
    for image in values:
        total += image
    total /= np.float32(200)
    np.testing.assert_array_equal(read_blob("mean")[0], total)
    in_turn = np.float32(0)
    for value in total.reshape(-1):
        in_turn += value
    result = json.loads(capsys.readouterr().out)
    assert np.float32(result["channel_means"][0]) == in_turn / np.float32(100)
    assert (result["images"], result["shape"], result["file"]) == (200, [1, 2, 50], "mean")


def test_a_data_layer_that_subtracts_it_has_mean_zero(images: list[np.ndarray]) -> None:
    write("db", images)
    assert main(["compute_image_mean", "db", "mean.binaryproto", "--quiet"]) == 0
    text = """layer { name: "data" type: "Data" top: "data" transform_param { mean_file: "mean.binaryproto" }
      data_param { source: "db" batch_size: 150 backend: LMDB } }"""
    with Net(text, Phase.TEST, base_dirs=(Path.cwd(),)) as net:
        net.forward()
        assert abs(net.blobs["data"].data.mean(axis=0)).max() < 1e-4


def test_encoded_images_are_decoded(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert_imageset", "-encoded", "images", "images.txt", "encoded", "--quiet"]) == 0
    capsys.readouterr()
    means = []
    for database in ("encoded", "images_lmdb"):
        assert main(["compute_image_mean", database, "--quiet"]) == 0
        means.append(capsys.readouterr().out)
    assert means[0] == means[1] and means[0].count("channel [") == 3


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (
            [np.zeros((3, 4, 7), np.uint8)],
            "'00000150' of 'db': expected an image of 3 x 4 x 6 as the first one, got 3 x",
        ),
        ([np.zeros((3, 0, 7), np.uint8)], "Record '00000150'"),
    ],
)
def test_records_that_do_not_fit_are_named(
    images: list[np.ndarray], others: list[np.ndarray], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("db", [*images, *others])
    assert main(["compute_image_mean", "db", "mean"]) == 1
    assert words in capsys.readouterr().err.replace(str(Path.cwd()) + "/", "") and not Path("mean").exists()
