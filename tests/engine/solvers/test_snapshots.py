from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from engine.errors import FileFormatError, NetcanvasError, SolverError, WeightsError
from engine.files import read_weights
from engine.solvers import Action, SnapshotPaths, Solver
from tests.engine.solvers.nets import LAYERS, SOLVER, assert_same, make_solver, weights, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, dropout=0.3, shuffle=True)


def numbers(folder: Path, ending: str = "caffemodel") -> list[int]:
    return sorted(int(path.stem.rpartition("_")[2]) for path in folder.glob(f"snap_iter_*.{ending}"))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("max_iter: 5 snapshot: 2", [2, 4, 5]),
        ("max_iter: 4 snapshot: 2", [2, 4]),
        ("max_iter: 5 snapshot: 2 snapshot_after_train: false", [2, 4]),
        ("max_iter: 3", [3]),
        ("max_iter: 3 snapshot_after_train: false", []),
    ],
)
def test_files_are_numbered_by_updates_done(project: Path, settings: str, expected: list[int]) -> None:
    """C1."""
    with_solver(make_solver(project, settings))
    assert numbers(project) == numbers(project, "solverstate") == expected


def with_solver(solver: Solver) -> dict[str, Any]:
    solver.solve()
    solver.close()
    return weights(solver)


def test_weights_of_a_snapshot_are_those_of_a_shorter_run(project: Path) -> None:
    """C1."""
    shorter = with_solver(make_solver(project, "max_iter: 4"))
    with_solver(make_solver(project, "max_iter: 5 snapshot: 2"))
    loaded = make_solver(project)
    loaded.load_weights(project / "snap_iter_4.caffemodel")
    assert_same(weights(loaded), shorter)
    loaded.close()


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("stop", [3, 6])
def test_interrupted_and_uninterrupted_runs_end_in_the_same_bits(project: Path, kind: str, stop: int) -> None:
    settings = (
        f'type: "{kind}" test_iter: 3 test_interval: 2 average_loss: 3 iter_size: 2 weight_decay: 0.01 max_iter: '
    )
    base = SOLVER.replace("base_lr: 0.1", "base_lr: 0.01")
    whole = make_solver(project, settings + "9", base)
    expected = with_solver(whole)
    first = make_solver(project, settings + str(stop), base)
    with_solver(first)
    second = make_solver(project, settings + "9", base.replace("random_seed: 7", "random_seed: 8"))
    second.restore(project / f"snap_iter_{stop}.solverstate")
    second.solve()
    assert_same(weights(second), expected)
    for mine, theirs in zip(second.rule.get_history(), whole.rule.get_history(), strict=True):
        assert (mine == theirs).all()
    assert second.net.get_state() == whole.net.get_state()
    assert second.test_nets[0].get_state() == whole.test_nets[0].get_state()
    second.close()


PYTHON_LAYER = """
import random
import caffe, numpy as np
class Noise(caffe.Layer):
    def setup(self, bottom, top): self.seen, self.broken = 0, self.param_str == "broken"
    def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top):
        self.seen += 1
        noise = np.random.standard_normal(top[0].data.shape) + self.rng.random() + random.random()
        top[0].data[...] = bottom[0].data + 0.1 * self.seen * noise
    def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = top[0].diff
    def get_state(self): return {"seen": np.array(self.seen) if self.broken else self.seen}
    def set_state(self, state): self.seen = state["seen"]
"""


def add_python_layer(project: Path, param_str: str = "") -> None:
    (project / "noisy.py").write_text(PYTHON_LAYER)
    noise = f'python_param {{ module: "noisy" layer: "Noise" param_str: "{param_str}" }}'
    layer = f'layer {{ name: "noise" type: "Python" bottom: "ip1" top: "noisy" {noise} }}\n'
    write_project(project, dropout=0.3, layers=LAYERS.replace('bottom: "ip1" top: "ip2"', 'bottom: "noisy" top: "ip2"'))
    text = (project / "net.prototxt").read_text()
    (project / "net.prototxt").write_text(text.replace('layer { name: "ip2"', layer + 'layer { name: "ip2"'))


@pytest.mark.parametrize("more", ["", "test_iter: 2 test_interval: 2"])
def test_a_run_with_dropout_and_a_python_layer_is_resumed_exactly(project: Path, more: str) -> None:
    """The layer draws from three generators and counts; the resumed run also has another end."""
    add_python_layer(project)
    expected = with_solver(make_solver(project, f"max_iter: 7 {more}"))
    with_solver(make_solver(project, f"max_iter: 4 {more}"))
    second = make_solver(project, f"max_iter: 7 {more}", SOLVER.replace("random_seed: 7", "random_seed: 8"))
    second.restore(project / "snap_iter_4.solverstate")
    assert_same(with_solver(second), expected)


def test_a_layer_whose_state_cannot_be_kept_costs_no_snapshot(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    add_python_layer(project, "broken")
    with_solver(make_solver(project, "max_iter: 2"))
    assert "Layer 'noise' (Python) in get_state: expected numbers, texts" in caplog.text
    assert "will not be exactly the same" in caplog.text
    assert numbers(project) == numbers(project, "solverstate") == [2]
    assert not list(project.glob("*.extras.json"))


def test_a_missing_extras_file_is_said(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    """C7."""
    with_solver(make_solver(project, "max_iter: 3"))
    (project / "snap_iter_3.solverstate.extras.json").unlink()
    solver = make_solver(project)
    with caplog.at_level(logging.INFO):
        solver.restore(project / "snap_iter_3.solverstate")
    assert "Data restarts at the first record" in caplog.text and solver.iteration == 3
    solver.close()


def test_wrong_kinds_of_file(project: Path) -> None:
    """C2."""
    with_solver(make_solver(project, "max_iter: 1"))
    solver = make_solver(project)
    with pytest.raises(FileFormatError, match=r"weights file.*--weights"):
        solver.restore(project / "snap_iter_1.caffemodel")
    with pytest.raises(FileFormatError, match=r"solver state.*\.caffemodel file that was written with it"):
        solver.load_weights(project / "snap_iter_1.solverstate")
    assert solver.iteration == 0
    solver.close()


def test_state_of_another_solver_type_changes_nothing(project: Path) -> None:
    """C4."""
    with_solver(make_solver(project, "max_iter: 2"))
    adam = make_solver(project, 'type: "Adam"')
    before = weights(adam)
    with pytest.raises(SolverError, match=r"expected 8 histories.*got 4.*weights only"):
        adam.restore(project / "snap_iter_2.solverstate")
    assert adam.iteration == 0
    assert_same(weights(adam), before)
    adam.load_weights(project / "snap_iter_2.caffemodel")
    adam.close()


def test_resuming_with_a_renamed_layer_warns_and_with_all_renamed_fails(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C6."""
    with_solver(make_solver(project, "max_iter: 2"))
    net = (project / "net.prototxt").read_text()
    (project / "net.prototxt").write_text(net.replace('name: "ip2"', 'name: "other"'))
    solver = make_solver(project)
    solver.restore(project / "snap_iter_2.solverstate")
    assert any("'other'" in record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    solver.close()
    (project / "net.prototxt").write_text(net.replace('name: "ip', 'name: "x'))
    solver = make_solver(project)
    with pytest.raises(WeightsError, match="'x1'"):
        solver.restore(project / "snap_iter_2.solverstate")
    solver.close()


def test_weights_are_found_beside_a_moved_state(project: Path, tmp_path: Path) -> None:
    with_solver(make_solver(project, "max_iter: 2"))
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in project.glob("snap_iter_2*"):
        path.rename(moved / path.name)
    solver = make_solver(project)
    solver.restore(moved / "snap_iter_2.solverstate")
    solver.close()
    (moved / "snap_iter_2.caffemodel").unlink()
    solver = make_solver(project)
    with pytest.raises(WeightsError, match=r"snap_iter_2\.caffemodel"):
        solver.restore(moved / "snap_iter_2.solverstate")
    solver.close()


def test_missing_folder_is_told_before_the_first_iteration(project: Path) -> None:
    """C14."""
    solver = Solver.create(SOLVER.replace('"snap"', '"gone/snap"') + "snapshot: 1 max_iter: 2\n", base_dirs=(project,))
    with pytest.raises(SolverError, match=r"expected a folder for snapshots at .*gone"):
        solver.solve()
    assert solver.iteration == 0
    solver.close()


class BreakDisk:
    """Fails every write after the first snapshot."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.failures: list[str] = []
        self.taken: list[SnapshotPaths] = []

    def on_snapshot(self, paths: SnapshotPaths) -> None:
        self.taken.append(paths)

        def refuse(*args: Any, **kwargs: Any) -> None:
            raise OSError(28, "No space left on device")

        self._monkeypatch.setattr(os, "fsync", refuse)

    def on_snapshot_failed(self, message: str) -> None:
        self.failures.append(message)


@pytest.mark.parametrize("iterations", [4, 5])  # the last snapshot is one of the regular ones, or one of its own
def test_a_disk_that_fills_does_not_end_the_training(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, iterations: int
) -> None:
    """C14."""
    solver = make_solver(project, f"max_iter: {iterations} snapshot: 2")
    disk = BreakDisk(monkeypatch)
    solver.listeners.append(disk)
    with pytest.raises(SolverError, match="No space left"):
        solver.solve()  # the last snapshot is what the run was for
    assert solver.iteration == iterations and len(disk.failures) == 1 and "Training goes on" in caplog.text
    assert numbers(project) == numbers(project, "solverstate") == [2]
    solver.close()
    monkeypatch.undo()
    again = make_solver(project)
    again.restore(disk.taken[0].state)
    assert again.iteration == 2
    again.close()


@pytest.mark.parametrize("layout", ["BINARYPROTO", "HDF5"])
def test_fine_tuning_reports_what_does_not_fit(project: Path, layout: str) -> None:
    """C8: both shapes, both names, what would load and what would not, and the next step."""
    with_solver(make_solver(project, f"max_iter: 1 snapshot_format: {layout}"))
    file = project / ("snap_iter_1.caffemodel" + (".h5" if layout == "HDF5" else ""))
    write_project(project, layers=LAYERS.replace("num_output: 3", "num_output: 4"))
    solver = make_solver(project)
    before = weights(solver)
    with pytest.raises(WeightsError, match=r"'ip2'.*\(4, 6\).*\(3, 6\)") as caught:
        solver.load_weights(file)
    text = str(caught.value)
    assert f"Weights of '{file}' do not fit the net 'small'" in text and "'ip1' would load" in text
    assert "Rename 'ip2' in the net" in text
    assert_same(weights(solver), before)
    solver.close()
    net = (project / "net.prototxt").read_text()
    (project / "net.prototxt").write_text(net.replace('name: "ip2"', 'name: "fresh"'))
    solver = make_solver(project)
    report = solver.load_weights(file)
    assert (report.loaded, report.missing, report.unused) == (("ip1",), ("fresh",), ("ip2",))
    solver.close()


def test_weights_of_several_files(project: Path) -> None:
    """The field of the solver takes several, as files with commas or as several fields."""
    with_solver(make_solver(project, "max_iter: 2"))
    expected = weights(make_solver(project))
    net = (project / "net.prototxt").read_text()
    for name in ("ip1", "ip2"):
        (project / "net.prototxt").write_text(net.replace(f'name: "{name}"', 'name: "other"'))
        with_solver(make_solver(project, "max_iter: 1", SOLVER.replace('"snap"', f'"without_{name}"')))
    (project / "net.prototxt").write_text(net)
    files = [f"without_{name}_iter_1.caffemodel" for name in ("ip1", "ip2")]
    loaded = [
        weights(make_solver(project, f'weights: "{files[0]},{files[1]}"')),
        weights(make_solver(project, f'weights: "{files[0]}" weights: "{files[1]}"')),
    ]
    assert_same(*loaded)
    assert all((loaded[0][key] != expected[key]).any() for key in ("ip1/0", "ip2/0"))
    with pytest.raises(WeightsError, match="match no layer of the net"):
        (project / "net.prototxt").write_text(net.replace('name: "ip', 'name: "x'))
        make_solver(project, f'weights: "{files[0]}"')


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ('"snap"', "snap_iter_1"),
        ('"deep"', "deep/solver_iter_1"),
        ('"deep/"', "deep/solver_iter_1"),
        ("", "solver_iter_1"),
    ],
)
def test_names_of_snapshots(project: Path, prefix: str, expected: str) -> None:
    (project / "deep").mkdir()
    text = SOLVER.replace('snapshot_prefix: "snap"', f"snapshot_prefix: {prefix}" if prefix else "")
    (project / "solver.prototxt").write_text(text + "max_iter: 1\n")
    with_solver(Solver.create(project / "solver.prototxt", output_dir=project))
    assert (project / f"{expected}.caffemodel").exists() and (project / f"{expected}.solverstate").exists()


@pytest.mark.parametrize("layout", ["BINARYPROTO", "HDF5"])
def test_gradients_are_stored_where_the_solver_says_so(project: Path, layout: str) -> None:
    solver = make_solver(project, f"snapshot_diff: true snapshot_format: {layout}")
    solver.step(2)
    file = solver.snapshot().model
    diff = solver.net.params["ip1"][0].diff
    if layout == "HDF5":
        with h5py.File(file) as stored:
            np.testing.assert_array_equal(stored["diff/ip1/0"], diff)
    else:
        blob = next(layer for layer in read_weights(file).layer if layer.name == "ip1").blobs[0]
        assert list(blob.diff) == diff.reshape(-1).tolist()
    solver.close()


def test_names_that_hdf5_cannot_hold_are_told_before_the_first_iteration(project: Path) -> None:
    net = (project / "net.prototxt").read_text()
    (project / "net.prototxt").write_text(net.replace('name: "ip2"', 'name: "ip1/0"'))
    solver = make_solver(project, "snapshot_format: HDF5 max_iter: 2")
    with pytest.raises(WeightsError, match=r"layer 'ip1/0'.*BINARYPROTO"):
        solver.solve()
    assert solver.iteration == 0
    solver.close()


def test_a_snapshot_in_the_middle_of_a_test_is_resumed_exactly(project: Path) -> None:
    settings = "test_iter: 3 test_iter: 2 test_interval: 2 snapshot_after_train: false max_iter: 5"
    whole = make_solver(project, settings)
    asked = 0

    def control() -> Action:
        nonlocal asked
        asked += 1
        return Action.SNAPSHOT if asked == 12 else Action.CONTINUE  # 5 batches, 2 iterations, then the second test net

    whole.control = control
    expected = with_solver(whole)
    assert numbers(project) == [2]
    second = make_solver(project, settings)
    second.restore(project / "snap_iter_2.solverstate")
    second.solve()
    assert_same(weights(second), expected)
    for mine, theirs in zip(second.test_nets, whole.test_nets, strict=True):
        assert mine.get_state() == theirs.get_state()
    second.close()


def test_a_failed_snapshot_on_request_leaves_the_training_running(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """C14: the write fails at each of the three files in turn, half-way; what was there before stays whole."""
    solver = make_solver(project, "max_iter: 9 snapshot: 3 snapshot_after_train: false")
    solver.step(3)
    before = {path.name: path.read_bytes() for path in project.glob("snap_iter_3*")}
    assert len(before) == 3
    solver.restore(project / "snap_iter_3.solverstate")
    flush = os.fsync
    for failing in range(3):
        writes = 0

        def fsync(descriptor: int, failing: int = failing) -> None:
            nonlocal writes
            writes += 1
            if writes > failing:
                raise OSError(28, "No space left on device")
            flush(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            solver.control = iter([Action.SNAPSHOT, *[Action.CONTINUE] * 9]).__next__
            solver.step(1)
        assert "Training goes on" in caplog.text
        caplog.clear()
    assert solver.iteration == 6
    for name, content in before.items():
        assert (project / name).read_bytes() == content
    assert not [path for path in project.iterdir() if path.name.endswith(".tmp")]
    solver.close()


def test_parameters_gone_wrong_are_never_saved(project: Path) -> None:
    solver = make_solver(project)
    solver.net.params["ip1"][0].data[1, 2] = float("nan")
    with pytest.raises(NetcanvasError, match=r"parameter 0 of layer 'ip1' with nan at \(1, 2\)"):
        solver.snapshot()
    assert not numbers(project)
    solver.close()
