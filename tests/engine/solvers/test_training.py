from __future__ import annotations

import logging
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import LayerError, NetcanvasError, SolverError
from engine.solvers import Action, IterationReport, Solver, TestReport
from tests.engine.solvers.nets import LAYERS, SOLVER, assert_same, make_solver, weights, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path)


def trained(solver: Solver, iterations: int) -> dict[str, np.ndarray]:
    solver.step(iterations)
    solver.close()
    return weights(solver)


def test_iter_size_is_one_larger_batch(tmp_path: Path) -> None:
    """C9."""
    results, losses = [], []
    for batch, settings in ((8, ""), (4, "iter_size: 2")):
        folder = tmp_path / str(batch)
        folder.mkdir()
        solver = make_solver(write_project(folder, batch=batch), settings + " weight_decay: 0.01")
        watcher = Watcher(solver)
        results.append(trained(solver, 5))
        losses.append([report.loss for report in watcher.iterations])
    for name, values in results[0].items():
        np.testing.assert_allclose(results[1][name], values, atol=1e-6)
    np.testing.assert_allclose(*losses, rtol=1e-5)


class Watcher:
    def __init__(self, solver: Solver) -> None:
        self.iterations: list[IterationReport] = []
        self.tests: list[TestReport] = []
        self.gradients = 0
        solver.listeners.append(self)

    def on_iteration(self, report: IterationReport) -> None:
        self.iterations.append(report)

    def on_test(self, report: TestReport) -> None:
        self.tests.append(report)

    def on_gradients(self, solver: Solver) -> None:
        self.gradients += 1


def test_same_seed_same_bits(tmp_path: Path) -> None:
    """C21."""
    write_project(tmp_path, dropout=0.5, shuffle=True)
    runs = [
        trained(make_solver(tmp_path, base=SOLVER.replace("random_seed: 7", f"random_seed: {seed}")), 5)
        for seed in (1, 1, 2)
    ]
    assert_same(runs[0], runs[1])
    assert any((runs[0][name] != runs[2][name]).any() for name in runs[0])


def test_without_a_seed_one_is_drawn_that_repeats_the_run(tmp_path: Path) -> None:
    write_project(tmp_path, dropout=0.5, shuffle=True)
    free = make_solver(tmp_path, base=SOLVER.replace("random_seed: 7", ""))
    again = Solver.create(SOLVER + "\n", base_dirs=(tmp_path,), seed=free.seed)
    assert_same(trained(free, 3), trained(again, 3))


def test_test_nets_share_all_parameters(project: Path) -> None:
    """C22."""
    solver = make_solver(project, "test_iter: 1 test_iter: 2 test_interval: 100")
    solver.step(3)
    for net in solver.test_nets:
        for name, blobs in net.params.items():
            for mine, theirs in zip(blobs, solver.net.params[name], strict=True):
                assert np.shares_memory(mine.data, theirs.data)
    solver.close()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("test_interval: 2 max_iter: 4", [0, 2, 4]),
        ("test_interval: 2 max_iter: 3 test_initialization: false", [2]),
        ("test_interval: 3 max_iter: 4", [0, 3]),
    ],
)
def test_when_tests_run(project: Path, settings: str, expected: list[int]) -> None:
    solver = make_solver(project, "test_iter: 1 snapshot_after_train: false " + settings)
    watcher = Watcher(solver)
    solver.solve()
    assert [report.iteration for report in watcher.tests] == expected
    assert watcher.gradients == len(watcher.iterations) == solver.max_iter
    assert [report.iteration for report in watcher.iterations] == list(range(solver.max_iter))
    solver.close()


def test_scores_are_elementwise_means_in_alphabetical_order(project: Path) -> None:
    """C17."""
    layers = LAYERS.replace('top: "loss"', 'top: "zloss"').replace(
        'top: "accuracy"', 'top: "accuracy" top: "per_class"'
    )
    write_project(project, layers=layers)
    solver = make_solver(project, "test_iter: 3 test_interval: 1")
    (scores,) = solver.test_all()
    again = make_solver(project, "test_iter: 3 test_interval: 1")
    net = again.test_nets[0]
    batches = []
    for _ in range(3):
        net.forward()
        batches.append({name: np.array(net.blobs[name].data) for name in net.outputs})
    assert list(scores) == ["accuracy", "per_class", "zloss"] and scores["per_class"].shape == (3,)
    for name, values in scores.items():
        np.testing.assert_allclose(values, np.mean([batch[name] for batch in batches], axis=0), rtol=1e-6)
    solver.close()
    again.close()


def test_smoothed_loss_starts_anew_with_every_step_call(project: Path) -> None:
    """C16."""
    solver = make_solver(project, "average_loss: 2")
    watcher = Watcher(solver)
    solver.step(3)
    solver.step(1)
    losses = [report.loss for report in watcher.iterations]
    expected = [losses[0], (losses[0] + losses[1]) / 2, (losses[1] + losses[2]) / 2, losses[3]]
    assert [report.smoothed_loss for report in watcher.iterations] == pytest.approx(expected)
    solver.close()


def test_stop_acts_within_one_test_batch_and_leaves_a_resumable_state(tmp_path: Path) -> None:
    """C13."""
    write_project(tmp_path, dropout=0.2, shuffle=True)
    settings = "test_iter: 1000 test_interval: 2 test_initialization: false max_iter: 5"
    solver = make_solver(tmp_path, settings)
    asked = 0

    def control() -> Action:
        nonlocal asked
        asked += 1
        return Action.STOP if asked == 5 else Action.CONTINUE  # two iterations, three test batches

    solver.control = control
    solver.solve()
    assert solver.stopped and solver.iteration == 2 and asked == 5
    solver.close()
    short = settings.replace("1000", "2")
    resumed = make_solver(tmp_path, short)
    resumed.restore(tmp_path / "snap_iter_2.solverstate")
    resumed.solve()
    whole = make_solver(tmp_path, short)
    whole.solve()
    assert_same(weights(resumed), weights(whole))
    assert resumed.test_nets[0].get_state() == whole.test_nets[0].get_state()
    resumed.close()
    whole.close()


def test_stop_takes_no_snapshot_where_the_file_says_so(project: Path) -> None:
    """C13."""
    solver = make_solver(project, "max_iter: 9 snapshot_after_train: false")
    solver.control = lambda: Action.STOP
    solver.solve()
    assert solver.iteration == 1 and not list(project.glob("snap*"))
    solver.close()


def test_snapshot_and_pause_on_request_keep_running(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C13."""
    monkeypatch.setattr("engine.solvers.solver._PAUSE_SECONDS", 0.0)
    solver = make_solver(project, "max_iter: 4 snapshot_after_train: false")
    answers = [Action.PAUSE, Action.PAUSE, Action.SNAPSHOT, Action.CONTINUE]
    solver.control = lambda: answers.pop(0) if answers else Action.CONTINUE
    solver.solve()
    assert solver.iteration == 4 and (project / "snap_iter_1.solverstate").exists() and not answers
    solver.close()


def test_the_first_value_that_is_not_finite_is_named(project: Path) -> None:
    """C18."""
    solver = make_solver(project)
    forward = solver.net.layers[0].forward

    def poisoned(bottom: Any, top: Any) -> None:
        forward(bottom, top)
        if solver.iteration == 3:
            top[0].data[1, 2] = math.nan

    solver.net.layers[0].forward = poisoned  # type: ignore[method-assign]
    with pytest.raises(SolverError, match=r"Iteration 3: .*blob 'data' of layer 'data' \(HDF5Data\), nan at \(1, 2\)"):
        solver.step(10)
    assert solver.iteration == 3
    solver.close()


@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
def test_a_diverging_run_fails_naming_the_parameter(project: Path) -> None:
    """C18: never a green status."""
    solver = make_solver(project, base=SOLVER.replace("base_lr: 0.1", "base_lr: 1e38"))
    with pytest.raises(NetcanvasError, match="layer 'ip"):
        solver.step(10)
    solver.close()


def test_label_out_of_range(project: Path) -> None:
    """C18."""
    write_project(project, layers=LAYERS.replace("num_output: 3", "num_output: 2"))
    solver = make_solver(project)
    with pytest.raises(LayerError, match=r"'loss'.*2"):
        solver.step(1)
    solver.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("test_iter: 1", "test_interval of at least 1"),
        ('test_net: "net.prototxt" test_interval: 1', "one test_iter for each of 1 test nets, got 0"),
        ('train_net: "net.prototxt"', "got net and train_net"),
        ("test_iter: 1 test_interval: 1 test_state {} test_state {}", "test_state.*got 2"),
        ('type: "SDG"', "got 'SDG'"),
        ("iter_size: 0", "iter_size of 1 or more, got 0"),
        ("average_loss: -1", "average_loss of 1 or more, got -1"),
        ("snapshot: -3", "snapshot of 0 or more, got -3"),
        ("display: -1", "display of 0 or more"),
        ("max_iter: -1", "max_iter of 0 or more"),
        ("test_iter: 0 test_interval: 1", "test_iter of 1 or more"),
    ],
)
def test_settings_refused_at_creation(project: Path, text: str, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        make_solver(project, text)


def test_poly_without_max_iter(project: Path) -> None:
    """C18."""
    with pytest.raises(SolverError, match="max_iter of at least 1"):
        make_solver(project, base=SOLVER.replace('"fixed"', '"poly"'))


def test_no_net_and_missing_net(project: Path) -> None:
    with pytest.raises(SolverError, match="got none"):
        Solver.create('lr_policy: "fixed"\n')
    with pytest.raises(SolverError, match=f"'gone.prototxt' was not found; tried .*{project}/gone.prototxt"):
        make_solver(project, base='net: "gone.prototxt" lr_policy: "fixed"')


def test_forms_of_naming_nets_agree(project: Path) -> None:
    text = (project / "net.prototxt").read_text()
    settings = SOLVER.replace('net: "net.prototxt"', "") + "test_iter: 1 test_interval: 2 "
    forms = [
        'net: "net.prototxt"',
        f"net_param {{ {text} }}",
        'train_net: "net.prototxt" test_net: "net.prototxt"',
        f"train_net_param {{ {text} }} test_net_param {{ {text} }}",
    ]
    results = [trained(make_solver(project, form, settings), 3) for form in forms]
    results.append(trained(Solver.create(settings + "\n", net_text=text, base_dirs=(project,)), 3))
    for result in results[1:]:
        assert_same(result, results[0])


def test_stages_of_training_are_not_passed_on_to_tests(project: Path) -> None:
    """B11."""
    extra = LAYERS.replace(
        'layer { name: "relu1"',
        'layer { name: "extra" type: "ReLU" bottom: "data" top: "r" include { stage: "s" } }\nlayer { name: "relu1"',
    )
    write_project(project, layers=extra)
    settings = 'train_state { stage: "s" } test_iter: 1 test_iter: 1 test_interval: 1 '
    solver = make_solver(project, settings + 'test_state {} test_state { stage: "s" }')
    names = [[("extra" in net.layer_names)] for net in (solver.net, *solver.test_nets)]
    assert names == [[True], [False], [True]]
    solver.close()


def test_a_file_that_asks_for_a_device_that_is_not_there_gets_a_warning(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_solver(project).close()
    assert not caplog.records
    make_solver(project, "solver_mode: GPU").close()
    assert "solver_mode is GPU" in caplog.text


def test_old_solver_type_field(project: Path) -> None:
    solver = make_solver(project, "solver_type: ADAM")
    assert solver.type == "Adam"
    solver.close()


def test_log_speaks_like_caffe(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    solver = make_solver(project, "test_iter: 1 test_interval: 2 display: 1 max_iter: 2 snapshot_after_train: false")
    with caplog.at_level(logging.INFO):
        solver.solve()
    solver.close()
    text = "\n".join(record.getMessage() for record in caplog.records)
    number = r"[-+0-9.e]+"
    for pattern in (
        r"^Solving small$",
        r"^Iteration 0, Testing net \(#0\)$",
        rf"^    Test net output #0: accuracy = {number}$",
        rf"^    Test net output #1: loss = {number} \(\* 1 = {number} loss\)$",
        rf"^Iteration 1 \({number} iter/s, {number}s/1 iters\), loss = {number}$",
        rf"^    Train net output #0: loss = {number} \(\* 1 = {number} loss\)$",
        r"^Iteration 1, lr = 0\.1$",
        rf"^Iteration 2, loss = {number}$",
        r"^Optimization Done\.$",
    ):
        assert re.search(pattern, text, re.MULTILINE), pattern


def test_a_device_gives_the_same_weights(project: Path) -> None:
    settings = (
        "weight_decay: 0.1 clip_gradients: 1 test_iter: 1 test_interval: 2 snapshot_after_train: false max_iter: 4\n"
    )
    results = []
    for backend in ("numpy", "strict"):
        solver = Solver.create(SOLVER + settings, base_dirs=(project,), backend=backend)
        solver.solve()
        solver.close()
        results.append(weights(solver))
    assert_same(*results)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_snapshots_of_a_device(project: Path, backend: str) -> None:
    solver = Solver.create(SOLVER + "\n", base_dirs=(project,), backend=backend, output_dir=project)
    solver.step(2)
    before, state = weights(solver), solver.snapshot().state
    solver.step(2)
    solver.restore(state)
    assert_same(weights(solver), before)
    solver.close()
