"""An interrupted run and an uninterrupted one end in the same bits, whatever the solver, the data and the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.files import array_to_datum, read_solver_state, read_stored_layers
from engine.files.lmdb_writer import write_datums
from engine.solvers import RULES, Solver
from tests.engine.solvers.nets import assert_same, weights, write_project

NET = """
name: "resumed"
layer { name: "images" type: "Data" top: "image" top: "label" include { phase: TRAIN }
  data_param { source: "train_lmdb" backend: LMDB batch_size: 5 rand_skip: 3 }
  transform_param { crop_size: 5 mirror: true scale: 0.004 mean_value: 100 } }
layer { name: "images" type: "Data" top: "image" top: "label" include { phase: TEST }
  data_param { source: "train_lmdb" backend: LMDB batch_size: 4 }
  transform_param { crop_size: 5 mirror: true scale: 0.004 mean_value: 100 } }
layer { name: "rows" type: "HDF5Data" top: "data"
  hdf5_data_param { source: "list.txt" batch_size: 5 shuffle: true } include { phase: TRAIN } }
layer { name: "rows" type: "HDF5Data" top: "data"
  hdf5_data_param { source: "list.txt" batch_size: 4 } include { phase: TEST } }
layer { name: "noise" type: "DummyData" top: "noise" dummy_data_param {
  shape { dim: 3 } data_filler { type: "gaussian" std: 0.1 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "image" top: "ip1"
  param { lr_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
  inner_product_param { num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "bn" type: "BatchNorm" bottom: "ip1" top: "bn" }
layer { name: "drop" type: "Dropout" bottom: "bn" top: "bn" dropout_param { dropout_ratio: 0.4 } }
layer { name: "ip2" type: "InnerProduct" bottom: "bn" top: "ip2"
  inner_product_param { num_output: 3 weight_filler { type: "msra" } } }
layer { name: "side" type: "InnerProduct" bottom: "data" top: "side"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "bias" type: "Bias" bottom: "ip2" bottom: "noise" top: "noisy" bias_param { axis: 1 } }
layer { name: "sum" type: "Eltwise" bottom: "noisy" bottom: "side" top: "sum" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "sum" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.01 lr_policy: "multistep" gamma: 0.3 stepvalue: 3 stepvalue: 5 stepvalue: 8
weight_decay: 0.01 iter_size: 2 clip_gradients: 2 average_loss: 3 test_iter: 2 test_interval: 3
snapshot_prefix: "snap" random_seed: 11
"""
MOMENTUM = {"SGD": 0.9, "Nesterov": 0.9, "Adam": 0.9, "AdaDelta": 0.95}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)
    rng = np.random.default_rng(3)
    images = rng.integers(0, 255, (13, 1, 7, 7), dtype=np.uint8)
    write_datums(tmp_path / "train_lmdb", (array_to_datum(image, index % 3) for index, image in enumerate(images)))
    return tmp_path


def train(project: Path, kind: str, more: str, state: Path | None = None) -> Solver:
    momentum = f"momentum: {MOMENTUM[kind]}" if kind in MOMENTUM else ""
    text = f'{SOLVER} type: "{kind}" {momentum} {more}\n'
    if state is not None:
        text = text.replace("random_seed: 11", "random_seed: 12")
    solver = Solver.create(text, base_dirs=(project,), output_dir=project)
    solver.solve(state)
    solver.close()
    return solver


@pytest.mark.parametrize("layout", ["BINARYPROTO", "HDF5"])
@pytest.mark.parametrize("kind", sorted(RULES))
def test_interrupted_is_uninterrupted(project: Path, kind: str, layout: str) -> None:
    whole = train(project, kind, "max_iter: 9 snapshot_after_train: false")
    train(project, kind, f"max_iter: 4 snapshot_format: {layout}")
    ending = ".h5" if layout == "HDF5" else ""
    state = project / f"snap_iter_4.solverstate{ending}"
    assert sorted(path.name for path in project.glob("snap_iter_4*")) == [
        f"snap_iter_4.caffemodel{ending}", state.name, f"{state.name}.extras.json"
    ]  # fmt: skip
    resumed = train(project, kind, "max_iter: 9 snapshot_after_train: false", state)
    assert_same(weights(resumed), weights(whole))
    for mine, theirs in zip(resumed.rule.get_history(), whole.rule.get_history(), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert resumed.net.get_state() == whole.net.get_state()
    assert resumed.test_nets[0].get_state() == whole.test_nets[0].get_state()


def test_both_layouts_hold_the_same(project: Path) -> None:
    for layout in ("BINARYPROTO", "HDF5"):
        train(project, "Adam", f"max_iter: 4 snapshot_diff: true snapshot_format: {layout}")
    one, other = (read_solver_state(project / f"snap_iter_4.solverstate{ending}") for ending in ("", ".h5"))
    assert (one.iter, one.current_step) == (other.iter, other.current_step) == (4, 1)
    assert other.learned_net == one.learned_net + ".h5"
    for mine, theirs in zip(one.history, other.history, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    binary, hdf5 = (
        {layer.name: layer.blobs for layer in read_stored_layers(project / f"snap_iter_4.caffemodel{ending}")}
        for ending in ("", ".h5")
    )
    assert set(binary) == set(hdf5) and "bn" in binary
    for name, blobs in binary.items():
        for first, second in zip(blobs, hdf5[name], strict=True):
            assert first is not None and second is not None
            np.testing.assert_array_equal(first.data, second.data)


def test_a_state_goes_on_with_weights_of_the_other_layout(project: Path) -> None:
    """The state names its weights, whatever they are; here the binary ones lie where the state says."""
    whole = train(project, "SGD", "max_iter: 9 snapshot_after_train: false")
    train(project, "SGD", "max_iter: 4 snapshot_format: HDF5")
    train(project, "SGD", "max_iter: 4")
    (project / "snap_iter_4.caffemodel").rename(project / "snap_iter_4.caffemodel.h5")
    resumed = train(project, "SGD", "max_iter: 9", project / "snap_iter_4.solverstate.h5")
    assert_same(weights(resumed), weights(whole))


IMAGES = """
layer { name: "files" type: "ImageData" top: "image" top: "label" image_data_param {
  source: "files.txt" batch_size: 3 shuffle: true rand_skip: 2 is_color: false new_height: 9 new_width: 9 }
  transform_param { crop_size: 7 mirror: true scale: 0.01 } }
layer { name: "noise" type: "DummyData" top: "noise" dummy_data_param {
  shape { dim: 3 dim: 1 dim: 7 dim: 7 } data_filler { type: "uniform" max: 0.2 } } }
layer { name: "sum" type: "Eltwise" bottom: "image" bottom: "noise" top: "sum" }
layer { name: "conv" type: "Convolution" bottom: "sum" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""


@pytest.mark.parametrize("stop", [1, 4, 7])
def test_shuffled_files_and_stochastic_layers(project: Path, stop: int) -> None:
    rng = np.random.default_rng(5)
    for index in range(8):
        Image.fromarray(rng.integers(0, 255, (10, 11), dtype=np.uint8)).save(project / f"{index}.png")
    (project / "files.txt").write_text("".join(f"{project / str(index)}.png {index % 3}\n" for index in range(8)))
    (project / "net.prototxt").write_text(IMAGES)
    plain = SOLVER.replace("test_iter: 2 test_interval: 3", "")

    def run(more: str, state: Path | None = None) -> Solver:
        solver = Solver.create(f"{plain} momentum: 0.9 {more}\n", base_dirs=(project,), output_dir=project)
        solver.solve(state)
        solver.close()
        return solver

    whole = run("max_iter: 9 snapshot_after_train: false")
    run(f"max_iter: {stop}")
    resumed = run("max_iter: 9 snapshot_after_train: false", project / f"snap_iter_{stop}.solverstate")
    assert_same(weights(resumed), weights(whole))
    assert resumed.net.get_state() == whole.net.get_state()
