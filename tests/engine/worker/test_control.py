from __future__ import annotations

import threading
import time

import pytest

from engine.solvers import Action
from engine.worker.control import RunControl


class Watched:
    """A control in a thread of its own, with a note of what it said."""

    def __init__(self) -> None:
        self.said: list[bool] = []
        self.control = RunControl(self.said.append)

    def call_in_thread(self) -> tuple[threading.Thread, list[Action]]:
        answers: list[Action] = []
        thread = threading.Thread(target=lambda: answers.append(self.control()))
        thread.start()
        return thread, answers


def test_it_says_continue_until_asked() -> None:
    watched = Watched()
    assert watched.control() is Action.CONTINUE
    watched.control.snapshot()
    assert [watched.control(), watched.control()] == [Action.SNAPSHOT, Action.CONTINUE]
    watched.control.stop()
    assert [watched.control(), watched.control()] == [Action.STOP, Action.STOP]
    assert watched.said == []


def test_it_waits_while_paused() -> None:
    watched = Watched()
    watched.control.pause()
    thread, answers = watched.call_in_thread()
    thread.join(0.05)
    assert thread.is_alive()
    done = threading.Event()
    watched.control.call(done.set)
    assert done.wait(5.0)
    watched.control.resume()
    thread.join(5.0)
    assert answers == [Action.CONTINUE]
    assert watched.said == [True, False]


def test_a_resume_right_after_a_snapshot_in_a_pause_is_told() -> None:
    watched = Watched()
    watched.control.pause()
    thread, answers = watched.call_in_thread()
    while not watched.said:
        time.sleep(0.001)
    watched.control.snapshot()
    thread.join(5.0)
    assert answers == [Action.SNAPSHOT]
    watched.control.resume()  # while the snapshot is being written
    assert watched.control() is Action.CONTINUE
    assert watched.said == [True, False]


def test_a_paused_run_stops_without_going_on() -> None:
    watched = Watched()
    watched.control.pause()
    thread, answers = watched.call_in_thread()
    watched.control.stop()
    thread.join(5.0)
    assert answers == [Action.STOP]
    assert False not in watched.said


def test_a_signal_between_the_look_and_the_wait_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler of a signal runs in the thread that is about to wait, so that nobody is there yet to be woken."""
    watched = Watched()
    watched.control.pause()
    look, looks = watched.control._wanted, []

    def interrupted() -> bool:
        found = look()
        looks.append(found)
        if len(looks) == 1:
            watched.control.stop()
        return found

    monkeypatch.setattr(watched.control, "_wanted", interrupted)
    thread, answers = watched.call_in_thread()
    thread.join(5.0)
    assert not thread.is_alive() and answers == [Action.STOP] and looks[0] is False
