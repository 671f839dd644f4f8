"""A change of theme: no stretch of it is felt, and what comes of it is what a start in that theme shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.properties.style import dress_names
from app.theme import Theme
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from tests.benchmarks.opening import BUDGET, ROOM
from tests.benchmarks.stalls import StallWatch

Shown = Callable[[], MainWindow]


@pytest.fixture
def shown(qtbot, settings: WindowSettings, lenet: Path) -> Iterator[Shown]:
    """Makes a window with LeNet, a layer of it selected and all panels made."""
    made: list[MainWindow] = []

    def make() -> MainWindow:
        window = MainWindow(settings)
        made.append(window)
        window.resize(1440, 900)
        assert window.files.open(lenet)
        window.show()
        qtbot.waitExposed(window)
        window.load_panels()
        document = window.document
        qtbot.waitUntil(
            lambda: window.canvas.is_placed and document.live.is_started and not document.live.busy, timeout=20_000
        )
        document.selection.set([document.graph.named("conv1")[0].id])
        document.selection.flush()
        qtbot.wait(50)
        return window

    yield make
    for window in made:
        window.close()
        window.deleteLater()
    Theme.load("light").apply(QApplication.instance())


def picture(widget: QWidget, qtbot) -> QImage:
    """A widget as it looks when nothing more comes: layouts settle in several rounds."""
    now, same = widget.grab().toImage(), 0
    for _look in range(100):
        qtbot.wait(12)
        before, now = now, widget.grab().toImage()
        same = same + 1 if now == before else 0
        if same == 4:
            break
    return now


def pictures(window: MainWindow, qtbot) -> dict[str, QImage]:
    """Every panel as it looks when it is brought to the front, and the rest of the window."""
    found = {}
    for name, dock in window._docks.docks.items():
        window.show_panel(name)
        if name == "solver":
            picture(dock, qtbot)
            dress_names(window.panels[name])  # so that long names are measured now that their column has its width
        found[name] = picture(dock, qtbot)
    menu = window.findChild(QWidget, "window.menu.theme")
    for name, widget in (("toolbar", window.toolbar), ("status", window.status), ("page", window.tabs), ("menu", menu)):
        found[name] = picture(widget, qtbot)
    return found


def test_after_a_change_everything_looks_as_after_a_start(shown: Shown, qtbot) -> None:
    app = QApplication.instance()
    Theme.load("light").apply(app)
    changed = shown()
    for name in ("dark", "light", "dark"):  # before all of the first is done
        Theme.load(name).apply(app)
    dressing = Theme.notifier().dressing
    assert dressing.busy
    seen = pictures(changed, qtbot)  # panels come to the front before their turn
    qtbot.waitUntil(lambda: not dressing.busy)
    settled = pictures(changed, qtbot)
    changed.hide()
    started = pictures(shown(), qtbot)
    assert seen.keys() == settled.keys() == started.keys()
    assert not [name for name, each in started.items() if settled[name] != each]
    assert not [name for name, each in started.items() if seen[name] != each]
    surface = Theme.current().color("surface")
    assert any(started["text"].pixelColor(x, 100) == surface for x in range(started["text"].width()))


@pytest.mark.slow
def test_a_change_is_not_felt(shown: Shown, qtbot) -> None:
    window, dressing, watch = shown(), Theme.notifier().dressing, StallWatch()
    looks = []
    for _look in range(4):
        watch.run(window.themes.toggle, lambda: not dressing.busy, quiet=0.1)
        looks.append(watch.longest.busy)
    watch.deleteLater()
    assert min(looks) < ROOM * BUDGET, looks


def test_what_goes_while_it_waits_for_its_colours_does_no_harm(qtbot) -> None:
    app, dressing = QApplication.instance(), Theme.notifier().dressing
    boxes = [QLineEdit(), QLineEdit()]
    for box in boxes:
        box.show()
        box.hide()
    Theme.load("dark").apply(app)
    boxes.pop().deleteLater()
    qtbot.waitUntil(lambda: not dressing.busy)
    assert boxes[0].palette().color(QPalette.ColorRole.Base) == Theme.load("dark").color("surface")
    Theme.load("light").apply(app)
    dressing.finish()
    assert boxes[0].palette().color(QPalette.ColorRole.Base) == Theme.load("light").color("surface")
    boxes.pop().deleteLater()


def test_windows_are_painted_only_when_all_is_dressed(qtbot) -> None:
    app, dressing = QApplication.instance(), Theme.notifier().dressing
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    for name in ("dark", "light"):
        Theme.load(name).apply(app)
        assert not window.updatesEnabled()
    qtbot.waitUntil(window.updatesEnabled)
    Theme.load("dark").apply(app)
    dressing.finish()
    assert window.updatesEnabled()
