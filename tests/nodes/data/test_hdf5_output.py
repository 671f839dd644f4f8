from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest

from engine.errors import DataError, ShapeError
from engine.layer import Phase
from engine.net import Net
from engine.testing import LayerCase, check_layer

RNG = np.random.default_rng(6)


def text(path: Path | str, label: str = "dim: 3") -> str:
    return (
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 2 dim: 4 } } } '
        f'layer {{ name: "y" type: "Input" top: "y" input_param {{ shape {{ {label} }} }} }} '
        'layer { name: "out" type: "HDF5Output" bottom: "x" bottom: "y" '
        f'hdf5_output_param {{ file_name: "{path}" }} }}'
    )


def feed(net: Net, rows: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = RNG.random((rows, 2, 4)).astype(np.float32), RNG.random(rows).astype(np.float32)
    net.blobs["x"].reshape(x.shape)
    net.blobs["y"].reshape(y.shape)
    net.blobs["x"].data[...], net.blobs["y"].data[...] = x, y
    net.forward()
    return x.reshape(rows, 2, 4, 1), y.reshape(rows, 1, 1, 1)


def test_layer_keeps_the_interface(tmp_path: Path) -> None:
    fields = f'type: "HDF5Output" hdf5_output_param {{ file_name: "{tmp_path}/a.h5" }}'
    check_layer(LayerCase(fields, [RNG.random((3, 4)), RNG.random(3)], tops=0, no_gradient=[0, 1]), gradients=False)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_rows_of_all_passes_are_there_at_once(tmp_path: Path, backend: str) -> None:
    (tmp_path / "a.h5").write_bytes(b"of an earlier run")
    with Net(text(tmp_path / "a.h5"), Phase.TEST, backend=backend) as net:
        assert (tmp_path / "a.h5").read_bytes() == b"of an earlier run"  # until there is something to write
        written = []
        for rows in (3, 2, 5):
            written.append(feed(net, rows))
            with h5py.File(tmp_path / "a.h5", "r") as file:
                assert set(file) == {"data", "label"} and file["data"].dtype == np.float32
                for name, parts in zip(("data", "label"), zip(*written, strict=True), strict=True):
                    np.testing.assert_array_equal(file[name][()], np.concatenate(parts))


def test_a_resumed_net_goes_on_behind_what_it_had_written(tmp_path: Path) -> None:
    with Net(text(tmp_path / "a.h5"), Phase.TEST) as net:
        first = feed(net, 3)
        state = net.get_state()
        feed(net, 4)  # of passes that are made again
    with Net(text(tmp_path / "a.h5"), Phase.TEST) as net:
        net.set_state(state)
        second = feed(net, 2)
    with h5py.File(tmp_path / "a.h5", "r") as file:
        np.testing.assert_array_equal(file["data"][()], np.concatenate([first[0], second[0]]))
        np.testing.assert_array_equal(file["label"][()], np.concatenate([first[1], second[1]]))


def test_rows_are_read_by_hdf5_data(tmp_path: Path) -> None:
    with Net(text(tmp_path / "a.h5"), Phase.TEST) as net:
        written, _ = feed(net, 3)
    (tmp_path / "list.txt").write_text("a.h5\n")
    reading = (
        'layer { name: "d" type: "HDF5Data" top: "data" top: "label" '
        'hdf5_data_param { source: "list.txt" batch_size: 3 } }'
    )
    with Net(reading, Phase.TEST, base_dirs=(tmp_path,)) as net:
        net.forward()
        np.testing.assert_array_equal(net.blobs["data"].data, written)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
def test_what_was_written_stays_when_the_process_is_killed(tmp_path: Path) -> None:
    code = textwrap.dedent(
        f"""
        import os, signal
        import numpy as np
        from engine.net import Net
        from engine.layer import Phase
        net = Net({text(tmp_path / "a.h5")!r}, Phase.TEST)
        for value in (1, 2):
            net.blobs["x"].data[...] = value
            net.forward()
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -signal.SIGKILL
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["data"].shape == (6, 2, 4, 1) and file["label"].shape == (6, 1, 1, 1)
        assert (file["data"][:3] == 1).all() and (file["data"][3:] == 2).all()


def test_looking_at_shapes_writes_nothing(tmp_path: Path) -> None:
    with Net(text(tmp_path / "a.h5"), Phase.TEST, shapes_only=True):
        pass
    assert not list(tmp_path.iterdir())


def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        ShapeError, match=r"Layer 'out' .*as many rows in both bottoms, got shapes \(3, 2, 4\) and \(2,\)"
    ):
        Net(text(tmp_path / "a.h5", "dim: 2"), Phase.TEST)
    with pytest.raises(DataError, match=r"Layer 'out' \(HDF5Output\): .*gone/a.h5' in a folder that is not there"):
        Net(text(tmp_path / "gone" / "a.h5"), Phase.TEST)
    with pytest.raises(DataError, match="file_name, got none"):
        Net(text(""), Phase.TEST)
    with Net(text(tmp_path / "a.h5"), Phase.TEST) as net:
        feed(net, 3)
        net.blobs["x"].reshape(3, 5)
        with pytest.raises(DataError, match=r"expected 'data' of shape \(2, 4, 1\) in each row.*got \(5, 1, 1\)"):
            net.forward()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not stop this user")
def test_a_folder_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written"):
        Net(text(tmp_path / "a.h5"), Phase.TEST)
