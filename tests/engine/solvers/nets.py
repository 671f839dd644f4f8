"""Small nets and data for tests of solvers."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from engine.solvers import Solver

LAYERS = """
name: "small"
layer { name: "data" type: "HDF5Data" top: "data" top: "label"
  hdf5_data_param { source: "list.txt" batch_size: BATCH } }
layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "ip1"
  inner_product_param { num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
DROPOUT
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip2" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }
"""
SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" momentum: 0.9 random_seed: 7 snapshot_prefix: "snap" '


def write_project(
    folder: Path, *, batch: int = 4, dropout: float = 0.0, rows: int = 26, layers: str = LAYERS, shuffle: bool = False
) -> Path:
    """Write a net and its data: 5 values a row, 3 classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(rows) % 3
    with h5py.File(folder / "data.h5", "w") as file:
        file["data"] = (rng.standard_normal((rows, 5)) + labels[:, None]).astype(np.float32)
        file["label"] = labels.astype(np.float32)
    (folder / "list.txt").write_text("data.h5\n")
    settings = f"dropout_param {{ dropout_ratio: {dropout} }}"
    layer = f'layer {{ name: "drop1" type: "Dropout" bottom: "ip1" top: "ip1" {settings} }}'
    text = layers.replace("BATCH", str(batch)).replace("DROPOUT", layer if dropout else "")
    if shuffle:
        text = text.replace("hdf5_data_param {", "hdf5_data_param { shuffle: true")
    (folder / "net.prototxt").write_text(text)
    return folder


def make_solver(folder: Path, text: str = "", base: str = SOLVER) -> Solver:
    """Build a solver of a project; its snapshots go into the folder too."""
    return Solver.create(base + text + "\n", base_dirs=(folder,), output_dir=folder)


def weights(solver: Solver) -> dict[str, np.ndarray]:
    """Copy all parameters."""
    return {
        f"{name}/{index}": np.array(blob.data)
        for name, blobs in solver.net.params.items()
        for index, blob in enumerate(blobs)
    }


def assert_same(got: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    """Compare parameters bit by bit."""
    assert got.keys() == wanted.keys() and got
    for name, values in wanted.items():
        np.testing.assert_array_equal(got[name], values, err_msg=name)
