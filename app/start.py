"""Starting the editor."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.collector import CalmCollector
from app.recovery import RecoveryKeeper, RecoveryStore
from app.theme import Theme
from app.window.examples import ExampleOpener
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from app.window.themes import theme_name

__all__ = ["ExampleOpener", "make_application", "run_editor", "share_interpreter", "theme_name"]

_SIGNAL_POLL = 200
_TURN = 0.0005


def make_application() -> QApplication:
    """Return the application, made when there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
        app = QApplication(sys.argv[:1])
    app.setApplicationName("Netcanvas")
    app.setDesktopFileName("netcanvas")
    return app


def share_interpreter() -> None:
    """Let the window's thread have the interpreter soon when another thread works in it.

    Each call of Qt's gives it up, and so does each look at a file; and after each, Python has the thread wait 5 ms for
    one that computes.
    """
    sys.setswitchinterval(_TURN)


def run_editor(file: Path | None) -> int:
    """Show the editor on a file, or on the bundled example, until it is closed."""
    share_interpreter()
    app = make_application()
    settings = WindowSettings()
    Theme.load(theme_name(settings)).apply(app)
    window = MainWindow(settings)
    collector = CalmCollector(window)
    window.document_left.connect(collector.document_left)
    keeper = RecoveryKeeper(window, RecoveryStore())
    if file is None or not window.files.open(file):
        window.beginnings.at_start()
    window.show()
    QTimer.singleShot(0, keeper, keeper.look)
    _let_ctrl_c_through(app)
    status = app.exec()
    collector.close()
    window.beginnings.wait()
    return int(status)


def _let_ctrl_c_through(app: QApplication) -> None:
    """Close the window on Ctrl+C in the terminal; Python sees the signal only when it runs now and then."""
    signal.signal(signal.SIGINT, lambda *_args: app.closeAllWindows())
    timer = QTimer(app)
    timer.timeout.connect(lambda: None)
    timer.start(_SIGNAL_POLL)
