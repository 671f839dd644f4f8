"""Starting the editor."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.collector import CalmCollector
from app.recovery import RecoveryKeeper, RecoveryStore
from app.theme import Theme
from app.window.closing.ending import Ending
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from app.window.start.examples import ExampleOpener
from app.window.themes import theme_name

__all__ = ["ExampleOpener", "make_application", "run_editor", "share_interpreter", "theme_name"]

_SIGNALLED = 128  # and the number of the signal: what a shell says of a program that one ended
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
    if file is None:
        window.beginnings.at_start()
    elif not window.files.open(file):
        window.beginnings.welcome()  # what is said of the file stays to be read
    window.show()
    QTimer.singleShot(0, keeper, keeper.look)
    ending = Ending(window, keeper, app)
    status = app.exec()
    ending.close()
    collector.close()
    window.beginnings.wait()
    return _SIGNALLED + ending.number if ending.number else int(status)
