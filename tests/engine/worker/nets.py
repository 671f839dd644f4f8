"""A net that trains in a blink, with data of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

_SOLVER = {
    "net": '"net.prototxt"',
    "test_iter": "2",
    "test_interval": "20",
    "base_lr": "0.1",
    "lr_policy": '"fixed"',
    "momentum": "0.9",
    "max_iter": "50",
    "display": "10",
    "snapshot": "25",
    "snapshot_prefix": '"somewhere/tiny"',
    "random_seed": "7",
}

FOREVER = {"max_iter": "100000000", "snapshot": "0", "test_interval": "1000000", "display": "0"}


def solver_text(**changes: str) -> str:
    return "".join(f"{name}: {value}\n" for name, value in {**_SOLVER, **changes}.items())


_NET = """
name: "tiny"
layer {
  name: "data" type: "HDF5Data" top: "data" top: "label"
  hdf5_data_param { source: "files.txt" batch_size: 16 }
}
layer {
  name: "hidden" type: "InnerProduct" bottom: "data" top: "hidden"
  inner_product_param { num_output: 8 weight_filler { type: "xavier" } }
}
layer { name: "relu" type: "ReLU" bottom: "hidden" top: "hidden" }
layer {
  name: "score" type: "InnerProduct" bottom: "hidden" top: "score"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } }
}
%s
layer {
  name: "accuracy" type: "Accuracy" bottom: "score" bottom: "label" top: "accuracy"
  include { phase: TEST }
}
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "score" bottom: "label" top: "loss" }
"""


@dataclass(frozen=True)
class TinyNet:
    folder: Path
    text: str = _NET % ""

    @classmethod
    def write(cls, folder: Path) -> TinyNet:
        rng = np.random.default_rng(3)
        data = rng.normal(size=(64, 4)).astype(np.float32)
        with h5py.File(folder / "data.h5", "w") as file:
            file["data"] = data
            file["label"] = (data.sum(1) > 0).astype(np.float32)
        (folder / "files.txt").write_text("data.h5\n")
        net = cls(folder)
        (folder / "net.prototxt").write_text(net.text)
        (folder / "solver.prototxt").write_text(solver_text())
        return net

    @staticmethod
    def with_layer(layer: str) -> str:
        """Return the net with a layer more, which may use the blobs data, hidden and score."""
        return _NET % layer
