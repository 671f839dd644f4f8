from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.data import BatchSource, open_image_source
from engine.data.lists import read_image_list
from engine.errors import DataError
from tests.engine.data.conftest import LayerMaker
from tests.engine.data.support import check_position_is_restored

COUNT = 5
PICTURES = np.random.default_rng(2).integers(0, 256, (COUNT, 6, 8, 3), dtype=np.uint8)
BGR = PICTURES[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Five colour images of 6 x 8 pixels in a folder with a blank in its name, labelled 10 to 14."""
    (tmp_path / "my pictures").mkdir()
    for index, picture in enumerate(PICTURES):
        Image.fromarray(picture).save(tmp_path / "my pictures" / f"{index} a.png")
    lines = "".join(f"my pictures/{index} a.png {10 + index}\n" for index in range(COUNT))
    (tmp_path / "list.txt").write_text(lines)
    return tmp_path / "list.txt"


def text(source: Path | str, batch: int = 3, more: str = "", transform: str = "") -> str:
    return (
        f'name: "i" type: "ImageData" top: "data" top: "label" transform_param {{ {transform} }} '
        f'image_data_param {{ source: "{source}" batch_size: {batch} {more} }}'
    )


def opened(layer: LayerMaker, param: str, train: bool = True, seed: int = 0, **options: Any) -> BatchSource:
    return open_image_source(layer(param), train=train, seed=seed, **options)


def labels(source: BatchSource, batches: int) -> list[float]:
    return [label for _ in range(batches) for label in source.next().arrays[1].tolist()]


def test_paths_with_blanks_are_found_beside_the_list_and_batches_wrap(listed: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(listed))
    assert source.shapes == ((3, 3, 6, 8), (3,))
    for start in (0, 3, 6):
        images, got = source.next().arrays
        expected = np.arange(start, start + 3) % COUNT
        np.testing.assert_array_equal(images, BGR[expected])
        np.testing.assert_array_equal(got, 10 + expected)
    source.close()


def test_transform_in_caffes_order(listed: Path, layer: LayerMaker) -> None:
    fields = "scale: 0.5 mean_value: 1 mean_value: 2 mean_value: 3 crop_size: 4"
    source = opened(layer, text(listed, transform=fields), train=False)
    mean = np.array([1, 2, 3], np.float64).reshape(1, 3, 1, 1)
    np.testing.assert_array_equal(source.next().arrays[0], (BGR[:3, :, 1:5, 2:6] - mean) * 0.5)
    source.close()


def test_resized_and_grey(listed: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(listed, batch=1, more="new_height: 3 new_width: 4 is_color: false"))
    grey = PICTURES[0].astype(float) @ [0.299, 0.587, 0.114]
    halves = grey.reshape(3, 2, 4, 2).mean(axis=(1, 3))
    assert np.abs(source.next().arrays[0][0, 0] - halves).max() < 1.5
    source.close()


def test_root_folder_is_put_before_each_path(tmp_path: Path, listed: Path, layer: LayerMaker) -> None:
    (tmp_path / "bare.txt").write_text("0 a.png 1\n")
    root = f'root_folder: "{tmp_path}/my pictures/"'
    source = opened(layer, text(tmp_path / "bare.txt", batch=1, more=root))
    np.testing.assert_array_equal(source.next().arrays[0][0], BGR[0])
    source.close()


def test_shuffle_mixes_every_pass_anew_and_misses_none(listed: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(listed, batch=COUNT, more="shuffle: true"), seed=3)
    passes = [labels(source, 1) for _ in range(8)]
    source.close()
    assert all(sorted(order) == [10, 11, 12, 13, 14] for order in passes)
    assert len({tuple(order) for order in passes}) > 4


def test_rand_skip_skips_fewer_than_it_says(listed: Path, layer: LayerMaker) -> None:
    first = set()
    for seed in range(30):
        source = opened(layer, text(listed, more="rand_skip: 3"), seed=seed)
        first.add(labels(source, 1)[0])
        source.close()
    assert first == {10, 11, 12}
    with pytest.raises(DataError, match=r"list.txt' than the \d+ to skip, got 5"):
        opened(layer, text(listed, more="rand_skip: 1000000"))


@pytest.mark.parametrize("more", ["", "shuffle: true", "shuffle: true rand_skip: 4"])
@pytest.mark.parametrize("consumed", [0, 1, 4])
def test_position_is_restored_exactly(listed: Path, layer: LayerMaker, more: str, consumed: int) -> None:
    param = text(listed, more=more, transform="mirror: true crop_size: 3")
    check_position_is_restored(lambda seed: opened(layer, param, seed=seed), consumed)


def test_sizes_may_differ_from_batch_to_batch_and_within_one_where_cropped(tmp_path: Path, layer: LayerMaker) -> None:
    for name, picture in (("a", PICTURES[0]), ("b", PICTURES[1][:5])):
        Image.fromarray(picture).save(tmp_path / f"{name}.png")
    (tmp_path / "list.txt").write_text("a.png 0\nb.png 1\n")
    source = opened(layer, text(tmp_path / "list.txt", batch=1))
    assert [source.next().arrays[0].shape for _ in range(3)] == [(1, 3, 6, 8), (1, 3, 5, 8), (1, 3, 6, 8)]
    source.close()
    source = opened(layer, text(tmp_path / "list.txt", batch=2))
    with pytest.raises(DataError, match=r"'b.png', .*list.txt:2: expected shape \(3, 6, 8\).*got \(3, 5, 8\)"):
        source.next()
    source.close()
    source = opened(layer, text(tmp_path / "list.txt", batch=2, transform="crop_size: 3"), train=False)
    images = source.next().arrays[0]
    np.testing.assert_array_equal(images, np.stack([BGR[0][:, 1:4, 2:5], BGR[1][:, 1:4, 2:5]]))
    source.close()


def test_threads_end_with_close_and_with_collection(listed: Path, layer: LayerMaker) -> None:
    before = threading.active_count()
    source = opened(layer, text(listed))
    assert threading.active_count() == before
    source.next()
    source.close()
    assert threading.active_count() == before
    forgotten = opened(layer, text(listed))
    forgotten.next()
    names = [thread for thread in threading.enumerate() if "decode images" in thread.name]
    del forgotten
    gc.collect()
    for thread in names:
        thread.join(5)
    assert threading.active_count() == before


def test_list_is_read_as_caffe_reads_it(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_bytes(b"\xef\xbb\xbfa b.png 3\r\n\nno_label.png\nx.png -1 \n caf\xe9.png +2")
    found = read_image_list("l.txt", (tmp_path,), "Layer 'i'")
    assert found.paths == ("a b.png", "no_label.png", "x.png", " caf\udce9.png")
    assert (found.labels.tolist(), found.lines.tolist()) == ([3, 0, -1, 2], [1, 3, 4, 5])


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        ("gone.png 1\n", "", r"'gone.png', listed in .*list.txt:1, was not found; tried"),
        ("a.png\t1\n", "", r"list.txt:1, was not found.*a tab is taken as part"),
        ("a.png 0.5\n", "", r"list.txt:1, got 'a.png 0.5'"),
        ("a.png cat\n", "", "whole number in"),
        ("a.png 99999999999\n", "", "whole number in"),
        ("\n\n", "", "empty list"),
        ("note.txt 1\n", "", r"note.txt'.*expected an encoded image.*listed in .*list.txt:1"),
        ("cut.png 1\n", "", r"cut.png'.*expected an encoded image"),
        ("note.txt 1\n", "new_height: 4", "new_height and new_width, or neither, got 4 and 0"),
        ("note.txt 1\n", "batch_size: 0", "batch_size of at least 1"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, layer: LayerMaker, lines: str, more: str, message: str) -> None:
    (tmp_path / "note.txt").write_text("hello")
    Image.fromarray(PICTURES[0]).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:50])
    (tmp_path / "list.txt").write_text(lines)
    param = text(tmp_path / "list.txt", more=more)
    with pytest.raises(DataError, match=f"Layer 'i'.*{message}"):
        opened(layer, param.replace("batch_size: 3", "") if "batch_size" in more else param)


def test_an_image_that_goes_bad_later_is_named(listed: Path, layer: LayerMaker) -> None:
    source = opened(layer, text(listed, batch=2))
    bad = listed.parent / "my pictures" / "3 a.png"
    whole = bad.read_bytes()
    bad.write_bytes(b"")
    source.next()
    for _ in range(2):  # the same batch is tried again
        with pytest.raises(DataError, match=r"3 a.png': expected an encoded image, got an empty file; listed in .*:4"):
            source.next()
    bad.write_bytes(whole)
    assert labels(source, 2) == [12, 13, 14, 10]
    source.close()


@pytest.mark.parametrize("source", ["gone.txt", ""])
def test_a_missing_list(layer: LayerMaker, source: str) -> None:
    with pytest.raises(DataError, match="a text file that lists images in image_data_param.source, got"):
        opened(layer, text(source))
