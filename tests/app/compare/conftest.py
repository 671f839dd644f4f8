"""A window with a net in it that differs from another file beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.compare.view import CompareView
from app.window.mainwindow import MainWindow
from tests.app.compare.nets import NEW, OLD


def settle(qtbot, view: CompareView) -> None:
    """Wait until everything about a comparison is known."""
    qtbot.waitUntil(lambda: view.canvases is not None and view.comparison.counts[1].rows != (), timeout=20_000)
    qtbot.waitUntil(lambda: view.comparison.new.live.is_started, timeout=20_000)
    qtbot.waitUntil(lambda: not view.comparison.busy, timeout=20_000)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.prototxt"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def mine(window: MainWindow, tmp_path: Path) -> Path:
    path = tmp_path / "mine.prototxt"
    path.write_bytes(NEW)
    assert window.files.open(path)
    return path


@pytest.fixture
def compared(window: MainWindow, mine: Path, other: Path, qtbot) -> CompareView:
    """The comparison of the net in the window with the other file."""
    window.comparing.with_path(other)
    view = window.tabs.current.comparison
    assert view is not None
    settle(qtbot, view)
    return view


@pytest.fixture
def settled(qtbot) -> Callable[[CompareView], None]:
    return lambda view: settle(qtbot, view)
