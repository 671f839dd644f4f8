"""Trainings of the command line are recorded in a run folder that the editor can attach to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli import main
from engine.worker import RunFolder, TrainingProcess, attach, list_runs, read_history
from tests.engine.solvers.nets import SOLVER, write_project
from tests.support import ROOT

SETTINGS = "test_iter: 2 test_interval: 5 display: 5 max_iter: 10\n"
PATIENCE = 60.0


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path)
    (tmp_path / "solver.prototxt").write_text(SOLVER + SETTINGS)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def train(project: Path, *flags: str) -> int:
    return main(["train", "--solver", str(project / "solver.prototxt"), *flags])


def test_what_is_recorded(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "solver.prototxt.extras.json").write_text('{"warm_up": {"iterations": 4}}')
    assert train(project, "--json", "--quiet") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    (run,) = list_runs([project / "runs"])
    assert json.loads(captured.out)["run"] == str(run.path)
    for mine, theirs in (
        (run.net_file, "net.prototxt"),
        (run.solver_file, "solver.prototxt"),
        (run.extras_file, "solver.prototxt.extras.json"),
    ):
        assert mine.read_bytes() == (project / theirs).read_bytes()
    status = run.status()
    assert (status.state, status.iteration, status.max_iter, status.pid) == ("finished", 10, 10, os.getpid())
    assert run.last_snapshot() == project / "work" / "snap_iter_10.solverstate"
    history = read_history(run.metrics_file)
    assert history.points[:, 0].tolist() == list(range(10))
    assert history.points[0, 3] == pytest.approx(0.01) and [test.iteration for test in history.tests] == [0, 5, 10]
    log = run.log_file.read_text()
    assert "] Iteration 5 (" in log and "] Warm-up: 4 iterations" in log
    environment = run.environment()
    assert environment["seed"] == 7 and environment["backend"] == "numpy" and environment["versions"]["python"]


def test_a_failure_is_recorded_and_told_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "solver.prototxt").write_text(SOLVER.replace("0.1", "1e38") + SETTINGS)
    assert train(project) == 1
    error = capsys.readouterr().err
    assert "Traceback" not in error and error.count("netcanvas: error:") == 1
    (run,) = list_runs([project / "runs"])
    assert run.status().state == "failed" and "finite" in run.status().message
    assert "Traceback" in run.log_file.read_text()


def test_a_training_that_never_begins_leaves_no_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "solver.prototxt.extras.json").write_text('{"warmup": {}}')
    assert train(project) == 1
    assert "Did you mean 'warm_up'?" in capsys.readouterr().err
    assert list_runs([project / "runs"]) == []


def test_where_runs_go(project: Path) -> None:
    assert train(project, "--no-record", "--quiet") == 0
    assert not (project / "runs").exists()
    assert train(project, "--runs", str(project / "other"), "--quiet", "--stage", "a,b") == 0
    (run,) = list_runs([project / "other"])
    assert 'stage: "a"' in run.solver_text() and not (project / "runs").exists()


def test_a_training_that_cannot_be_recorded_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "runs").write_text("no folder")
    assert train(project) == 0
    assert "This training is not recorded" in capsys.readouterr().err
    assert (project / "work" / "snap_iter_10.solverstate").exists()


@pytest.fixture
def endless(project: Path) -> Iterator[subprocess.Popen[str]]:
    (project / "solver.prototxt").write_text(SOLVER + "max_iter: 100000000\n")
    command = [sys.executable, "-m", "engine.cli", "train", "--solver", str(project / "solver.prototxt"), "--quiet"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    yield process
    process.kill()
    process.communicate()


def wait_for_run(project: Path, least: int = 1) -> RunFolder:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for run in list_runs([project / "runs"]):
            if run.status().state == "running" and run.status().iteration >= least:
                return run
        time.sleep(0.05)
    raise AssertionError("no run came up")


def test_a_viewer_attaches_and_the_run_goes_on_elsewhere(project: Path, endless: subprocess.Popen[str]) -> None:
    run = wait_for_run(project, least=0)
    with attach(run) as viewer:
        assert viewer.get_tensor("ip1").array is not None
        viewer.pause()
        viewer.snapshot()
        viewer.stop()
        while not viewer.ended:
            viewer.events(0.1)
    out, err = endless.communicate(timeout=PATIENCE)
    assert endless.returncode == 0 and "Stopped at iteration" in out and err == ""
    status, state = run.status(), run.last_snapshot()
    assert status.state == "stopped" and state is not None and state.parent == project / "work"
    text = run.solver_text().replace("100000000", str(status.iteration + 5))
    run.solver_file.write_text(text)
    process = TrainingProcess.start(run, snapshot=state)
    assert process.wait(PATIENCE) == 0 and run.status().iteration == status.iteration + 5
    assert run.last_snapshot() == run.snapshots / f"snap_iter_{status.iteration + 5}.solverstate"


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no SIGHUP")
def test_signals_reach_a_paused_training(project: Path, endless: subprocess.Popen[str]) -> None:
    run = wait_for_run(project, least=0)
    with attach(run) as viewer:
        viewer.pause()
        deadline = time.monotonic() + PATIENCE
        while run.status().state != "paused" and time.monotonic() < deadline:
            viewer.events(0.05)
        endless.send_signal(signal.SIGHUP)
        while run.last_snapshot() is None and time.monotonic() < deadline:
            viewer.events(0.05)
        assert run.status().state == "paused"
        endless.send_signal(signal.SIGINT)
        out, _ = endless.communicate(timeout=PATIENCE)
    assert endless.returncode == 0 and "Stopped at iteration" in out and run.status().state == "stopped"
