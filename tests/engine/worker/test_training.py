"""The worker process itself: started, watched, commanded, killed."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import WorkerError
from engine.files import read_weights
from engine.worker import (
    Finished,
    Hello,
    LogRecord,
    Lost,
    Metrics,
    Output,
    Progress,
    RunFolder,
    SnapshotTaken,
    StateChanged,
    TrainingProcess,
    attach,
    read_history,
)
from tests.engine.worker.conftest import PATIENCE, StartRun, Watch, is_a, until_end, wait_for
from tests.engine.worker.nets import FOREVER, TinyNet, solver_text


def test_a_run_trains_tests_snapshots_and_tells(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run()
    events = until_end(watch(run, process))
    assert process.wait(PATIENCE) == 0
    assert isinstance(events[0], Hello)
    assert events[0].run == run.name
    assert Finished("finished", 50) in events
    assert StateChanged("finished") in events

    points = np.concatenate([event.points for event in events if isinstance(event, Progress)])
    history = read_history(run.metrics_file)
    np.testing.assert_array_equal(history.points[:, 0], np.arange(50))
    np.testing.assert_array_equal(points, history.points[len(history.points) - len(points) :])
    assert history.points[-1, 1] < history.points[0, 1]
    assert [test.iteration for test in history.tests] == [0, 20, 40]
    assert {"accuracy", "loss"} <= set(history.tests[0].outputs)

    assert run.last_snapshot() == run.snapshots / "tiny_iter_50.solverstate"
    text = "".join(event.text for event in events if isinstance(event, Output))
    assert text == run.log_file.read_text()
    assert "solver.py" in text
    assert "Iteration 10, lr = 0.1" in text

    status = run.status()
    assert (status.state, status.iteration, status.max_iter) == ("finished", 50, 50)
    assert not Path(status.address).exists()


@pytest.mark.parametrize(
    ("extras", "state", "message"),
    [
        (
            {"early_stopping": {"output": "loss", "goal": "max", "patience": 1}},
            "finished",
            "Early stopping: 'loss' was",
        ),
        ({"warm_up": {"iterations": 0}}, "failed", "warm_up.iterations: expected a whole number of 1 or more, got 0"),
    ],
)
def test_the_extras_of_the_run_are_obeyed(
    start_run: StartRun, tiny_net: TinyNet, tmp_path: Path, extras: dict[str, object], state: str, message: str
) -> None:
    run = RunFolder.create(
        tmp_path / "runs", tiny_net.text, solver_text(max_iter="1000"), "tiny", extras_text=json.dumps(extras)
    )
    _, process = start_run(run=run, base_dirs=[tiny_net.folder])
    assert process.wait(PATIENCE) == (0 if state == "finished" else 1)
    status = run.status()
    assert (status.state, message in status.message) == (state, True), status
    assert status.iteration < 1000
    if state == "finished":
        assert run.last_snapshot() == run.snapshots / f"tiny_iter_{status.iteration}.solverstate"


def test_the_environment_is_recorded(start_run: StartRun, tiny_net: TinyNet) -> None:
    run, process = start_run(solver={"random_seed": "-1"})
    assert process.wait(PATIENCE) == 0
    environment = run.environment()
    assert environment["backend"] == "numpy"
    assert environment["seed"] >= 0
    assert environment["base_dirs"] == [str(tiny_net.folder)]
    assert environment["versions"]["numpy"] == np.__version__
    assert len(environment["starts"]) == 1


def test_the_worker_leads_its_own_session_at_low_priority(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    wait_for(watch(run, process), is_a(StateChanged, state="running"))
    assert os.getsid(process.pid) == process.pid
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == 10
    maps = Path(f"/proc/{process.pid}/maps")
    if maps.exists():
        assert "PySide6" not in maps.read_text()


def test_pause_resume_snapshot_stop(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    viewer = watch(run, process)
    wait_for(viewer, is_a(Progress))
    viewer.pause()
    wait_for(viewer, is_a(StateChanged, state="paused"))
    paused = run.status()
    assert paused.state == "paused"
    time.sleep(0.3)
    assert not [event for event in viewer.events(0.2) if isinstance(event, Progress)]
    assert run.status().iteration == paused.iteration

    viewer.snapshot()
    taken, _ = wait_for(viewer, is_a(SnapshotTaken))
    assert taken.iteration == paused.iteration  # type: ignore[attr-defined]
    assert Path(taken.state).is_file()  # type: ignore[attr-defined]
    assert run.status().state == "paused"

    viewer.resume()
    _, seen = wait_for(viewer, is_a(Progress))
    assert is_a(StateChanged, state="running")(seen[0]) or any(map(is_a(StateChanged, state="running"), seen))
    viewer.stop()
    events = until_end(viewer)
    assert [event.state for event in events if isinstance(event, Finished)] == ["stopped"]
    assert process.wait(PATIENCE) == 0
    status = run.status()
    assert status.state == "stopped"
    assert run.last_snapshot() == run.snapshots / f"tiny_iter_{status.iteration}.solverstate"


def test_a_paused_run_can_be_stopped(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    viewer = watch(run, process)
    wait_for(viewer, is_a(Progress))
    viewer.pause()
    wait_for(viewer, is_a(StateChanged, state="paused"))
    viewer.stop()
    assert any(map(is_a(Finished, state="stopped"), until_end(viewer)))


def test_terminate_stops_in_good_order(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    viewer = watch(run, process)
    wait_for(viewer, is_a(Progress))
    os.kill(process.pid, signal.SIGINT)  # the terminal's Ctrl+C is not meant for a training of the window
    os.kill(process.pid, signal.SIGTERM)
    assert any(map(is_a(Finished, state="stopped"), until_end(viewer)))
    assert run.last_snapshot() is not None


def test_a_killed_worker_is_noticed_at_once_and_the_run_goes_on_exactly(start_run: StartRun, watch: Watch) -> None:
    whole, process = start_run(solver={"max_iter": "400", "snapshot": "100"})
    assert process.wait(PATIENCE) == 0

    run, process = start_run(solver={"max_iter": "400", "snapshot": "100"})
    viewer = watch(run, process)
    wait_for(viewer, is_a(SnapshotTaken))
    viewer.pause()
    wait_for(viewer, is_a(StateChanged, state="paused"))
    os.kill(process.pid, signal.SIGKILL)
    began = time.monotonic()
    events = until_end(viewer)
    assert time.monotonic() - began < 2.0
    lost = events[-1]
    assert isinstance(lost, Lost)
    assert run.name in lost.message
    assert "SIGKILL" in lost.message
    assert "Resume from the last snapshot" in lost.message
    assert run.status().state == "lost"
    assert not Path(run.read_status().address).exists()
    with pytest.raises(WorkerError, match="lost"):
        attach(run)

    _, process = start_run(run=run, snapshot=Path(lost.snapshot))
    assert process.wait(PATIENCE) == 0
    assert run.status().state == "finished"
    assert len(run.environment()["starts"]) == 2
    np.testing.assert_array_equal(read_history(run.metrics_file).points, read_history(whole.metrics_file).points)
    weights = [read_weights(each.snapshots / "tiny_iter_400.caffemodel").SerializeToString() for each in (run, whole)]
    assert weights[0] == weights[1]


def test_the_worker_outlives_its_viewers_and_takes_new_ones(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    first = attach(run, process=process)
    wait_for(first, is_a(Progress))
    first.close()
    second, third = watch(RunFolder.open(run.path)), watch(RunFolder.open(run.path))
    hello, _ = wait_for(second, is_a(Hello))
    assert isinstance(hello, Hello)
    assert hello.state == "running"
    assert hello.max_iter == 100_000_000
    second.pause()
    wait_for(second, is_a(StateChanged, state="paused"))
    wait_for(third, is_a(StateChanged, state="paused"))
    third.stop()
    assert any(map(is_a(Finished, state="stopped"), until_end(second)))
    assert any(map(is_a(Finished, state="stopped"), until_end(third)))


def test_a_run_is_not_started_twice(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    wait_for(watch(run, process), is_a(Progress))
    with pytest.raises(WorkerError, match="already training"):
        TrainingProcess.start(run)


def test_tensors_are_copied_between_iterations(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver=FOREVER)
    viewer = watch(run, process)
    wait_for(viewer, is_a(Progress))
    viewer.pause()
    wait_for(viewer, is_a(StateChanged, state="paused"))
    weights, bias, blob = (viewer.get_tensor(*args) for args in [("hidden",), ("hidden", 1), ("data",)])
    assert [reply.array.shape for reply in (weights, bias, blob)] == [(8, 4), (8,), (16, 4)]
    assert weights.array.dtype == np.float32
    with pytest.raises(WorkerError, match="no layer 'nobody'"):
        viewer.get_tensor("nobody")
    viewer.snapshot()
    taken, _ = wait_for(viewer, is_a(SnapshotTaken))
    saved = {layer.name: layer for layer in read_weights(Path(taken.weights)).layer}  # type: ignore[attr-defined]
    np.testing.assert_array_equal(np.array(saved["hidden"].blobs[0].data, np.float32), weights.array.ravel())


def test_metrics_are_json_throughout(start_run: StartRun) -> None:
    run, process = start_run()
    assert process.wait(PATIENCE) == 0
    kinds = [json.loads(line)["kind"] for line in run.metrics_file.read_text().splitlines()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"start": 1, "train": 50, "test": 3, "snapshot": 2}


def test_warnings_reach_the_viewers(start_run: StartRun, watch: Watch) -> None:
    run, process = start_run(solver={**FOREVER, "display": "1000000"})
    viewer = watch(run, process)
    wait_for(viewer, is_a(Progress))
    for file in run.snapshots.iterdir():
        file.unlink()
    run.snapshots.rmdir()
    run.snapshots.write_text("in the way")
    viewer.snapshot()
    record, _ = wait_for(viewer, is_a(LogRecord))
    assert isinstance(record, LogRecord)
    assert record.level == "warning"
    assert "could not be written" in record.text
    wait_for(viewer, is_a(Progress))
    assert not [
        test for test in read_history(run.metrics_file).tests if isinstance(test, Metrics) and test.iteration > 0
    ]
