"""``netcanvas time``."""

from __future__ import annotations

import argparse
import logging
from dataclasses import asdict
from typing import Any

from engine.backends.threads import matrix_threads
from engine.cli.devices import check_gpu
from engine.cli.opening import open_net
from engine.cli.output import Output
from engine.cli.tables import table
from engine.layer import Phase
from engine.net import Net
from engine.timing import LayerTimes, NetTimes
from engine.timing.passes import time_net

__all__ = ["run"]

_log = logging.getLogger(__name__)
_HEAD = ("layer", "type", "forward ms", "least", "backward ms", "least", "share")


def run(options: argparse.Namespace) -> int:
    """Measure how long each layer takes; return the exit code."""
    check_gpu(options.gpu)
    output = Output(quiet=options.quiet, as_json=options.json)
    phase = Phase[options.phase.upper()]
    with output.logging(), matrix_threads(options.threads) as threads, open_net(options, phase) as net:
        times = _measure(net, options.iterations, output)
        backend = net.backend.name
    result = {
        "model": str(options.model),
        "phase": str(phase),
        "backend": backend,
        "threads": threads,
        "iterations": options.iterations,
        "unit": "ms",
        "layers": [asdict(layer) for layer in times.layers],
        "forward": asdict(times.forward),
        "backward": asdict(times.backward),
        "forward_backward": asdict(times.both),
        "total": times.total,
    }
    output.result([*table(_rows(times), words=2), "", *_totals(times)], result)
    return 0


def _measure(net: Net, iterations: int, output: Output) -> NetTimes:
    """Run the net once to have its memory made, then measure; the log has Caffe's wording."""
    _log.info("Performing Forward")
    _log.info("Initial loss: %g", net.forward())
    _log.info("Performing Backward")
    net.backward()
    _log.info("*** Benchmark begins ***")
    _log.info("Testing for %d iterations.", iterations)
    with output.bar(iterations, text="Timing") as bar:

        def after_each(done: int, milliseconds: float) -> None:
            if not output.has_bar:
                _log.info("Iteration: %d forward-backward time: %g ms.", done, milliseconds)
            bar.update()

        times = time_net(net, iterations, after_each)
    if not output.has_bar:  # on a terminal, the table says the same
        _log_layers(times)
    return times


def _log_layers(times: NetTimes) -> None:
    _log.info("Average time per layer: ")
    for layer in times.layers:
        _log.info("%10s\tforward: %g ms.", layer.name, layer.forward.mean)
        _log.info("%10s\tbackward: %g ms.", layer.name, layer.backward.mean)
    for line in _totals(times):
        _log.info("%s", line)
    _log.info("*** Benchmark ends ***")


def _totals(times: NetTimes) -> list[str]:
    """Return the last lines as Caffe prints them."""
    return [
        f"Average Forward pass: {times.forward.mean:g} ms.",
        f"Average Backward pass: {times.backward.mean:g} ms.",
        f"Average Forward-Backward: {times.both.mean:g} ms.",
        f"Total Time: {times.total:g} ms.",
    ]


def _rows(times: NetTimes) -> list[tuple[str, ...]]:
    return [_HEAD, *(_row(layer, times) for layer in times.layers)]


def _row(layer: LayerTimes, times: NetTimes) -> tuple[str, ...]:
    spreads: tuple[Any, ...] = (layer.forward, layer.backward)
    numbers = [f"{number:.3f}" for spread in spreads for number in (spread.mean, spread.min)]
    share = (layer.forward.mean + layer.backward.mean) / (times.both.mean or 1.0)
    return (layer.name, layer.type, *numbers, f"{share:.0%}")
