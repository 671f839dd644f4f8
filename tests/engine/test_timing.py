"""A net measured in a process of its own: on layers that take a known time, stopped, and failing."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from engine.errors import NetcanvasError, WorkerError
from engine.rules import NetState
from engine.timing import NetTimes, TimingProcess, TimingRequest

SLEEPER = """
import os, time
import caffe

class Sleeper(caffe.Layer):
    def setup(self, bottom, top):
        print("a print goes to the log, not between the answers")

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        time.sleep(float(self.param_str))
        if self.param_str == "0.001":
            os._exit(7)
        top[0].data[...] = bottom[0].data

    def backward(self, top, propagate_down, bottom):
        time.sleep(0.02)
        bottom[0].diff[...] = top[0].diff
"""


def net(seconds: float) -> bytes:
    return f"""
    layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ dim: 2 dim: 3 }} }} }}
    layer {{ name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param {{ num_output: 4 }} }}
    layer {{ name: "slow" type: "Python" bottom: "ip" top: "slow"
      python_param {{ module: "sleeper" layer: "Sleeper" param_str: "{seconds}" }} }}
    layer {{ name: "loss" type: "EuclideanLoss" bottom: "slow" bottom: "data" top: "loss"
      include {{ stage: "never" }} }}
    layer {{ name: "sum" type: "Reduction" bottom: "slow" top: "sum" loss_weight: 1 include {{ phase: TRAIN }} }}
    """.encode()


def request(folder: Path, seconds: float, phase: str = "TRAIN") -> TimingRequest:
    (folder / "sleeper.py").write_text(SLEEPER)
    return TimingRequest(net(seconds), NetState(phase), (folder,), (), 0.3)


def test_each_layer_is_timed_forward_and_backward_and_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    times = TimingProcess(request(tmp_path, 0.03)).wait(lambda done, of: told.append((done, of)))
    assert isinstance(times, NetTimes)
    layers = {each.name: each for each in times.layers}
    assert list(layers) == ["data", "ip", "slow", "sum"]
    assert layers["slow"].forward.min >= 30 and layers["slow"].backward.min >= 20
    assert layers["ip"].forward.min < 20
    passes = told[-1][1]
    assert told == [(done, passes) for done in range(passes + 1)] and 2 <= passes <= 6  # 0.3 s of some 50 ms each


def test_the_state_chooses_the_net(tmp_path: Path) -> None:
    times = TimingProcess(request(tmp_path, 0.0, "TEST")).wait()
    assert times is not None and [each.name for each in times.layers] == ["data", "ip", "slow"]


def test_it_stops_at_once_when_asked(tmp_path: Path) -> None:
    process = TimingProcess(request(tmp_path, 60.0))
    threading.Timer(0.3, process.stop).start()
    began = time.monotonic()
    assert process.wait() is None
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (b'layer { name: "a" type: "ReLU" bottom: "x" top: "y" }', NetcanvasError, "'x'"),
        (b'name: "nothing"', NetcanvasError, "no layers in phase TRAIN"),
        (net(0.001), WorkerError, "exit code 7"),
    ],
)
def test_what_cannot_be_measured_says_why(tmp_path: Path, text: bytes, kind: type[Exception], words: str) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    with pytest.raises(kind, match=words):
        TimingProcess(TimingRequest(text, NetState("TRAIN"), (tmp_path,))).wait()
