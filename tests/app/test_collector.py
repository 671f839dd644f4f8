"""The cycle collector while the editor runs."""

from __future__ import annotations

import gc
import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
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


def test_all_is_collected_only_when_the_user_has_turned_away(
    calm: CalmCollector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm._due.set_interval(10)
    freed_in: list[threading.Thread] = []
    _Knot(freed_in)
    gc.freeze()  # as what came in a burst
    active, inactive = Qt.ApplicationState.ApplicationActive, Qt.ApplicationState.ApplicationInactive
    application = QGuiApplication.instance()
    calm._left = True
    application.applicationStateChanged.emit(active)
    assert not calm.busy
    qtbot.wait(40)
    assert not freed_in
    application.applicationStateChanged.emit(inactive)
    assert calm.busy
    application.applicationStateChanged.emit(active)
    assert not calm.busy, "who comes back at once is not to wait"
    application.applicationStateChanged.emit(inactive)
    qtbot.waitUntil(lambda: bool(freed_in))
    application.applicationStateChanged.emit(inactive)
    assert not calm.busy, "once is enough"
