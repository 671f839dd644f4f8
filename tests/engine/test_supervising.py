"""A command that plugin code ends without a word: who did it is told, and signals do what they always did."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.last_words import LastWords
from tests.support import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

PATIENCE = 60.0
LAYER = """
import caffe, ctypes, os, signal, sys
{import_}

class Ends(caffe.Layer):
    def setup(self, bottom, top):
        pass; {setup}
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top):
        pass; {forward}
        top[0].data[...] = bottom[0].data
    def backward(self, top, propagate_down, bottom):
        pass; {backward}
        bottom[0].diff[...] = top[0].diff
"""
NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 } }
layer { name: "ends" type: "Python" bottom: "y" top: "z" python_param { module: "ends" layer: "Ends" } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "t" top: "loss" }
"""
SOLVER = 'net: "net.prototxt" base_lr: 0.001 lr_policy: "fixed" display: 1 snapshot_after_train: false max_iter: '


def write(folder: Path, max_iter: int = 3, **code: str) -> None:
    code = {"import_": "", "setup": "", "forward": "", "backward": "", **code}
    (folder / "ends.py").write_text(LAYER.format(**code), "utf-8")
    (folder / "net.prototxt").write_text(NET, "utf-8")
    (folder / "solver.prototxt").write_text(f"{SOLVER}{max_iter}\n", "utf-8")


def start(folder: Path, command: str = "train", program: str = "app", **more: str) -> subprocess.Popen[str]:
    arguments = {"train": ["--solver", "solver.prototxt", "--no-record"], "time": ["--model", "net.prototxt"]}
    return subprocess.Popen(
        [sys.executable, "-m", program, command, *arguments[command]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("method", "code", "status", "words"),
    [
        ("forward", "os._exit(3)", 3, "exit code 3 (os._exit was called at {file}:11)"),
        ("backward", "os._exit(0)", 1, "exit code 0 (os._exit was called at {file}:14)"),
        ("setup", "ctypes.CDLL(None)._exit(5)", 5, "exit code 5."),
        ("import", "os._exit(2)", 2, "exit code 2 (os._exit was called at {file}:3)"),
        ("forward", "ctypes.string_at(0)", -signal.SIGSEGV, "crashed (SIGSEGV)"),
        ("backward", "os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, "want of memory"),
    ],
)
def test_the_layer_that_ended_the_process_is_told(
    tmp_path: Path, method: str, code: str, status: int, words: str
) -> None:
    write(tmp_path, **{"import_" if method == "import" else method: code})
    process = start(tmp_path)
    _, errors = process.communicate(timeout=PATIENCE)
    (told,) = [line for line in errors.splitlines() if line.startswith("netcanvas: error:")]
    assert told.startswith(f"netcanvas: error: Layer 'ends' (Python) in {method}: the process ")
    assert words.format(file=tmp_path / "ends.py") in told
    assert process.returncode == status


@pytest.mark.parametrize("alone", [{}, {"NETCANVAS_ONE_PROCESS": "1"}], ids=["supervised", "alone"])
@pytest.mark.parametrize(
    ("code", "status"), [("", 0), ("sys.exit(4)", 1), ("fork = os.fork() or os._exit(9); os.waitpid(fork, 0)", 0)]
)
def test_other_ends_are_as_without(tmp_path: Path, alone: dict[str, str], code: str, status: int) -> None:
    write(tmp_path, forward=code)
    process = start(tmp_path, **alone)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == status and errors.count("the process") == 0
    assert ("Done at iteration 3" in out) == (status == 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "kept"),
    [
        (
            "import threading, time; threading.Thread(target=time.sleep, args=(999,), name='prefetch').start()",
            "prefetch",
        ),
        ("import atexit, time; atexit.register(time.sleep, 999)", "at exit"),
    ],
)
def test_what_a_plugin_left_running_does_not_keep_the_command(tmp_path: Path, code: str, kept: str) -> None:
    write(tmp_path, setup=code)
    process = start(tmp_path)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "Done at iteration 3" in out
    assert "not waiting for" in errors and kept in errors


@pytest.mark.parametrize("method", ["setup", "forward", "backward"])
@pytest.mark.parametrize(("code", "told"), [("os.fork()", True), ("os.fork() or sys.exit(3)", False)])
def test_a_process_that_a_plugin_forked_does_not_train_too(tmp_path: Path, method: str, code: str, told: bool) -> None:
    write(tmp_path, **{method: code})
    process = start(tmp_path)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and out.count("Done at iteration 3") == 1
    assert errors.count("Optimization Done") == 1 and "error" not in errors
    assert ("forked returned from its layer's method" in errors) == told


@pytest.mark.parametrize("code", ["sys.stdout.close()", "os.close(1)"])
def test_results_come_out_where_standard_output_was_closed(tmp_path: Path, code: str) -> None:
    write(tmp_path, setup=code)
    process = start(tmp_path)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "closed the standard output" in errors and "Done at iteration 3" in errors


def test_a_plugin_that_takes_the_streams_away_is_given_none(tmp_path: Path) -> None:
    write(tmp_path, setup="sys.stdout = sys.stderr = None")
    process = start(tmp_path)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "Done at iteration 3" in out and "Iteration 2" in errors


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(command: str) -> subprocess.Popen[str]:
        write(tmp_path, max_iter=100_000_000)
        process = start(tmp_path, command)
        started.append(process)
        assert process.stderr is not None
        for line in process.stderr:
            if re.search(r"Iteration 1\b|Iteration: 1\b", line):
                break
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("to", ["parent", "group"])
def test_an_interrupt_stops_after_the_iteration(endless: Callable[[str], subprocess.Popen[str]], to: str) -> None:
    """A terminal sends it to the group, ``kill`` to the process; both mean one interrupt."""
    process = endless("train")
    (os.kill if to == "parent" else os.killpg)(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "Stopped at iteration" in out and "error" not in errors


def test_a_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    write(tmp_path, forward="import time; print('asleep', flush=True); time.sleep(600)")
    process = start(tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "asleep\n"
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.5)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and errors.endswith("netcanvas: error: Interrupted.\n")


def test_ending_it_needs_no_comment(endless: Callable[[str], subprocess.Popen[str]]) -> None:
    process = endless("train")
    process.terminate()
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGTERM and "netcanvas: error" not in errors


def _is_alive(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked up in /proc")
def test_the_child_does_not_outlive_its_parent(endless: Callable[[str], subprocess.Popen[str]]) -> None:
    process = endless("train")
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.communicate(timeout=PATIENCE)  # ends when nobody holds its output
    deadline = time.monotonic() + PATIENCE
    while (alive := _is_alive(child)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive


def test_long_notes_are_cut_and_others_are_gone() -> None:
    words = LastWords()
    words.note(LastWords.entry("ä" * 1000))
    assert words.doing.startswith("ää") and not words.finished
    words.note(LastWords.entry("short"))
    assert words.doing == "short"
    words.note()
    words.finish()
    assert words.doing == "" and words.left_at == "" and words.finished
