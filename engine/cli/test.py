"""``netcanvas test``."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from engine.backends.threads import matrix_threads
from engine.cli.devices import check_gpu
from engine.cli.opening import open_net
from engine.cli.output import Output, score_lines, score_values
from engine.errors import NetError
from engine.layer import Phase
from engine.net import Net
from engine.solvers.testing import run_test

__all__ = ["run"]

_NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})
_log = logging.getLogger(__name__)
_MOST_VALUES = 4096  # of an output, one a line as Caffe has them


def run(options: argparse.Namespace) -> int:
    """Score weights; return the exit code."""
    check_gpu(options.gpu)
    output = Output(quiet=options.quiet, as_json=options.json)
    with output.logging(), matrix_threads(options.threads):
        if options.phase != "test":
            _log.warning("Scores are of phase TEST, as in Caffe; --phase %s is not used.", options.phase.upper())
        with open_net(options, Phase.TEST) as net:
            if not net.outputs:
                raise NetError(
                    f"'{options.model}': expected a net with outputs in phase TEST, got none; there is nothing to "
                    "score.",
                    next_step="Check its layers' include rules: netcanvas check FILE.",
                )
            _score(net, options.iterations, output)
    return 0


def _score(net: Net, batches: int, output: Output) -> None:
    """Run the batches, with a line for every value of every batch in the log, and print the means."""
    _log.info("Running for %d iterations.", batches)
    done = 0
    with output.bar(batches, text="Testing") as bar:

        def advance() -> bool:
            nonlocal done
            if _log.isEnabledFor(logging.INFO):
                for line in _values({name: net.blobs[name].read_data() for name in net.outputs}):
                    _log.info("Batch %d, %s", done, line)
            done += 1
            bar.update()
            return True

        report = run_test(net, batches, iteration=0, net_index=0, with_loss=True, go_on=advance)
    assert report is not None  # nothing ends the pass early
    lines = [f"Loss: {report.loss:g}", *_values(report.outputs, net.loss_weights)]
    data = {"batches": batches, "loss": report.loss, "outputs": score_values(report.outputs)}
    output.result(lines, data)


def _values(outputs: Mapping[str, npt.NDArray[Any]], weights: Mapping[str, float] = _NO_WEIGHTS) -> Iterator[str]:
    """Yield each value with its output's name and its loss, or the gist of an output that has too many values."""
    for name, values in outputs.items():
        if values.size > _MOST_VALUES:
            yield from score_lines({name: values})
            continue
        weight = weights.get(name, 0.0)
        for value in values.reshape(-1):
            loss = f" (* {weight:g} = {weight * value:g} loss)" if weight else ""
            yield f"{name} = {value:g}{loss}"
