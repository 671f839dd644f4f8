"""``python -m engine.timing``: reads what to measure as a line of JSON; writes progress and result as such lines."""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from engine.backends.threads import matrix_threads
from engine.errors import NetcanvasError, NetError
from engine.faults import text_of
from engine.inspection.messages import error_to_json
from engine.inspection.server import take_streams
from engine.layer import Phase
from engine.net import Net
from engine.plugins import use_plugin_folders
from engine.registry import default_registry
from engine.schema import read_net
from engine.timing.passes import time_net
from engine.timing.times import NetTimes
from engine.worker.processes import lower_priority

_FEWEST, _MOST = 2, 50


def main() -> int:
    """Measure one net; return 0 when it was measured."""
    questions, answers = take_streams()
    lower_priority()
    line = questions.readline()
    _end_with(questions)

    def send(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value).encode() + b"\n")
        answers.flush()

    try:
        with matrix_threads():
            times = measure(json.loads(line), lambda done, of: send({"done": done, "of": of}))
    except NetcanvasError as error:
        send({"error": error_to_json(error)})
        return 1
    except MemoryError as error:
        step = "Lower the batch size or the layers' sizes."
        send({"error": error_to_json(NetError(f"There is not enough memory: {text_of(error)}.", next_step=step))})
        return 1
    send({"result": asdict(times)})
    return 0


def measure(question: dict[str, Any], progress: Callable[[int, int], None]) -> NetTimes:
    """Build a net and measure it.

    Parameters
    ----------
    question : dict
        As :meth:`engine.timing.TimingRequest.to_json` writes it.
    progress : callable
        Told how many passes are done, and of how many.

    Raises
    ------
    NetcanvasError
        If the net cannot be built or run, or has no layers.
    """
    folders = [Path(folder) for folder in question["base_dirs"]]
    use_plugin_folders([Path(folder) for folder in question["plugin_folders"]])
    registry = default_registry(folders)
    param = read_net(base64.b64decode(question["net"]), schema=registry.schema())
    net = Net(
        param,
        Phase[question["phase"]],
        registry=registry,
        level=question["level"],
        stages=question["stages"],
        base_dirs=folders,
        seed=0,
    )
    try:
        if not net.layers:
            raise NetError(f"The net has no layers in phase {question['phase']}; there is nothing to measure.")
        passes = _passes(net, question["seconds"])
        progress(0, passes)
        return time_net(net, passes, lambda done, _milliseconds: progress(done, passes))
    finally:
        net.close()


def _passes(net: Net, seconds: float) -> int:
    """Run a net twice, first to have its memory made; return how many more runs fill a time."""
    for _look in range(2):
        began = perf_counter()
        net.forward()
        net.backward()
    return max(_FEWEST, min(_MOST, round(seconds / max(perf_counter() - began, 1e-6))))


def _end_with(questions: BinaryIO) -> None:
    """End when whoever asked is gone, which ends the input."""

    def watch() -> None:
        questions.read()
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="questions").start()


if __name__ == "__main__":
    sys.exit(main())
