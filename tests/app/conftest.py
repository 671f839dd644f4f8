"""Fixtures of all window tests: offscreen, with a real font, and nothing may leak or fail silently."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent, QSettings, QTimer
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.document import Document
from app.qt import fault_logger
from app.theme import Theme
from app.window import bars
from app.window.canvas_area import CanvasArea
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.resources import resource_path

LENET = "lenet_train_test.prototxt"
#: How long a busy machine may take to lay out the longest net, in milliseconds.
PATIENCE = 60_000


@pytest.fixture(scope="session", autouse=True)
def dressed_app(qapp: QApplication) -> QApplication:
    """The application in the light theme, with a font that draws letters and not boxes."""
    assert "DejaVu Sans" in QFontDatabase.families(), "install fonts-dejavu-core: without a font every picture is boxes"
    Theme.load("light").apply(qapp)
    importlib.import_module("pyqtgraph")  # not in a thread that other tests' collections come across
    return qapp


@pytest.fixture(scope="session")
def timers() -> weakref.WeakSet[QTimer]:
    """All timers that are there when a test has ended, whichever began them."""
    return weakref.WeakSet()


class _Faults(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def faults(request: pytest.FixtureRequest) -> Iterator[list[logging.LogRecord]]:
    """Faults caught in paint and event overrides; a test that expects some empties the list."""
    handler = _Faults()
    fault_logger.addHandler(handler)
    yield handler.records
    fault_logger.removeHandler(handler)
    if handler.records:
        formatter = logging.Formatter()
        pytest.fail("\n".join(formatter.format(record) for record in handler.records))


def _is_ours(widget: QWidget) -> bool:
    """Whether it is one of the application's windows, and not what a test or Qt keeps hidden."""
    return type(widget).__module__.startswith("app.")


@pytest.fixture(autouse=True)
def no_leaks(dressed_app: QApplication, timers: weakref.WeakSet[QTimer]) -> Iterator[None]:
    """No running timer or window, shown or hidden, may outlive its test; threads and processes neither, as anywhere."""
    gc.collect()  # what only the test before held
    gc.freeze()  # so that what this one leaves is all that is looked through, however many ran before
    windows = {id(widget) for widget in QApplication.topLevelWidgets()}
    gc.disable()  # a test's threads must not free what belongs to this one
    yield
    gc.enable()
    gc.collect()
    Theme.notifier().dressing.finish()  # the application's own, which goes on where a test ends
    for _round in range(2):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        dressed_app.processEvents()
    left_windows = [
        w for w in QApplication.topLevelWidgets() if id(w) not in windows and (w.isVisible() or _is_ours(w))
    ]
    assert not left_windows, f"windows outlive the test: {left_windows}"
    changed = [role for role, color in Theme.current().tokens.items() if color.alpha() < 255]
    assert not changed, f"colours of the theme were changed in painting: {changed}"
    timers.update(each for each in gc.get_objects() if isinstance(each, QTimer))
    running = [each for each in timers if isValid(each) and each.isActive()]
    assert not running, f"timers outlive the test: {[(timer, timer.parent()) for timer in running]}"


@pytest.fixture(autouse=True)
def quick_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test aims at a bar where it is, and need not wait until a hand would have seen that it moved."""
    monkeypatch.setattr(bars, "_STEADY_AFTER", 0)


@pytest.fixture
def lenet(tmp_path: Path) -> Path:
    """A copy of the bundled LeNet with its solver, without the data."""
    for source in resource_path("examples/lenet").glob("*.prototxt"):
        shutil.copy(source, tmp_path)
    return tmp_path / LENET


@pytest.fixture
def document(lenet: Path) -> Iterator[Document]:
    opened = Document.open(lenet)
    yield opened
    opened.close()


@pytest.fixture
def make_canvas(qtbot) -> Iterator[Callable[[Document], CanvasArea]]:
    """Shows documents on a canvas of fixed size, laid out, at 100 %."""
    made: list[CanvasArea] = []

    def make(document: Document) -> CanvasArea:
        canvas = CanvasArea(document)
        made.append(canvas)
        qtbot.addWidget(canvas)
        canvas.resize(1600, 900)
        canvas.show()
        canvas.arrange_at_start()
        if document.jobs.busy:
            qtbot.waitSignal(document.jobs.idle, timeout=PATIENCE).wait()
        qtbot.waitUntil(lambda: canvas.is_placed, timeout=PATIENCE)
        canvas.set_scale(1.0)
        canvas.centerOn(canvas.canvas.content_rect().center())
        qtbot.wait(1)
        return canvas

    yield make
    for canvas in made:
        if isValid(canvas):
            canvas.close_document()


@pytest.fixture
def canvas(document: Document, make_canvas: Callable[[Document], CanvasArea]) -> CanvasArea:
    return make_canvas(document)


@pytest.fixture
def settings(tmp_path: Path) -> WindowSettings:
    return WindowSettings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def still(qtbot) -> Callable[[QWidget], None]:
    """Waits until a widget and what stands in it move no more: layouts settle in several rounds of events."""

    def look(widget: QWidget) -> list[tuple[bool, tuple[int, int, int, int]]]:
        return [(each.isVisible(), each.geometry().getRect()) for each in (widget, *widget.findChildren(QWidget))]

    def wait(widget: QWidget) -> None:
        same = 0
        while same < 3:
            before = look(widget)
            qtbot.wait(5)
            same = same + 1 if look(widget) == before else 0

    return wait


@pytest.fixture
def resized(window: MainWindow, qtbot, still) -> Callable[[tuple[int, int]], None]:
    """Gives the main window another size, at which its docks have taken their room then."""

    def resize(size: tuple[int, int]) -> None:
        window.resize(*size)
        qtbot.waitUntil(lambda: (window.width(), window.height()) == size, timeout=2000)
        still(window)

    return resize


@pytest.fixture
def window(qtbot, settings: WindowSettings) -> Iterator[MainWindow]:
    """The main window with all its panels, on an empty net."""
    shown = MainWindow(settings)
    shown.resize(1440, 900)
    shown.show()
    qtbot.waitExposed(shown)
    qtbot.wait(1)
    shown.load_panels()
    yield shown
    if isValid(shown):
        for each, question in ((shown.files, "may_leave_all"), (shown.plugins.code, "may_leave")):
            setattr(each, question, lambda: True)  # nobody is there to answer
        shown.close()
        shown.deleteLater()
        QCoreApplication.sendPostedEvents(shown, QEvent.Type.DeferredDelete)  # else it is dressed once more
    Theme.load("light").apply(QApplication.instance())
