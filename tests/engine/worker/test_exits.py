"""A plugin that ends the process of a training at once: the layer and the line are told all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.worker import Failure, RunFolder, TrainingProcess, Viewer
from tests.engine.plugins.helpers import write
from tests.engine.worker.conftest import PATIENCE, until_end

LAYER = """
    import os
    import caffe

    class Leaves(caffe.Layer):
        name = "its own"
        count = 0
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
        def forward(self, bottom, top):
            top[0].data[...] = bottom[0].data
            self.count += 1
            if self.count == 4:
                self.helper()
        def helper(self):
            CODE
        def backward(self, top, propagate_down, bottom): pass
"""
NET = """layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "leaves" layer: "Leaves" } }
layer { name: "ip" type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 1 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "t" top: "loss" }
"""
SOLVER = 'base_lr: 0.001 lr_policy: "fixed" max_iter: 6 snapshot_prefix: "s" snapshot_after_train: false\n'


def run_with(tmp_path: Path, code: str) -> tuple[RunFolder, TrainingProcess]:
    write(tmp_path, leaves=LAYER.replace("CODE", code))
    run = RunFolder.create(tmp_path / "runs", NET, SOLVER, "leaves")
    return run, TrainingProcess.start(run, base_dirs=[tmp_path])


def test_the_layer_that_ends_the_process_is_told(tmp_path: Path, watch: Callable[..., Viewer]) -> None:
    run, process = run_with(tmp_path, "os._exit(7)")
    events = until_end(watch(run, process))
    assert process.wait(PATIENCE) == 7
    line = next(i for i, text in enumerate((tmp_path / "leaves.py").read_text().splitlines(), 1) if "_exit" in text)
    failure = next(event for event in events if isinstance(event, Failure))
    assert (failure.layer, failure.method) == ("p", "forward")
    assert f"os._exit(7) at {tmp_path / 'leaves.py'}:{line}" in failure.message
    assert "in helper" in failure.traceback
    status = run.status(returncode=7)
    assert (status.state, status.failure["layer"]) == ("failed", "p")
    assert "its code ended the training" in run.log_file.read_text()


@pytest.mark.skipif("not hasattr(__import__('os'), 'fork')")
def test_a_forked_process_ends_as_ever(tmp_path: Path, watch: Callable[..., Viewer]) -> None:
    run, process = run_with(tmp_path, "child = os.fork() or os._exit(7); assert os.waitpid(child, 0)[1] == 7 << 8")
    until_end(watch(run, process))
    assert process.wait(PATIENCE) == 0
    assert run.status().state == "finished" and "_exit" not in run.log_file.read_text()


def test_an_exit_after_the_end_is_no_failure(tmp_path: Path, watch: Callable[..., Viewer]) -> None:
    run, process = run_with(tmp_path, "import atexit; atexit.register(os._exit, 0)")
    until_end(watch(run, process))
    assert process.wait(PATIENCE) == 0
    assert run.status().state == "finished" and "ended the training" not in run.log_file.read_text()


@pytest.mark.slow
def test_threads_that_a_plugin_left_do_not_keep_the_process(tmp_path: Path, watch: Callable[..., Viewer]) -> None:
    code = "import threading, time; threading.Thread(target=time.sleep, args=(999,), name='prefetch').start()"
    run, process = run_with(tmp_path, code)
    until_end(watch(run, process))
    assert process.wait(PATIENCE) == 0
    assert run.status().state == "finished" and "not waiting for the threads" in run.log_file.read_text()
