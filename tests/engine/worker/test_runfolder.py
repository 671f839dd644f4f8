from __future__ import annotations

import dataclasses
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import WorkerError
from engine.worker import Metrics, RunFolder, RunStatus, list_runs, read_history
from engine.worker.logs import LogTail
from engine.worker.metrics import MetricsWriter
from engine.worker.pace import Pace
from engine.worker.processes import describe_exit, is_running, start_mark


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", "name: 'né\udcff'\r\n", "base_lr: 0.1\n", "my net/1")


def test_a_new_run_holds_the_text_as_it_was(run: RunFolder) -> None:
    assert run.net_file.read_bytes() == "name: 'né".encode() + b"\xff'\r\n"
    assert run.net_text() == "name: 'né\udcff'\r\n"
    assert run.name.startswith("my-net-1-")
    assert run.status().state == "waiting"
    assert RunFolder.open(run.path) == run
    assert len(run.key()) == 32
    if os.name == "posix":
        assert stat.S_IMODE(run.key_file.stat().st_mode) == 0o600


def test_two_runs_in_one_second_get_two_folders(tmp_path: Path) -> None:
    runs = {RunFolder.create(tmp_path, "", "", "net").path for _ in range(3)}
    assert len(runs) == 3
    assert {run.path for run in list_runs([tmp_path, tmp_path / "missing"])} == runs


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"status\.json"):
        RunFolder.open(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkerError, match="cannot be written"):
        RunFolder.create(tmp_path / "file" / "runs", "", "", "net")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "dancing"}', '{"state": "running", "loss": {}}'])
def test_a_damaged_status_is_an_error_of_ours(run: RunFolder, text: str) -> None:
    run.status_file.write_text(text)
    with pytest.raises(WorkerError, match="status"):
        run.status()


def test_a_status_survives_the_file_and_unknown_fields(run: RunFolder) -> None:
    status = RunStatus("failed", 5, 10, float("inf"), {"accuracy": 0.5}, "Why.", {"layer": "ip1"}, started=1.0)
    run.write_status(status)
    text = run.status_file.read_text().replace("{", '{"later": 1,', 1)
    run.status_file.write_text(text)
    assert dataclasses.replace(run.status(), updated=0.0) == status


def test_a_run_whose_process_is_gone_is_lost_and_says_where_to_go_on(run: RunFolder) -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    status = dataclasses.replace(run.read_status(), state="running", iteration=31, pid=process.pid, mark="1")
    run.write_status(status)
    assert "train again" in run.status().message
    for iteration in (9, 25, 10):
        (run.snapshots / f"x_iter_{iteration}.solverstate").touch()
    (run.snapshots / "x_iter_99.solverstate.extras.json").touch()
    run.write_status(status)
    lost = run.status(returncode=-9)
    assert lost.state == "lost"
    assert run.name in lost.message
    assert "iteration 31" in lost.message
    assert "SIGKILL" in lost.message
    assert "Resume from the last snapshot, iteration 25." in lost.message
    assert run.read_status() == lost
    assert run.last_snapshot() == run.snapshots / "x_iter_25.solverstate"


def test_a_run_of_another_machine_is_left_alone(run: RunFolder) -> None:
    run.write_status(RunStatus("running", host="elsewhere", pid=1, mark="no"))
    assert run.status().state == "running"


def test_a_process_is_known_by_more_than_its_number() -> None:
    mark = start_mark(os.getpid())
    assert is_running(os.getpid(), mark)
    assert not is_running(0)
    if mark:
        assert not is_running(os.getpid(), mark + "1")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_zombie_does_not_run() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    deadline = time.monotonic() + 10.0
    while is_running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(process.pid)
    assert process.wait() == 0


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, "gone"),
        (3, "exit code 3"),
        (-9, "killed"),
        (-11, "crashed (SIGSEGV)"),
        (-15, "SIGTERM"),
        (-99, "signal 99"),
    ],
)
def test_the_end_of_a_process_is_said_in_words(code: int | None, words: str) -> None:
    assert words in describe_exit(code)


def train_line(iteration: int, loss: float) -> dict[str, object]:
    return {"iteration": iteration, "loss": loss, "smoothed_loss": loss / 2, "learning_rate": 0.1}


def test_metrics_come_back_and_a_resumption_voids_what_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    writer = MetricsWriter(path)
    writer.add("start", {"iteration": 0})
    for iteration in range(5):
        writer.add("train", train_line(iteration, float(iteration)))
    writer.add("test", {"iteration": 2, "net": 0, "outputs": {"accuracy": 0.1}})
    writer.add("test", {"iteration": 4, "net": 0, "outputs": {"accuracy": 0.2}})
    writer.add("start", {"iteration": 3})
    writer.add("train", train_line(3, float("nan")))
    writer.close()
    with path.open("a") as stream:
        stream.write('{"kind":"train","iteration":4,"lo')  # killed while writing
    history = read_history(path)
    np.testing.assert_array_equal(history.points[:, 0], [0, 1, 2, 3])
    np.testing.assert_array_equal(history.points[:, 1], [0, 1, 2, np.nan])
    assert history.tests == [Metrics(2, 0, {"accuracy": 0.1})]


def test_a_missing_metrics_file_is_an_empty_history(tmp_path: Path) -> None:
    history = read_history(tmp_path / "none")
    assert history.points.shape == (0, 4)
    assert history.tests == []


def test_the_tail_of_a_log_is_followed_across_half_characters(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    tail = LogTail(path)
    assert tail.read() == ""
    path.write_bytes(b"a\xc3")
    assert tail.read() == "a"
    with path.open("ab") as stream:
        stream.write(b"\xa4\n\xff")
    assert tail.read() == "ä\n\ufffd"
    assert tail.read() == ""


def test_of_a_long_log_the_end_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("".join(f"line {number}\n" for number in range(100_000)))
    text = LogTail(path).read()
    assert text.startswith("...\nline ")
    assert text.endswith("line 99999\n")
    assert len(text) < 300_000


def test_pace_counts_tests_in_the_time_left_but_not_in_the_speed() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.speed == 0.0
    assert np.isnan(pace.seconds_left(0, 10))
    for iteration in range(100):
        pace.add(iteration, 0.1)
        now[0] += 0.1 if iteration % 10 else 1.1
    assert pace.speed == pytest.approx(10.0)
    assert pace.seconds_left(100, 200) == pytest.approx(20.0, rel=0.1)
    pace.restart()
    now[0] += 3600.0
    pace.add(100, 0.1)
    assert pace.seconds_left(100, 200) == pytest.approx(10.0)
