from __future__ import annotations

import gc
import io
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.data import open_datum_source
from engine.data.lmdb_reader import LmdbReader
from engine.errors import DataError
from tests.engine.data.conftest import LayerMaker, make_datum, write_lmdb
from tests.engine.data.support import check_position_is_restored


def text(
    source: Path | str, batch: int = 4, transform: str = "", tops: str = 'top: "data" top: "label"', more: str = ""
) -> str:
    return (
        f'name: "d" type: "Data" {tops} transform_param {{ {transform} }} '
        f'data_param {{ source: "{source}" batch_size: {batch} backend: LMDB {more} }}'
    )


def test_batches_wrap_around(database: Path, images: np.ndarray, layer: LayerMaker) -> None:
    source = open_datum_source(layer(text(database)), train=True, seed=0)
    seen, labels = [], []
    for _ in range(5):
        batch = source.next()
        seen.append(batch.arrays[0].copy())
        labels.append(batch.arrays[1].copy())
    source.close()
    expected = np.arange(20) % 10
    assert source.shapes == ((4, 2, 6, 8), (4,))
    np.testing.assert_array_equal(np.concatenate(labels), expected)
    np.testing.assert_array_equal(np.concatenate(seen), images[expected].astype(np.float32))


def test_without_label_top(database: Path, layer: LayerMaker) -> None:
    source = open_datum_source(layer(text(database, tops='top: "data"')), train=True, seed=0)
    assert len(source.next().arrays) == len(source.shapes) == 1
    source.close()


@pytest.mark.parametrize("transform", ["mirror: true", "crop_size: 4", "mirror: true crop_size: 5 mean_value: 3"])
@pytest.mark.parametrize("consumed", [0, 1, 3])
def test_position_is_restored_exactly(database: Path, layer: LayerMaker, transform: str, consumed: int) -> None:
    param = layer(text(database, transform=transform, more="rand_skip: 7"))
    check_position_is_restored(lambda seed: open_datum_source(param, train=True, seed=seed), consumed)


def test_same_seed_same_batches(database: Path, layer: LayerMaker) -> None:
    param = layer(text(database, transform="mirror: true crop_size: 3"))
    sums = []
    for seed in (1, 1, 2):
        source = open_datum_source(param, train=True, seed=seed)
        sums.append([float((source.next().arrays[0] * np.arange(3)).sum()) for _ in range(6)])
        source.close()
    assert sums[0] == sums[1] != sums[2]


def test_two_readers_of_one_database(database: Path, layer: LayerMaker) -> None:
    first, second = LmdbReader(database), LmdbReader(database)
    first.skip(3)
    assert (first.next()[0], second.next()[0]) == (b"00000003", b"00000000")
    first.close()
    assert second.next()[0] == b"00000001"
    second.close()
    again = LmdbReader(database / ".." / database.name)  # opens once more after the last reader is gone
    again.close()


def test_state_survives_a_changed_database(tmp_path: Path, images: np.ndarray) -> None:
    reader = LmdbReader(write_lmdb(tmp_path / "db", [make_datum(image, 0) for image in images]))
    reader.set_state({"record": 13, "key": b"gone".hex()})
    assert reader.record == 3
    reader.close()


def test_thread_ends_with_close_and_with_collection(database: Path, layer: LayerMaker) -> None:
    before = threading.active_count()
    source = open_datum_source(layer(text(database)), train=True, seed=0)
    assert threading.active_count() == before  # none before it is needed
    source.next()
    assert threading.active_count() == before + 1
    source.close()
    assert threading.active_count() == before
    forgotten = open_datum_source(layer(text(database)), train=True, seed=0)
    forgotten.next()
    del forgotten
    gc.collect()
    assert threading.active_count() == before


def test_encoded_and_float_records(tmp_path: Path, layer: LayerMaker) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    encoded = make_datum(np.zeros((3, 5, 7), np.uint8), 1)
    encoded.data, encoded.encoded = buffer.getvalue(), True
    bgr = pixels[:, :, ::-1].transpose(2, 0, 1)
    values = bgr.astype(np.float32) + 0.5
    path = write_lmdb(tmp_path / "db", [encoded, make_datum(values, 2)])
    source = open_datum_source(layer(text(path, batch=2)), train=True, seed=0)
    images, labels = source.next().arrays
    np.testing.assert_array_equal(images, np.stack([bgr.astype(np.float32), values]))
    np.testing.assert_array_equal(labels, [1, 2])
    source.close()
    grey = open_datum_source(layer(text(path, batch=1, transform="force_gray: true")), train=True, seed=0)
    assert grey.shapes[0] == (1, 1, 5, 7)
    grey.close()


def test_relative_path_is_looked_for_in_folders(database: Path, layer: LayerMaker) -> None:
    source = open_datum_source(layer(text(database.name)), train=True, seed=0, folders=(Path("/"), database.parent))
    assert source.path == database  # type: ignore[attr-defined]
    source.close()


def test_missing_database_names_the_paths_tried(layer: LayerMaker, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"Layer 'd' \(Data\).*'gone'.*{tmp_path}/gone"):
        open_datum_source(layer(text("gone")), train=True, seed=0, folders=(tmp_path,))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"CURRENT": b"", "LOCK": b""}, "LevelDB"),
        ({"readme": b""}, "without data.mdb"),
        ({"data.mdb": b"no" * 5000}, "expected an LMDB database"),
    ],
)
def test_wrong_kinds_of_database(tmp_path: Path, layer: LayerMaker, files: dict[str, bytes], message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_datum_source(layer(text(tmp_path)), train=True, seed=0)


def test_empty_database(tmp_path: Path, layer: LayerMaker) -> None:
    with pytest.raises(DataError, match="empty"):
        open_datum_source(layer(text(write_lmdb(tmp_path / "db", []))), train=True, seed=0)


@pytest.mark.parametrize("left", [5000, 8192, -4096])
def test_a_database_that_was_cut_off_is_refused_and_ends_no_process(
    database: Path, layer: LayerMaker, left: int
) -> None:
    file = database / "data.mdb"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(
        DataError, match=r"data.mdb': expected at least \d+ bytes, as its header says, got \d+: .*cut off"
    ):
        open_datum_source(layer(text(database)), train=True, seed=0)


@pytest.mark.parametrize("shape", [(0, 0, 0), (-1, -6, 8), (1, 0, 4)])
def test_a_record_without_an_image_is_refused(
    tmp_path: Path, layer: LayerMaker, images: np.ndarray, shape: tuple[int, int, int]
) -> None:
    datum = make_datum(images[0], 0)
    datum.channels, datum.height, datum.width = shape
    datum.data = b"1" * abs(shape[0] * shape[1] * shape[2])
    path = write_lmdb(tmp_path / "db", [datum])
    with pytest.raises(DataError, match="Record '00000000'.*channels, height and width of 1 or more"):
        open_datum_source(layer(text(path)), train=True, seed=0)


def test_a_batch_larger_than_memory_is_refused_at_once(database: Path, layer: LayerMaker) -> None:
    if Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1":
        pytest.skip("this machine promises memory that it does not have")
    with pytest.raises(DataError, match=r"memory for a batch of shape \(4000000000, 2, 6, 8\)"):
        open_datum_source(layer(text(database, batch=4_000_000_000)), train=True, seed=0)


def test_bad_records_are_named(tmp_path: Path, images: np.ndarray, layer: LayerMaker) -> None:
    good = make_datum(images[0], 0)
    short = make_datum(images[0], 0)
    short.data = b"123"
    other = make_datum(images[0][:, :3], 0)
    for bad, message in ((short, "expected 2 x 6 x 8 values"), (other, "expected shape"), (b"\xff\xff", "Caffe Datum")):
        path = write_lmdb(tmp_path / f"db{len(message)}", [good, bad])
        source = open_datum_source(layer(text(path)), train=True, seed=0)
        with pytest.raises(DataError, match=f"Record '00000001' of.*{message}"):
            source.next()
        source.close()


def encode(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def test_encoded_images_become_coloured_or_grey_where_forced(tmp_path: Path, layer: LayerMaker) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    datums = []
    for content in (encode(pixels), encode(pixels[:, :, 1])):
        datums.append(make_datum(np.zeros((1, 1, 1), np.uint8), 1))
        datums[-1].data, datums[-1].encoded = content, True
    path = write_lmdb(tmp_path / "db", datums)
    source = open_datum_source(layer(text(path, batch=2, transform="force_color: true")), train=False, seed=0)
    coloured, grey = source.next().arrays[0]
    np.testing.assert_array_equal(coloured, pixels[:, :, ::-1].transpose(2, 0, 1))
    np.testing.assert_array_equal(grey, np.stack([pixels[:, :, 1]] * 3))
    source.close()
    source = open_datum_source(layer(text(path, batch=2, transform="force_gray: true")), train=False, seed=0)
    coloured, grey = source.next().arrays[0]
    assert np.abs(coloured[0] - pixels.astype(float) @ [0.299, 0.587, 0.114]).max() <= 1
    np.testing.assert_array_equal(grey[0], pixels[:, :, 1])
    source.close()
    source = open_datum_source(layer(text(path, batch=2)), train=False, seed=0)  # as stored: 3 channels, then 1
    with pytest.raises(DataError, match=r"Record '00000001' .*expected shape \(3, 5, 7\).*got \(1, 5, 7\)"):
        source.next()
    source.close()
    with pytest.raises(DataError, match="force_color or force_gray, got both"):
        both = "force_gray: true force_color: true"
        open_datum_source(layer(text(path, transform=both)), train=False, seed=0)


@pytest.mark.parametrize("train", [True, False])
def test_records_of_several_sizes_share_a_batch_where_they_are_cropped(
    tmp_path: Path, images: np.ndarray, layer: LayerMaker, train: bool
) -> None:
    smaller = images[1][:, :4, :5]
    path = write_lmdb(tmp_path / "db", [make_datum(images[0], 0), make_datum(smaller, 1)])
    source = open_datum_source(layer(text(path, batch=2, transform="crop_size: 4 scale: 2")), train=train, seed=0)
    batch = source.next().arrays[0]
    places = [
        [
            2.0 * image[:, top : top + 4, left : left + 4]
            for top in range(image.shape[1] - 3)
            for left in range(image.shape[2] - 3)
        ]
        for image in (images[0], smaller)
    ]
    for crop, possible in zip(batch, places, strict=True):
        assert any(np.array_equal(crop, each) for each in possible)
    if not train:
        np.testing.assert_array_equal(batch[0], 2.0 * images[0][:, 1:5, 2:6])
        np.testing.assert_array_equal(batch[1], 2.0 * smaller[:, 0:4, 0:4])
    source.close()
    source = open_datum_source(layer(text(path, batch=2, transform="crop_size: 5")), train=train, seed=0)
    with pytest.raises(DataError, match=r"crop_size of at most 4, got 5.*Record '00000001' of"):
        source.next()
    source.close()


def test_mirror_is_random_in_test_too_and_crops_are_not(tmp_path: Path, images: np.ndarray, layer: LayerMaker) -> None:
    path = write_lmdb(tmp_path / "db", [make_datum(images[0], 0)])
    param = layer(text(path, batch=64, transform="crop_size: 4 mirror: true"))
    source = open_datum_source(param, train=False, seed=0)
    centre = images[0][:, 1:5, 2:6]
    flipped = []
    for image in source.next().arrays[0]:
        flipped.append(np.array_equal(image, centre[:, :, ::-1]))
        assert flipped[-1] or np.array_equal(image, centre)
    assert 16 < sum(flipped) < 48
    source.close()


def test_several_layers_in_one_process_each_see_every_record(database: Path, layer: LayerMaker) -> None:
    """Caffe 1.0 gives every layer a cursor of its own."""
    sources = [open_datum_source(layer(text(database, batch=5)), train=True, seed=seed) for seed in range(3)]
    seen = [[label for _ in range(2) for label in source.next().arrays[1].tolist()] for source in sources]
    assert seen == [list(range(10))] * 3
    for source in sources:
        source.close()
