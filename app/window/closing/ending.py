"""How the program ends when it is not the user who closes the window: by a signal, or with the session."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog

from app.qt import guard

if TYPE_CHECKING:
    from app.recovery import RecoveryKeeper
    from app.window.mainwindow import MainWindow

__all__ = ["Ending"]

#: Python sees a signal only when it runs now and then.
_POLL_MS = 200
_AT_ONCE = [number for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if (number := getattr(signal, name, None))]


class Ending(QObject):
    """Ends the program on a signal.

    Ctrl+C in the terminal closes the window, which may ask; a second one, or any other signal, asks nothing: what is
    not saved is kept and offered at the next start. It is kept too when the session ends, for nobody may be left to
    answer.

    Parameters
    ----------
    window : MainWindow
    keeper : RecoveryKeeper
        Keeps what is not saved.

    Attributes
    ----------
    number : int
        The signal that ended the program, or 0.
    """

    def __init__(self, window: MainWindow, keeper: RecoveryKeeper, application: QApplication) -> None:
        super().__init__(application)
        self._window = window
        self._application = application
        self.number = 0
        self._before = {signal.SIGINT: signal.signal(signal.SIGINT, self._interrupted)}
        for number in _AT_ONCE:
            self._before[number] = signal.signal(number, self._ended)
        application.commitDataRequest.connect(lambda _manager: keeper.keep_now())
        self._timer = QTimer(self)
        self._timer.timeout.connect(_let_python_run)
        self._timer.start(_POLL_MS)

    def close(self) -> None:
        """Give the signals back."""
        self._timer.stop()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _interrupted(self, number: int, frame: object) -> None:
        if QApplication.activeModalWidget() is None:
            self._later(self._application.closeAllWindows)
        else:  # it was asked before, or the user is at something else: no second question on top
            self._ended(number, frame)

    def _ended(self, number: int, _frame: object) -> None:
        if not self.number:
            self.number = number
            self._later(self._end)

    def _later(self, act: Callable[[], object]) -> None:
        """Act from the event loop: a signal comes anywhere, also in the middle of painting."""
        QTimer.singleShot(0, self, act)

    @guard
    def _end(self) -> None:
        """Close all questions, and then, when nobody waits for their answers any more, the window."""
        self._window.keep_unsaved()
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, QDialog) and widget.isModal() and widget.isVisible():
                widget.reject()
        self._later(self._close)

    @guard
    def _close(self) -> None:
        if QApplication.activeModalWidget() is not None:
            self._later(self._end)
            return
        self._window.close()
        self._application.quit()


def _let_python_run() -> None:
    """Do nothing, in Python."""
