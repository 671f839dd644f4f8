"""The cycle collector while the editor runs."""

from __future__ import annotations

import gc
import threading

import pytest
from pytestqt.qtbot import QtBot

from app import collector
from app.collector import CalmCollector


class _Knot:
    """Refers to itself, and notes the thread in which it goes."""

    freed_in: list[threading.Thread]

    def __init__(self, freed_in: list[threading.Thread]) -> None:
        self.freed_in = freed_in
        self.self = self

    def __del__(self) -> None:
        self.freed_in.append(threading.current_thread())


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(collector, "_YOUNG", 100)
    monkeypatch.setattr(collector, "_TICK", 10)
    made = CalmCollector()
    yield made
    made.close()
    made.deleteLater()
    gc.disable()


def _allocate(freed_in: list[threading.Thread]) -> None:
    for _ in range(20):
        _Knot(freed_in)
    held = [[] for _ in range(5000)]
    assert held


def test_what_a_thread_leaves_is_freed_in_the_windows_thread(calm: CalmCollector, qtbot: QtBot) -> None:
    freed_in: list[threading.Thread] = []
    thread = threading.Thread(target=_allocate, args=(freed_in,))
    thread.start()
    thread.join()
    assert not freed_in
    keep = [[] for _ in range(500)]
    qtbot.waitUntil(lambda: len(freed_in) == 20)
    assert set(freed_in) == {threading.main_thread()} and keep


def test_nothing_is_collected_while_a_library_of_qts_is_imported(calm: CalmCollector, qtbot: QtBot) -> None:
    freed_in: list[threading.Thread] = []
    with collector.importing:
        _allocate(freed_in)
        keep = [[] for _ in range(500)]
        qtbot.wait(60)
        assert not freed_in
    qtbot.waitUntil(lambda: len(freed_in) == 20)
    assert keep


def test_python_collects_as_before_when_the_editor_has_closed() -> None:
    made = CalmCollector()
    assert not gc.isenabled()
    made.close()
    assert gc.isenabled()
    made.deleteLater()
    gc.disable()  # as the fixture of this folder has it
