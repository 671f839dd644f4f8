"""Starting the editor."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.collector import CalmCollector
from app.qt import guard
from app.theme import Theme
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.resources import user_data_path

__all__ = ["ExampleOpener", "make_application", "run_editor", "theme_name"]

_SIGNAL_POLL = 200


def make_application() -> QApplication:
    """Return the application, made when there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
        app = QApplication(sys.argv[:1])
    app.setApplicationName("Netcanvas")
    app.setDesktopFileName("netcanvas")
    return app


def theme_name(settings: WindowSettings) -> str:
    """Name of the theme to start with: the user's choice, else the system's."""
    if settings.theme in Theme.names():
        return settings.theme
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return "dark" if dark else "light"


def run_editor(file: Path | None) -> int:
    """Show the editor on a file, or on the bundled example, until it is closed."""
    app = make_application()
    settings = WindowSettings()
    Theme.load(theme_name(settings)).apply(app)
    window = MainWindow(settings)
    collector = CalmCollector(window)
    window.document_left.connect(collector.document_left)
    opener = ExampleOpener(window)
    if file is not None:
        if not window.files.open(file):
            opener.open_when_ready()
    else:
        opener.open_when_ready()
    window.show()
    _let_ctrl_c_through(app)
    status = app.exec()
    collector.close()
    opener.wait()
    return int(status)


def _let_ctrl_c_through(app: QApplication) -> None:
    """Close the window on Ctrl+C in the terminal; Python sees the signal only when it runs now and then."""
    signal.signal(signal.SIGINT, lambda *_args: app.closeAllWindows())
    timer = QTimer(app)
    timer.timeout.connect(lambda: None)
    timer.start(_SIGNAL_POLL)


class ExampleOpener(QObject):
    """Opens the bundled LeNet at once and writes its data in the background.

    Parameters
    ----------
    window : MainWindow
        Where it is shown.
    """

    _progressed = Signal(float)
    _finished = Signal(str)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._net = user_data_path() / "examples" / "lenet" / "lenet_train_test.prototxt"
        self._opened = self._ready = False
        self._thread: threading.Thread | None = None
        self._progressed.connect(self._show_progress)
        self._finished.connect(self._show_end)

    def open_when_ready(self) -> None:
        """Open the example; its files are copied first when this is the first start."""
        self._thread = threading.Thread(target=self._prepare, name="netcanvas-example", daemon=True)
        if self._net.is_file():
            self._open()
        self._thread.start()

    def wait(self) -> None:
        """Wait for the data to be written."""
        if self._thread is not None:
            self._thread.join()

    def _prepare(self) -> None:
        from engine.examples import prepare_example

        try:
            prepare_example("lenet", progress=self._progressed.emit)
        except Exception as error:
            self._finished.emit(str(error))
        else:
            self._finished.emit("")

    def _open(self) -> None:
        self._opened = self._window.files.open(self._net)
        if self._opened and not self._ready:
            self._window.document.set_waits_for("The example's digits are being written; this takes a moment.")

    @guard
    def _show_progress(self, share: float) -> None:
        if not self._opened:
            self._open()
        self._window.status.showMessage(f"Writing the example's digits: {share * 100:.0f} %")

    @guard
    def _show_end(self, error: str) -> None:
        self._window.status.clearMessage()
        self._ready = True
        self._window.document.set_waits_for("")
        if error:
            self._window.notify(f"The example could not be prepared: {error}", "error")
            return
        if not self._opened:
            self._open()
        self._window.document.live.data_changed()
