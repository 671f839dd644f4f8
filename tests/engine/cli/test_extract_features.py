"""Features in databases, as Caffe's tool writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest

from engine.cli import main
from engine.files import load_weights
from engine.layer import Phase
from engine.net import Net
from engine.schema import load_schema, read_net

WANTED = ["weights.caffemodel", "net.prototxt"]
SHAPED = """
layer { name: "data" type: "DummyData" top: "data" dummy_data_param { shape { SHAPE } data_filler { value: 2 } } }
"""


def records(path: str) -> list[tuple[bytes, Any]]:
    datum = load_schema().message("Datum")
    with lmdb.open(path, readonly=True, lock=False) as environment, environment.begin() as transaction:
        return [(bytes(key), datum.FromString(value)) for key, value in transaction.cursor()]


def test_values_of_every_batch(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract_features", *WANTED, "ip1,accuracy", "ip1_db,accuracy_db", "3", "lmdb", "CPU", "0"]) == 0
    captured = capsys.readouterr()
    assert "Wrote ip1_db: 12 records of blob 'ip1', 6 x 1 x 1 values each." in captured.out
    assert "Extracted features of 12 query images for feature blob ip1" in captured.err
    found = records("ip1_db")
    assert [key for key, _ in found] == [b"%010d" % index for index in range(12)]
    values, scores = [], []
    with Net(read_net(Path("net.prototxt")), Phase.TEST, base_dirs=(world,)) as net:
        load_weights(net, "weights.caffemodel")
        for _ in range(3):
            net.forward()
            values.append(net.blobs["ip1"].data.copy())
            scores.append(float(net.blobs["accuracy"].data))
    assert all((datum.channels, datum.height, datum.width) == (6, 1, 1) for _, datum in found)
    np.testing.assert_array_equal([list(datum.float_data) for _, datum in found], np.concatenate(values))
    assert not any(datum.HasField(name) for _, datum in found for name in ("data", "label", "encoded"))
    np.testing.assert_array_equal([list(datum.float_data) for _, datum in records("accuracy_db")], np.c_[scores])


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((2, 3, 4, 5), [3, 4, 5]), ((2, 3, 4), [3, 4, 1]), ((2, 3, 4, 5, 6), [3, 4, 30]), ((2,), [1, 1, 1])],
)
def test_records_have_the_shape_of_the_blob(
    world: Path, shape: tuple[int, ...], wanted: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("shaped.prototxt").write_text(SHAPED.replace("SHAPE", " ".join(f"dim: {size}" for size in shape)))
    assert main(["extract_features", WANTED[0], "shaped.prototxt", "data", "db", "2", "lmdb", "--json"]) == 0
    (feature,) = json.loads(capsys.readouterr().out)["features"]
    assert (feature["records"], feature["shape"]) == (4, wanted)
    for _, datum in records("db"):
        assert [datum.channels, datum.height, datum.width] == wanted
        assert list(datum.float_data) == [2.0] * int(np.prod(wanted))


def test_a_data_layer_reads_it(world: Path) -> None:
    pytest.importorskip("plyvel")
    assert main(["extract_features", *WANTED, "ip1", "db", "2", "LevelDB", "--quiet"]) == 0
    text = 'layer { name: "d" type: "Data" top: "d" data_param { source: "db" batch_size: 8 backend: LEVELDB } }'
    with Net(text, Phase.TEST, base_dirs=(world,)) as net:
        net.forward()
        assert net.blobs["d"].shape == (8, 6, 1, 1) and np.abs(net.blobs["d"].data).sum() > 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["ip1,ip2", "a", "1", "lmdb"], 1, "as many databases as blobs, got 1 for 2"),
        (["ip1,ip2", "a,a", "1", "lmdb"], 1, "Database 'a' is named twice"),
        (["ip3", "a", "1", "lmdb"], 1, "expected a blob called 'ip3'"),
        (["ip1", "images", "1", "lmdb"], 1, "'images' exists already"),
        (["ip1", "a", "1", "lmdb", "GPU", "1"], 1, "Expected a GPU for GPU 1"),
        (["ip1", "a", "0", "lmdb"], 2, "1 or more, got '0'"),
        (["ip1", "a", "1", "mdb"], 2, "expected lmdb or leveldb, got 'mdb'"),
        (["ip1,", "a", "1", "lmdb"], 2, "names with commas between them"),
    ],
)
def test_errors(world: Path, arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in world.iterdir())
    try:
        got = main(["extract_features", *WANTED, *arguments])
    except SystemExit as exit_request:
        got = exit_request.code  # type: ignore[assignment]
    assert got == code and words in capsys.readouterr().err
    assert sorted(path.name for path in world.iterdir()) == before
