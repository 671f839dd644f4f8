"""What Caffe 1.0 computed with its own solvers, see golden/README.md beside the checkout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.solvers import Solver
from tests.support import shared, shared_files

FOLDER = "golden/solvers"
NAMES = [path.name.removesuffix(".solver.prototxt") for path in shared_files(f"{FOLDER}/*.solver.prototxt")]
STATES = [path.name for path in shared_files(f"{FOLDER}/*.iter20.solverstate*")]
TOLERANCE = 1e-3


def start(name: str, tmp_path: Path) -> tuple[Solver, dict[str, np.ndarray]]:
    folder = shared(FOLDER)
    solver = Solver.create(folder / f"{name}.solver.prototxt", output_dir=tmp_path)
    return solver, dict(np.load(folder / f"{name}.npz"))


def assert_weights(solver: Solver, expected: dict[str, np.ndarray], key: str) -> None:
    compared = 0
    for layer, blobs in solver.net.params.items():
        for index, blob in enumerate(blobs):
            wanted = expected[f"{key}/{layer}/{index}"]
            error = np.abs(blob.data - wanted).max() / np.abs(wanted).max()
            assert error < TOLERANCE, f"{key}/{layer}/{index}: {error}"
            compared += 1
    assert compared == sum(name.startswith(f"{key}/") for name in expected)


@pytest.mark.parametrize("name", NAMES)
def test_forty_iterations(name: str, tmp_path: Path) -> None:
    solver, expected = start(name, tmp_path)
    solver.load_weights(shared(FOLDER) / "init.caffemodel")
    losses = []
    for iteration in range(40):
        if iteration == 20:
            assert_weights(solver, expected, "w20")
        solver.step(1)
        losses.append(float(solver.net.blobs["loss"].data))
    np.testing.assert_allclose(losses, expected["loss"], rtol=TOLERANCE, atol=1e-4)
    assert_weights(solver, expected, "w40")
    (scores,) = solver.test_all()
    np.testing.assert_allclose(scores["loss"], expected["test_loss"], rtol=TOLERANCE)
    np.testing.assert_allclose(scores["accuracy"], expected["test_accuracy"], atol=1 / 64 + 1e-6)
    solver.close()


@pytest.mark.parametrize("state", STATES)
def test_going_on_from_caffes_own_snapshot(state: str, tmp_path: Path) -> None:
    solver, expected = start(state.partition(".")[0], tmp_path)
    solver.restore(shared(FOLDER) / state)
    assert solver.iteration == 20
    assert_weights(solver, expected, "w20")
    # Caffe does not keep the data's position: 20 batches of 32 rows leave 256 rows at row 128.
    for _ in range(20 * 32 % 256 // 32):
        solver.net.layers[0].forward((), [solver.net.blobs[top] for top in solver.net.top_names["data"]])
    solver.step(20)
    assert_weights(solver, expected, "w40")
    solver.close()


@pytest.mark.parametrize("layout", ["", ".h5"])
@pytest.mark.parametrize("name", [name for name in NAMES if name in ("sgd_fixed", "adam")])
def test_our_snapshot_goes_on_like_caffes(name: str, layout: str, tmp_path: Path) -> None:
    text = (shared(FOLDER) / f"{name}.solver.prototxt").read_text()
    text += "snapshot_format: HDF5" if layout else ""
    solver = Solver.create(text, base_dirs=[shared(FOLDER)], output_dir=tmp_path)
    expected = dict(np.load(shared(FOLDER) / f"{name}.npz"))
    solver.load_weights(shared(FOLDER) / f"init.caffemodel{layout}")
    solver.step(20)
    state = solver.snapshot().state
    assert state.name == f"snap_iter_20.solverstate{layout}"
    solver.close()
    again, _ = start(name, tmp_path)
    again.restore(state)
    again.step(20)
    assert_weights(again, expected, "w40")
    again.close()
