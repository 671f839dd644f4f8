"""The bundled examples learn from LMDB within a few iterations; the full figures come from running the script."""

from __future__ import annotations

import pytest

from tests.benchmarks.training import MEASURES, medians, train


@pytest.mark.parametrize("example", MEASURES)
def test_a_short_training_makes_every_figure_better(example, tmp_path):
    outcome = train(example, 1, tmp_path, iterations=15)
    assert outcome.iterations == 15
    for name, start in outcome.start.items():
        better = outcome.end[name] > start if name == "accuracy" else outcome.end[name] < start
        assert better, f"{name}: {start} -> {outcome.end[name]}"
    assert medians([outcome]) == outcome.end
