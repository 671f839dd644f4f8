"""Databases from lists of images: what Caffe's own tool would write."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest
from PIL import Image

from engine.cli import main
from engine.data.images import read_image
from engine.layer import Phase
from engine.net import Net
from engine.schema import load_schema
from tests.engine.cli.conftest import write_images

LIST = ["images", "images.txt", "db"]


@pytest.fixture
def pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    monkeypatch.chdir(tmp_path)
    return write_images(tmp_path)


def records(path: str = "db") -> list[tuple[bytes, Any]]:
    datum = load_schema().message("Datum")
    with lmdb.open(path, readonly=True, lock=False) as environment, environment.begin() as transaction:
        return [(bytes(key), datum.FromString(value)) for key, value in transaction.cursor()]


def array(datum: Any) -> np.ndarray:
    return np.frombuffer(datum.data, np.uint8).reshape(datum.channels, datum.height, datum.width)


def code(*arguments: str) -> int:
    try:
        return main(["convert_imageset", *arguments])
    except SystemExit as exit_request:
        assert isinstance(exit_request.code, int)
        return exit_request.code


@pytest.mark.parametrize("root", ["images", "images/", "./images//"])
def test_keys_labels_and_pixels(pixels: list[np.ndarray], root: str) -> None:
    assert code(root, *LIST[1:]) == 0
    found = records()
    assert [key for key, _ in found] == [b"%08d_part one/%d.png" % (index, index) for index in range(5)]
    assert [datum.label for _, datum in found] == [10, 11, 12, 13, 14]
    for (_, datum), image in zip(found, pixels, strict=True):
        np.testing.assert_array_equal(array(datum), image[:, :, ::-1].transpose(2, 0, 1))  # blue first
        assert not datum.encoded


@pytest.mark.parametrize("root", ["/", ""])
def test_lists_of_whole_paths(pixels: list[np.ndarray], root: str) -> None:
    place = Path("images/part one/0.png")
    name = str(place.resolve() if root else place)
    Path("images.txt").write_text(f"{name} 7\n")
    assert code(root, *LIST[1:]) == 0
    ((key, datum),) = records()
    assert key == b"00000000_" + os.fsencode(name) and datum.label == 7


@pytest.mark.parametrize(
    ("flags", "shape"),
    [
        (["-gray"], (1, 6, 8)),
        (["-gray=true", "-resize_width=4", "-resize_height", "5"], (1, 5, 4)),
        (["--nogray", "--resize-height", "12", "--resize-width", "16"], (3, 12, 16)),
        (["-resize_width", "4"], (3, 6, 8)),  # Caffe resizes where both are given
    ],
)
def test_grey_and_size(pixels: list[np.ndarray], flags: list[str], shape: tuple[int, ...]) -> None:
    assert code(*flags, *LIST) == 0
    height, width = shape[1:]
    for (_, datum), path in zip(records(), sorted(Path("images/part one").iterdir()), strict=True):
        assert array(datum).shape == shape
        wanted = read_image(path, color=shape[0] == 3, height=height, width=width)
        np.testing.assert_array_equal(array(datum), wanted)


def test_encoded_files_are_stored_as_they_are(pixels: list[np.ndarray]) -> None:
    assert code("-encoded", *LIST) == 0
    for (_, datum), path in zip(records(), sorted(Path("images/part one").iterdir()), strict=True):
        assert datum.encoded and datum.data == path.read_bytes()
        assert not any(datum.HasField(name) for name in ("channels", "height", "width"))


@pytest.mark.parametrize(
    ("flags", "kind", "mode", "size"),
    [
        (["-encode_type", "png", "-resize_height", "3", "-resize_width", "4"], "PNG", "RGB", (4, 3)),
        (["-encode_type=jpg"], "JPEG", "RGB", (8, 6)),
        (["-encoded", "-encode_type", "bmp", "-gray"], "BMP", "L", (8, 6)),
    ],
)
def test_images_are_encoded(
    pixels: list[np.ndarray], flags: list[str], kind: str, mode: str, size: tuple[int, int]
) -> None:
    assert code(*flags, *LIST) == 0
    for _, datum in records():
        with Image.open(io.BytesIO(datum.data)) as decoded:
            assert datum.encoded and (decoded.format, decoded.mode, decoded.size) == (kind, mode, size)


@pytest.mark.parametrize(("kind", "most"), [("png", 0), ("jpg", 3)])
def test_encoded_images_keep_their_colours(pixels: list[np.ndarray], kind: str, most: int) -> None:
    image = np.full((8, 8, 3), (200, 90, 10), np.uint8)
    Image.fromarray(image).save("images/a.bmp")
    Path("images.txt").write_text("a.bmp 1\n")
    assert code("-encode_type", kind, *LIST) == 0
    with Image.open(io.BytesIO(records()[0][1].data)) as decoded:
        assert abs(np.asarray(decoded).astype(int) - image).max() <= most


def test_shuffling(pixels: list[np.ndarray]) -> None:
    orders = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert code("-shuffle", "--seed", seed, *LIST[:2], name) == 0
        found = records(name)
        assert [key[:9] for key, _ in found] == [b"%08d_" % index for index in range(5)]
        assert all(key == b"%s_part one/%d.png" % (key[:8], datum.label - 10) for key, datum in found)
        orders.append([datum.label for _, datum in found])
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == [10, 11, 12, 13, 14] for order in orders) and [10, 11, 12, 13, 14] not in orders


def test_unreadable_images_are_named_and_counted(pixels: list[np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    Path("images/broken.jpg").write_text("<html>")
    lines = Path("images.txt").read_text().splitlines()
    lines[1:1] = ["broken.jpg 1", "gone away.png 2", "", "  "]
    Path("images.txt").write_text("\r\n".join(lines) + "\r\n")
    assert code(*LIST) == 1
    captured = capsys.readouterr()
    assert captured.out == "Wrote db: 5 images.\n2 could not be read and are left out.\n"
    assert "Image 'images/broken.jpg': expected an encoded image" in captured.err
    assert "Image 'images/gone away.png' cannot be read: No such file" in captured.err
    assert [int(key[:8]) for key, _ in records()] == [0, 5, 6, 7, 8], "keys have the numbers of the lines"
    assert code(*LIST[:2], "again", "--json", "--quiet") == 1
    assert json.loads(capsys.readouterr().out) == {
        "database": "again",
        "backend": "lmdb",
        "images": 5,
        "unreadable": ["broken.jpg", "gone away.png"],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.png\n", "images.txt:1: expected a path and a label"),
        ("part one/0.png 1\nb.png seven\n", "images.txt:2: expected a path and a label"),
        ("a.png 4294967296\n", "images.txt:1:"),
        ("x" * 10**6, f"got '{'x' * 200}'."),
        ("\n\n", "expected lines with a path and a label, got none"),
        ("a.png 1\nb.png 2\n", "Of 2 images, expected some that can be read, got none"),
    ],
)
def test_lists_that_make_no_database(
    pixels: list[np.ndarray], text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("images.txt").write_text(text)
    assert code(*LIST, "--quiet") == 1
    assert words in capsys.readouterr().err and not Path("db").exists()


def test_sizes_are_checked(pixels: list[np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (3, 3)).save("images/small.png")
    with Path("images.txt").open("a") as file:
        file.write("small.png\t-1\n")
    assert code("-check_size", *LIST) == 1
    assert "small.png': expected 3 x 6 x 8 values as the first image has, got 3 x 3 x 3" in capsys.readouterr().err
    assert not Path("db").exists()
    for number, flags in enumerate(
        (["-check_size", "-resize_height", "4", "-resize_width", "4"], ["-check_size=false"])
    ):
        assert code(*flags, *LIST[:2], f"db{number}") == 0
        assert records(f"db{number}")[-1][1].label == -1


@pytest.mark.parametrize("flags", [[], ["-backend", "leveldb"]])
def test_an_existing_database_is_refused(
    pixels: list[np.ndarray], flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("db").mkdir()
    (Path("db") / "mine").write_text("x")
    assert code(*flags, *LIST) == 1
    assert "'db' exists already" in capsys.readouterr().err and os.listdir("db") == ["mine"]


@pytest.mark.parametrize("flags", [["-encode_type", "xyz"], ["-encode_type", "gz"]])
def test_kinds_that_cannot_be_encoded(
    pixels: list[np.ndarray], flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert code(*flags, *LIST) == 1
    assert f"cannot be encoded as '{flags[1]}'" in capsys.readouterr().err and not Path("db").exists()


@pytest.mark.parametrize("flags", [["-backend", "sqlite"], ["-resize_width", "-3"], []])
def test_wrong_arguments(pixels: list[np.ndarray], flags: list[str]) -> None:
    assert code(*flags, *LIST[: 3 if flags else 2]) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_names_of_any_bytes(pixels: list[np.ndarray], tmp_path: Path) -> None:
    name = b"caf\xe9.png"
    Image.fromarray(pixels[0]).save(tmp_path / "images" / os.fsdecode(name), format="PNG")
    (tmp_path / "images.txt").write_bytes(name + b" 3\n")
    assert code(*LIST) == 0
    assert [key for key, _ in records()] == [b"00000000_" + name]


@pytest.mark.parametrize("backend", ["lmdb", "leveldb"])
@pytest.mark.parametrize("encoded", [[], ["-encoded"]])
def test_data_layers_read_it(pixels: list[np.ndarray], backend: str, encoded: list[str]) -> None:
    if backend == "leveldb":
        pytest.importorskip("plyvel")
    assert code("-backend", backend, *encoded, *LIST) == 0
    text = f"""layer {{ name: "data" type: "Data" top: "data" top: "label"
      data_param {{ source: "db" batch_size: 5 backend: {backend.upper()} }} }}"""
    with Net(text, Phase.TEST, base_dirs=(Path.cwd(),)) as net:
        net.forward()
        np.testing.assert_array_equal(net.blobs["label"].data, [10, 11, 12, 13, 14])
        wanted = np.stack(pixels)[:, :, :, ::-1].transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(net.blobs["data"].data, wanted)
