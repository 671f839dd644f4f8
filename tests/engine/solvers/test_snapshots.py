from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest

from engine.errors import FileFormatError, NetcanvasError, SolverError, WeightsError
from engine.solvers import SnapshotPaths, Solver
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


def test_a_disk_that_fills_does_not_end_the_training(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """C14."""
    solver = make_solver(project, "max_iter: 5 snapshot: 2")
    disk = BreakDisk(monkeypatch)
    solver.listeners.append(disk)
    with pytest.raises(SolverError, match="No space left"):
        solver.solve()  # the last snapshot is what the run was for
    assert solver.iteration == 5 and len(disk.failures) == 1 and "Training goes on" in caplog.text
    assert numbers(project) == numbers(project, "solverstate") == [2]
    solver.close()
    monkeypatch.undo()
    again = make_solver(project)
    again.restore(disk.taken[0].state)
    assert again.iteration == 2
    again.close()


def test_fine_tuning_reports_what_does_not_fit(project: Path) -> None:
    """C8."""
    with_solver(make_solver(project, "max_iter: 1"))
    write_project(project, layers=LAYERS.replace("num_output: 3", "num_output: 4"))
    solver = make_solver(project)
    with pytest.raises(WeightsError, match=r"'ip2'.*\(4, 6\).*\(3, 6\)") as caught:
        solver.load_weights(project / "snap_iter_1.caffemodel")
    assert "Rename" in str(caught.value)
    solver.close()


def test_parameters_gone_wrong_are_never_saved(project: Path) -> None:
    solver = make_solver(project)
    solver.net.params["ip1"][0].data[1, 2] = float("nan")
    with pytest.raises(NetcanvasError, match=r"parameter 0 of layer 'ip1' with nan at \(1, 2\)"):
        solver.snapshot()
    assert not numbers(project)
    solver.close()
