"""The window answers while a net of a thousand layers is opened, shown and edited; and what says so can tell."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from tests.benchmarks.opening import BUDGET, ROOM, OpeningBench
from tests.benchmarks.stalls import StallWatch

LAYERS = 1000


def spin(seconds: float) -> None:
    """Keep the thread busy for some processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def in_slices(count: int, seconds: float) -> Callable[[], None]:
    """Return a work that lets events come in between."""

    def go_on(left: int = count) -> None:
        spin(seconds)
        if left > 1:
            QTimer.singleShot(0, lambda: go_on(left - 1))

    return go_on


@pytest.mark.parametrize(
    ("work", "least", "most"), [(lambda: spin(0.12), 115, 200), (in_slices(12, 0.01), 8, 60), (lambda: None, 0, 40)]
)
def test_a_stall_is_seen_for_what_it_is(qtbot: QtBot, work: Callable[[], None], least: float, most: float) -> None:
    watch = StallWatch()
    watch.run(work, lambda: True, quiet=0.05)
    assert least <= watch.longest.busy <= most
    assert watch.busy >= watch.longest.busy
    watch.deleteLater()


def test_what_never_settles_is_not_waited_for(qtbot: QtBot) -> None:
    watch = StallWatch()
    with pytest.raises(TimeoutError, match="still work"):
        watch.run(lambda: None, lambda: False, quiet=0.05, give_up_after=0.2)
    watch.deleteLater()


@pytest.mark.slow
def test_nothing_holds_the_window_up(qtbot: QtBot, tmp_path: Path) -> None:
    bench = OpeningBench(tmp_path, LAYERS)
    try:
        figures = list(bench.figures())
    finally:
        bench.close()
    assert len(figures) > 10
    late = [figure for figure in figures if figure.longest > ROOM * BUDGET]
    # The first brings modules with it, which other tests may have imported or not.
    assert not [figure for figure in late if figure is not figures[0]], late
