"""How well the bundled examples train: the median of three seeds for LeNet and the deep autoencoder.

Run as ``python -m tests.benchmarks.training [--seeds 3] [--iterations N] [--json] [EXAMPLE ...]``. Both are
trained from LMDB by their own solver files, whole: the figures are those of a test over all 1,000 test digits.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.examples import prepare_example
from engine.schema import read_solver
from engine.solvers import Solver

#: What the last test reports, by example.
MEASURES = {
    "lenet": ("accuracy", "loss"),
    "autoencoder": ("cross_entropy_loss", "l2_error"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One training of one example."""

    example: str
    seed: int
    iterations: int
    seconds: float
    start: dict[str, float]
    end: dict[str, float]


def train(example: str, seed: int, folder: Path, iterations: int | None = None) -> Outcome:
    """Train an example from one seed and test it before and after."""
    paths = prepare_example(example, folder)
    param = read_solver(paths.solver)
    param.test_initialization = False
    param.test_interval = param.max_iter + 1  # the tests before and after are called for below
    param.snapshot, param.display = 0, 0
    solver = Solver.create(param, base_dirs=(paths.folder,), seed=seed)
    try:
        start = _figures(solver, example)
        began = time.perf_counter()
        solver.step(iterations or solver.max_iter)
        seconds = time.perf_counter() - began
        return Outcome(example, seed, solver.iteration, seconds, start, _figures(solver, example))
    finally:
        solver.close()


def _figures(solver: Solver, example: str) -> dict[str, float]:
    (outputs,) = solver.test_all()
    return {name: float(outputs[name]) for name in MEASURES[example]}


def medians(outcomes: list[Outcome]) -> dict[str, float]:
    """Return the median of each figure at the end of training."""
    return {name: statistics.median(each.end[name] for each in outcomes) for name in outcomes[0].end}


def main() -> None:
    """Train, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help=f"any of {', '.join(MEASURES)}; all if none")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, help="instead of the solver's max_iter")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for example in options.examples or MEASURES:
        with tempfile.TemporaryDirectory() as folder:
            outcomes = [train(example, seed, Path(folder), options.iterations) for seed in range(1, options.seeds + 1)]
        if options.json:
            print(json.dumps({"runs": [asdict(each) for each in outcomes], "median": medians(outcomes)}), flush=True)
            continue
        for each in outcomes:
            shown = "  ".join(f"{name} {each.start[name]:.4g} -> {each.end[name]:.4g}" for name in each.end)
            print(f"{example} seed {each.seed}: {each.iterations} iterations in {each.seconds:.0f} s  {shown}")
        shown = "  ".join(f"{name} {value:.4g}" for name, value in medians(outcomes).items())
        print(f"{example} median of {len(outcomes)} seeds: {shown}", flush=True)


if __name__ == "__main__":
    main()
