"""A training is ended from its first moment on, and does not outlive its folder."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from engine.errors import WorkerError
from engine.worker import RunFolder, TrainingProcess, folderwatch, kill
from engine.worker.folderwatch import watching_folder
from tests.engine.worker.conftest import PATIENCE, StartRun
from tests.engine.worker.nets import TinyNet, solver_text

FOREVER = {"max_iter": "1000000000"}


def new_run(parent: Path) -> RunFolder:
    return RunFolder.create(parent, "", solver_text(), "tiny")


def test_a_run_is_killed_before_its_process_has_said_a_word(start_run: StartRun) -> None:
    run, process = start_run(solver=FOREVER)
    assert run.read_status().pid == 0, "the interpreter is still starting"
    kill(run)
    assert process.wait(PATIENCE) not in (0, None)
    assert run.status().state == "lost", "and nobody waits for it any longer"


def test_a_run_is_not_started_twice_while_its_process_begins(start_run: StartRun) -> None:
    run, _process = start_run(solver=FOREVER)
    with pytest.raises(WorkerError, match="already training"):
        TrainingProcess.start(run)


def test_another_process_of_the_noted_number_is_left_alone(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    run.process_file.write_text(f"{os.getpid()} 1\n", encoding="ascii")
    kill(run)  # which would end this test
    assert run.process_file.exists()


def test_a_worker_whose_folder_is_deleted_ends(tmp_path: Path, tiny_net: TinyNet) -> None:
    run = RunFolder.create(tmp_path, tiny_net.text, solver_text(**FOREVER), "tiny")
    process = TrainingProcess.start(run, base_dirs=[tiny_net.folder])
    try:
        while not run.status().iteration:  # before the first, it would say that there is no folder for snapshots
            time.sleep(0.02)
        run.path.rename(tmp_path / "away")  # at one stroke: nothing is written between a deletion's files
        assert process.wait(PATIENCE) == 1
        assert "is gone, so its training ends" in (tmp_path / "away" / "log.txt").read_text(encoding="utf-8")
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_a_folder_that_is_gone_is_told_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(folderwatch, "_LOOK_SECONDS", 0.01)
    run, told, came = new_run(tmp_path), [], threading.Event()

    def end(message: str) -> None:
        told.append(message)
        came.set()

    with caplog.at_level(logging.ERROR), watching_folder(run, end):
        assert not came.wait(0.1), "it is there"
        shutil.rmtree(run.path)
        assert came.wait(5.0)
    assert len(told) == 1 and f"'{run.name}' is gone" in told[0]
    assert told[0] in caplog.text
