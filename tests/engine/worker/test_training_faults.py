"""A run that does not go well, and plugins in it: what is said, where, and what is left of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.errors import WorkerError
from engine.worker import (
    Failure,
    Finished,
    Lost,
    Output,
    RunFolder,
    TrainingProcess,
    attach,
)
from tests.engine.worker.conftest import PATIENCE, StartRun, Watch, is_a, until_end
from tests.engine.worker.nets import FOREVER, TinyNet

PLUGIN = """
import ctypes, os, sys, warnings
import caffe

class Loud(caffe.Layer):
    def setup(self, bottom, top):
        print("print in setup")
        self.count = 0

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.count += 1
        if self.count == 3:
            sys.stderr.write("error stream in forward\\n")
            os.write(1, b"descriptor 1 in forward\\n\\xff\\x00")
            os.system("echo child process")
        if self.count == 5 and self.param_str == "raise":
            raise ValueError("the plugin is unwell")
        if self.count == 5 and self.param_str == "crash":
            ctypes.string_at(0)
        top[0].data[...] = 0

    def backward(self, top, propagate_down, bottom):
        pass
"""


def plugin_net(folder: Path, param_str: str) -> str:
    (folder / "loudlayer.py").write_text(PLUGIN)
    return TinyNet.with_layer(
        'layer { name: "loud" type: "Python" bottom: "score" top: "loud"'
        f' python_param {{ module: "loudlayer" layer: "Loud" param_str: "{param_str}" }} }}'
    )


def test_what_plugins_print_is_in_the_log_and_breaks_nothing(start_run: StartRun, watch: Watch, tmp_path: Path) -> None:
    run, process = start_run(net=plugin_net(tmp_path, ""), plugin_paths=[tmp_path])
    events = until_end(watch(run, process))
    assert any(map(is_a(Finished, state="finished"), events))
    text = "".join(event.text for event in events if isinstance(event, Output))
    for line in ("print in setup", "error stream in forward", "descriptor 1 in forward", "child process"):
        assert line in text
    assert process.wait(PATIENCE) == 0
    assert not run.last_words_file.exists(), "there is nothing to say of what ended well"
    (record,) = run.environment()["plugin_sources"]
    assert record["path"] == str((tmp_path / "loudlayer.py").resolve())
    assert (run.path / record["copy"]).read_text() == PLUGIN


def test_a_plugin_that_raises_is_named_with_its_own_traceback(
    start_run: StartRun, watch: Watch, tmp_path: Path
) -> None:
    run, process = start_run(net=plugin_net(tmp_path, "raise"), plugin_paths=[tmp_path])
    events = until_end(watch(run, process))
    (failure,) = [event for event in events if isinstance(event, Failure)]
    assert (failure.layer, failure.method) == ("loud", "forward")
    assert "the plugin is unwell" in failure.message
    assert "\n" not in failure.message
    assert "loudlayer.py" in failure.traceback
    assert process.wait(PATIENCE) == 1
    status = run.status()
    assert (status.state, status.message) == ("failed", failure.message)
    assert status.failure["layer"] == "loud"
    assert "the plugin is unwell" in run.log_file.read_text(errors="replace")


def test_a_crash_in_native_code_leaves_its_trace_in_the_log(start_run: StartRun, watch: Watch, tmp_path: Path) -> None:
    run, process = start_run(net=plugin_net(tmp_path, "crash"), plugin_paths=[tmp_path])
    events = until_end(watch(run, process))
    assert isinstance(events[-1], Lost)
    assert "its process crashed (SIGSEGV) in layer 'loud' (Python) in forward." in events[-1].message
    assert (events[-1].layer, events[-1].method) == ("loud", "forward")
    assert run.status().message == events[-1].message
    log = run.log_file.read_text(errors="replace")
    assert "Fatal Python error" in log
    assert "loudlayer.py" in log


def test_a_changed_plugin_is_told_on_resuming(start_run: StartRun, watch: Watch, tmp_path: Path) -> None:
    run, process = start_run(net=plugin_net(tmp_path, ""), plugin_paths=[tmp_path])
    assert process.wait(PATIENCE) == 0
    (tmp_path / "loudlayer.py").write_text(PLUGIN + "\n# edited\n")
    _, process = start_run(run=run, snapshot=run.snapshots / "tiny_iter_25.solverstate")
    assert process.wait(PATIENCE) == 0
    assert "is not what it was when this run began" in run.log_file.read_text(errors="replace")


@pytest.mark.parametrize(
    ("layer", "culprit", "words"),
    [
        ('layer { name: "odd" type: "Convolutoin" bottom: "data" top: "x" }', "odd", "Convolution"),
        ('layer { name: "ip" type: "InnerProduct" bottom: "data" top: "x" }', "ip", "num_output"),
        ('layer { name: "open" type: "ReLU" bottom: "?" top: "x" }', "open", "not connected"),
        ('layer { name: "log" type: "Log" bottom: "data" top: "x" loss_weight: 1 }', "log", "Iteration 0: .*blob 'x'"),
    ],
    ids=["unknown type", "missing setting", "open bottom", "not a number"],
)
def test_a_broken_net_fails_with_a_sentence_and_the_layer(
    start_run: StartRun, watch: Watch, layer: str, culprit: str, words: str
) -> None:
    run, process = start_run(net=TinyNet.with_layer(layer))
    events = until_end_or_refused(run, process, watch)
    failure = next((event for event in events if isinstance(event, Failure)), None)
    status = run.status()
    assert status.state == "failed"
    assert culprit in status.message
    assert re.search(words, status.message)
    assert "\n" not in status.message
    assert status.failure["layer"] == culprit
    assert "Traceback" in status.failure["traceback"]
    if failure is not None:
        assert failure.message == status.message


@pytest.mark.parametrize(
    ("solver", "words"),
    [({"base_lr": "fast"}, "base_lr"), ({"lr_policy": "'sometimes'"}, "sometimes"), ({"type": "'Magic'"}, "Magic")],
)
def test_a_broken_solver_fails_with_a_sentence(start_run: StartRun, solver: dict[str, str], words: str) -> None:
    run, process = start_run(solver=solver)
    assert process.wait(PATIENCE) == 1
    status = run.status()
    assert status.state == "failed"
    assert words in status.message


def test_missing_data_is_named(start_run: StartRun, tmp_path: Path) -> None:
    run, process = start_run(base_dirs=[tmp_path])
    assert process.wait(PATIENCE) == 1
    assert "files.txt" in run.status().message


def test_a_process_that_never_gets_to_speak_is_lost(start_run: StartRun) -> None:
    run, process = start_run(solver=FOREVER)
    process.kill()
    process.wait(PATIENCE)
    with pytest.raises(WorkerError, match="killed"):
        attach(run, process=process)
    assert run.status().state == "lost"


def until_end_or_refused(run: RunFolder, process: TrainingProcess, watch: Watch) -> list[object]:
    """A run that fails at once may be over before anybody can attach."""
    try:
        return list(until_end(watch(run, process)))
    except WorkerError:
        assert process.wait(PATIENCE) == 1
        return []
