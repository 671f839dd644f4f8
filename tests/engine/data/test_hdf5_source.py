from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from engine.data import open_hdf5_source
from engine.errors import DataError
from tests.engine.data.conftest import LayerMaker


def write(path: Path, **arrays: Any) -> Path:
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return path


def text(source: Path | str, batch: int = 4, tops: str = 'top: "x"', more: str = "", layer: str = "") -> str:
    return (
        f'name: "h" type: "HDF5Data" {tops} {layer} hdf5_data_param {{ source: "{source}" batch_size: {batch} {more} }}'
    )


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """Rows 0 to 2 in one file and 3 to 4 in another, listed beside them."""
    write(tmp_path / "a.h5", x=np.arange(3.0).reshape(3, 1), y=np.arange(3))
    write(tmp_path / "b.h5", x=np.arange(3.0, 5.0).reshape(2, 1), y=np.arange(3, 5))
    (tmp_path / "list.txt").write_text("a.h5\n\n b.h5 \n")
    return tmp_path / "list.txt"


def rows(source: Any, batches: int) -> list[list[float]]:
    return [source.next().arrays[0].reshape(-1).tolist() for _ in range(batches)]


def test_batch_goes_on_into_the_next_file_and_wraps(two_files: Path, layer: LayerMaker) -> None:
    source = open_hdf5_source(layer(text(two_files)), seed=0)
    assert source.shapes == ((4, 1),)
    assert rows(source, 3) == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4, 0, 1]]


def test_batch_larger_than_all_files(two_files: Path, layer: LayerMaker) -> None:
    assert rows(open_hdf5_source(layer(text(two_files, batch=12)), seed=0), 1) == [[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]]


def test_data_sets_are_found_by_top_name(two_files: Path, layer: LayerMaker) -> None:
    source = open_hdf5_source(layer(text(two_files, tops='top: "y" top: "x"')), seed=0)
    y, x = source.next().arrays
    assert source.shapes == ((4,), (4, 1)) and y.dtype == np.float32
    np.testing.assert_array_equal(y, x[:, 0])


def test_shuffle_keeps_rows_together_and_passes_complete(two_files: Path, layer: LayerMaker) -> None:
    source = open_hdf5_source(layer(text(two_files, batch=5, tops='top: "x" top: "y"', more="shuffle: true")), seed=3)
    passes = []
    for _ in range(8):
        x, y = source.next().arrays
        np.testing.assert_array_equal(x[:, 0], y)
        passes.append(y.tolist())
        assert sorted(y.tolist()) == [0, 1, 2, 3, 4]
    assert len({tuple(order) for order in passes}) > 2


@pytest.mark.parametrize("shuffle", ["", "shuffle: true"])
@pytest.mark.parametrize("consumed", [0, 2, 5])
def test_position_is_restored_exactly(two_files: Path, layer: LayerMaker, shuffle: str, consumed: int) -> None:
    param = layer(text(two_files, batch=3, more=shuffle))
    first = open_hdf5_source(param, seed=1)
    rows(first, consumed)
    state = first.get_state()
    second = open_hdf5_source(param, seed=2)
    rows(second, 1)
    second.set_state(state)
    assert rows(second, 7) == rows(first, 7)


def test_paths_with_blanks_and_several_paths_on_a_line(tmp_path: Path, layer: LayerMaker) -> None:
    write(tmp_path / "my data.h5", x=np.zeros((1, 1)))
    write(tmp_path / "a.h5", x=np.ones((1, 1)))
    (tmp_path / "list.txt").write_text("my data.h5\na.h5 a.h5\n")
    assert rows(open_hdf5_source(layer(text(tmp_path / "list.txt")), seed=0), 1) == [[0, 1, 1, 0]]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"x": np.zeros((2, 3)), "y": np.zeros(2)}, r"rows of shapes \(\(1,\), \(\)\).*got \(\(3,\), \(\)\)"),
        ({"x": np.zeros((2, 1)), "y": np.zeros(3)}, "2 in 'x', 3 in 'y'"),
        ({"x": np.zeros((2, 1))}, "data set named 'y'.*got 'x'"),
        ({"x": 1.0, "y": np.zeros(2)}, "single value"),
        ({"x": np.zeros((0, 1)), "y": np.zeros(0)}, "at least one row in.*0 in 'x'"),
        (
            {"x": np.zeros((2, 1)), "y": np.array([b"cat", b"dog"])},
            r"numbers in data set 'y'.*got elements of type \|S3",
        ),
        ({"x": np.zeros((2, 1), complex), "y": np.zeros(2)}, "numbers in data set 'x'.*complex128"),
        ({"x": np.zeros((2, 1)), "y": np.zeros(2, [("a", "f4")])}, "numbers in data set 'y'"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, layer: LayerMaker, second: dict[str, Any], message: str) -> None:
    write(tmp_path / "a.h5", x=np.zeros((2, 1)), y=np.zeros(2))
    write(tmp_path / "b.h5", **second)
    (tmp_path / "list.txt").write_text("a.h5\nb.h5\n")
    source = open_hdf5_source(layer(text(tmp_path / "list.txt", batch=1, tops='top: "x" top: "y"')), seed=0)
    source.next()
    with pytest.raises(DataError, match=message):
        source.next()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool", "float16", "float64"])
def test_numbers_of_any_type_become_float32(tmp_path: Path, layer: LayerMaker, dtype: str) -> None:
    write(tmp_path / "a.h5", x=np.array([[0], [1]], dtype))
    (tmp_path / "list.txt").write_bytes(b"\xef\xbb\xbfa.h5\r\n")  # as some editors write it
    batch = open_hdf5_source(layer(text(tmp_path / "list.txt", batch=2)), seed=0).next()
    assert batch.arrays[0].dtype == np.float32 and batch.arrays[0].tolist() == [[0], [1]]


def test_transform_is_refused(two_files: Path, layer: LayerMaker) -> None:
    with pytest.raises(DataError, match="transform_param"):
        open_hdf5_source(layer(text(two_files, layer="transform_param { scale: 2 }")), seed=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gone.h5\n", "'gone.h5', listed in.*was not found; tried"),
        ("\n", "empty list"),
        ("note.txt\n", "expected an HDF5 file"),
    ],
)
def test_bad_lists(tmp_path: Path, layer: LayerMaker, content: str, message: str) -> None:
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "list.txt").write_text(content)
    with pytest.raises(DataError, match=message):
        open_hdf5_source(layer(text(tmp_path / "list.txt")), seed=0)


@pytest.mark.parametrize("source", ["gone.txt", ""])
def test_missing_list(layer: LayerMaker, source: str) -> None:
    with pytest.raises(DataError, match="text file that lists HDF5 files"):
        open_hdf5_source(layer(text(source)), seed=0)


def test_hdf5_file_named_as_list(tmp_path: Path, layer: LayerMaker) -> None:
    with pytest.raises(DataError, match="not text"):
        open_hdf5_source(layer(text(write(tmp_path / "a.h5", x=np.zeros((1, 1))))), seed=0)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_files_are_named(tmp_path: Path, layer: LayerMaker, seed: int) -> None:
    path = write(tmp_path / "a.h5", x=np.zeros((50, 3)), y=np.arange(50.0))
    (tmp_path / "list.txt").write_text("a.h5\n")
    random = np.random.default_rng(seed)
    data = bytearray(path.read_bytes())
    for place in random.integers(0, 1500, 40):
        data[place] ^= 1 << int(random.integers(8))
    path.write_bytes(data[: len(data) - seed * 50])
    with pytest.raises(DataError, match=r"Layer 'h'.*a.h5'"):
        open_hdf5_source(layer(text(tmp_path / "list.txt", tops='top: "x" top: "y"')), seed=0)
