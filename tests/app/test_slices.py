"""Long work in slices."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.slices import Slices


@pytest.fixture
def slices() -> Iterator[Slices]:
    made = Slices()
    yield made
    made.cancel()
    made.deleteLater()


def steps(done: list[int], count: int, seconds: float = 0.0) -> Iterator[None]:
    for step in range(count):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        done.append(step)
        yield


def test_events_come_in_between(slices: Slices, qtbot: QtBot) -> None:
    done: list[int] = []
    ends: list[int] = []
    seen: list[int] = []
    timer = QTimer()
    timer.timeout.connect(lambda: seen.append(len(done)))
    timer.start(0)
    slices.start(steps(done, 50, 0.001), lambda: ends.append(len(done)))
    assert slices.active and not done
    qtbot.waitUntil(lambda: not slices.active)
    timer.stop()
    assert done == list(range(50)) and ends == [50]
    assert len(set(seen)) > 3


def test_the_rest_is_done_at_once_when_it_is_needed(slices: Slices, qtbot: QtBot) -> None:
    done: list[int] = []
    ends: list[int] = []
    slices.start(steps(done, 50), lambda: ends.append(len(done)))
    slices.finish()
    assert ends == [50] and not slices.active
    qtbot.wait(5)
    assert ends == [50]


def test_another_work_takes_the_place(slices: Slices, qtbot: QtBot) -> None:
    first: list[int] = []
    second: list[int] = []
    slices.start(steps(first, 50), lambda: pytest.fail("given up"))
    slices.start(steps(second, 3))
    qtbot.waitUntil(lambda: not slices.active)
    assert not first and second == [0, 1, 2]
    slices.start(steps(first, 50), lambda: pytest.fail("given up"))
    slices.cancel()
    qtbot.wait(5)
    assert not first


def test_a_step_may_begin_another_work(slices: Slices, qtbot: QtBot) -> None:
    done: list[int] = []

    def work() -> Iterator[None]:
        slices.start(steps(done, 2))
        yield
        pytest.fail("given up")

    slices.start(work(), lambda: pytest.fail("given up"))
    qtbot.waitUntil(lambda: not slices.active)
    assert done == [0, 1]
