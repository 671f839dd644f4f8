"""``netcanvas test``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.backends.threads import matrix_threads
from engine.cli.devices import check_gpu
from engine.cli.output import Output, score_lines, score_values
from engine.errors import NetError
from engine.files import load_weights
from engine.layer import Phase
from engine.net import Net
from engine.paths import search_folders
from engine.schema import read_net
from engine.solvers.testing import run_test

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Score weights; return the exit code."""
    check_gpu(options.gpu)
    output = Output(quiet=options.quiet, as_json=options.json)
    model: Path = options.model
    with output.logging(), matrix_threads(options.threads):
        net = Net(
            read_net(model),
            Phase.TEST,
            level=options.level,
            stages=tuple(filter(None, options.stage.split(","))),
            base_dirs=search_folders(model.parent),
            seed=options.seed,
        )
        with net:
            if not net.outputs:
                raise NetError(
                    f"'{model}': expected a net with outputs in phase TEST, got none; there is nothing to score.",
                    next_step="Check its layers' include rules: netcanvas check FILE.",
                )
            for weights in options.weights:
                load_weights(net, weights)
            _score(net, options.iterations, output)
    return 0


def _score(net: Net, batches: int, output: Output) -> None:
    with output.bar(batches, text="Testing") as bar:

        def advance() -> bool:
            bar.update()
            return True

        report = run_test(net, batches, iteration=0, net_index=0, with_loss=True, go_on=advance)
    assert report is not None  # nothing ends the pass early
    lines = [f"Loss: {report.loss:g}", *score_lines(report.outputs)]
    data = {"batches": batches, "loss": report.loss, "outputs": score_values(report.outputs)}
    output.result(lines, data)
