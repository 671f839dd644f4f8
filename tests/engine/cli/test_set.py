"""``netcanvas set``: one field changes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cli import main

NET = """\
# my net
layer {
  name: 'data'
  type: 'HDF5Data'
  top: 'x'
  include { phase: TRAIN }
  hdf5_data_param { batch_size: 64 } # big
}
layer {
  name: 'data'
  type: 'HDF5Data'
  top: 'x'
  include { phase: TEST }
  hdf5_data_param { batch_size: 100 }
}
layer {
  name: 'conv1'
  type: 'Convolution'
  bottom: 'x'
  top: 'c'
  convolution_param { num_output: 20 pad: 1 pad: 2 } # twenty
}
"""
OLD = "layers { name: 'a' type: RELU blobs_lr: 1 }\nlayers { layer { name: 'b' type: 'conv' pad: 1 } }\n"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.prototxt"
    path.write_bytes(NET.replace("\n", "\r\n").encode())
    return path


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        (["conv1", "num_output", "50"], "num_output: 20", "num_output: 50"),
        (["conv1", "convolution_param.num_output", "50"], "num_output: 20", "num_output: 50"),
        (["conv1", "convolution_param.pad.1", "7"], "pad: 2", "pad: 7"),
        (["conv1", "pad[0]", "7"], "pad: 1", "pad: 7"),
        (["conv1", "name", "it's"], "name: 'conv1'", 'name: "it\'s"'),
        (["conv1", "top", '"d"'], "top: 'c'", 'top: "d"'),
        (["data", "batch_size", "1", "--phase", "test"], "batch_size: 100", "batch_size: 1"),
        (["data", "batch_size", "1", "--phase", "train"], "batch_size: 64", "batch_size: 1"),
    ],
)
def test_only_the_value_changes(
    net: Path, arguments: list[str], old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = net.read_bytes()
    assert main(["set", str(net), *arguments]) == 0
    assert net.read_bytes() == before.replace(old.encode(), new.encode())
    assert f"layer '{arguments[0]}': " in capsys.readouterr().err


def test_a_field_that_is_not_there_is_added(net: Path) -> None:
    assert main(["set", str(net), "conv1", "weight_filler.type", "xavier"]) == 0
    assert "pad: 2 weight_filler { type: 'xavier' } } # twenty" in net.read_text().replace('"', "'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope", "num_output", "1"], "'data', 'conv1'"),
        (["data", "batch_size", "1"], "2 layers are called 'data', on line 2 and line 9"),
        (["conv1", "num_outputs", "1"], "no field 'num_outputs'"),
        (["conv1", "num_output", "many"], "expected a whole number, got many"),
        (["conv1", "num_output", "1 2"], "one value"),
        (["conv1", "pad.7", "1"], "has 2 values"),
    ],
)
def test_what_cannot_be_set_leaves_the_file(
    net: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = net.read_bytes()
    assert main(["set", str(net), *arguments]) == 1
    assert words in capsys.readouterr().err
    assert net.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [(["a", "blobs_lr.0", "2"], "blobs_lr: 1", "blobs_lr: 2"), (["b", "pad", "2"], "pad: 1", "pad: 2")],
)
def test_old_files_stay_in_their_format(tmp_path: Path, arguments: list[str], old: str, new: str) -> None:
    path = tmp_path / "old.prototxt"
    path.write_text(OLD)
    assert main(["set", str(path), *arguments]) == 0
    assert path.read_text() == OLD.replace(old, new)
