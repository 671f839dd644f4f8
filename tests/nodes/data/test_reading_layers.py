from __future__ import annotations

from pathlib import Path

import h5py
import lmdb
import numpy as np
import pytest

from engine.errors import DataError, LayerError, NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.schema import load_schema


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Five 1 x 2 x 2 images full of their label."""
    with lmdb.open(str(tmp_path / "db")) as environment, environment.begin(write=True) as transaction:
        for label in range(5):
            datum = load_schema().message("Datum")(channels=1, height=2, width=2, label=label, data=bytes([label] * 4))
            transaction.put(b"%d" % label, datum.SerializeToString())
    return tmp_path


DATA = (
    'layer { name: "d" type: "Data" top: "data" top: "label" transform_param { scale: 0.5 } '
    'data_param { source: "db" batch_size: 3 backend: LMDB } }'
)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_data_layer(database: Path, backend: str) -> None:
    with Net(DATA, Phase.TRAIN, base_dirs=(database,), backend=backend) as net:
        assert net.blobs["data"].shape == (3, 1, 2, 2) and net.blobs["label"].shape == (3,)
        net.forward()
        net.forward()
        np.testing.assert_array_equal(net.blobs["label"].data, [3, 4, 0])
        np.testing.assert_array_equal(net.blobs["data"].data[:, 0, 1, 1], [1.5, 2, 0])
        state = net.get_state()
        net.forward()
    with Net(DATA, Phase.TRAIN, base_dirs=(database,)) as net:
        net.set_state(state)
        net.forward()
        np.testing.assert_array_equal(net.blobs["label"].data, [1, 2, 3])


def test_records_of_another_size_reshape_what_follows(database: Path) -> None:
    with lmdb.open(str(database / "db")) as environment, environment.begin(write=True) as transaction:
        datum = load_schema().message("Datum")(channels=1, height=1, width=3, label=9, data=b"abc")
        transaction.put(b"9", datum.SerializeToString())
    text = DATA.replace("batch_size: 3", "batch_size: 1")
    text += 'layer { name: "f" type: "Flatten" bottom: "data" top: "flat" }'
    with Net(text, Phase.TRAIN, base_dirs=(database,)) as net:
        shapes = []
        for _ in range(7):
            net.forward()
            shapes.append(net.blobs["flat"].shape)
        assert shapes == [(1, 4)] * 5 + [(1, 3), (1, 4)]


def test_hdf5_layer_has_as_many_tops_as_data_sets(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, width in (("x", 1), ("y", 2), ("z", 3)):
            file[name] = np.arange(4 * width).reshape(4, width)
    (tmp_path / "list.txt").write_text("a.h5\n")
    text = (
        'layer { name: "h" type: "HDF5Data" top: "z" top: "x" top: "y" '
        'hdf5_data_param { source: "list.txt" batch_size: 3 } }'
    )
    with Net(text, Phase.TEST, base_dirs=(tmp_path,)) as net:
        net.forward()
        net.forward()
        np.testing.assert_array_equal(net.blobs["z"].data, [[9, 10, 11], [0, 1, 2], [3, 4, 5]])
        np.testing.assert_array_equal(net.blobs["x"].data, [[3], [0], [1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DATA.replace('"db"', '"gone"'), "'gone' was not found"),
        (DATA.replace('top: "label"', 'top: "label" top: "third"'), "top"),
        (DATA.replace("batch_size: 3", ""), "batch_size"),
    ],
)
def test_faults_name_the_layer(database: Path, text: str, message: str) -> None:
    with pytest.raises(NetcanvasError, match=f"Layer 'd'.*{message}") as caught:
        Net(text, Phase.TRAIN, base_dirs=(database,))
    assert isinstance(caught.value, (DataError, LayerError))
