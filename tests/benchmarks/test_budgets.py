"""Layout, adding and live validation at the sizes that the design names, with room for a slower machine."""

from __future__ import annotations

import pytest

from tests.benchmarks import canvas
from tests.benchmarks.budgets import BUDGETS, ROOM, Validation, layout_time


@pytest.mark.parametrize(("count", "budget"), [(500, "layout, 500 layers"), (2000, "layout, 2,000 layers")])
def test_a_layout_comes_in_time(qapp, count, budget):
    assert layout_time(count) < ROOM * BUDGETS[budget]


def test_an_edit_of_two_thousand_layers_is_checked_in_time(qapp):
    net = Validation(2000)
    try:
        check, _shapes = net.times()
        sound = net.check()
        net.break_it()
        assert net.check() > sound  # or nothing would be looked at
    finally:
        net.close()
    assert check < ROOM * BUDGETS["live validation after an edit, 2,000 layers"]


def test_a_hundred_layers_are_added_and_taken_back_in_time(qapp):
    bench = canvas.Bench(qapp, 1000)
    bench.open()
    try:
        tries = []
        for _ in range(3):  # the first one meets cold caches
            bench.add()
            tries.append(dict(bench.figures))
        assert len(bench.view.canvas.nodes) == len(bench.document.graph)
    finally:
        bench.close()
    for figure in ("add 100 nodes", "undo of adding 100 nodes"):
        assert min(each[figure] for each in tries) < ROOM * canvas.BUDGETS[figure][0], figure
