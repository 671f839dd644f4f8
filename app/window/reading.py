"""Reading files that take their time: away from the window, with a bar that tells how far it is, and a way out."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QProgressDialog, QWidget

from app.netfile import read_net_file
from engine.graph import OpGraph

__all__ = ["BIG_FILE", "Cancelled", "read_big_net"]

#: Bytes from which on a file is read in the background.
BIG_FILE = 2 * 2**20

_LOOK_MS = 50
_STEPS = 1000


class Cancelled(Exception):
    """The user does not want the file any more."""


class _Reading(threading.Thread):
    """Reads a file; ``done`` goes up to 1, and ``stop`` ends it."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="reading", daemon=True)
        self.path = path
        self.done = 0.0
        self.stop = threading.Event()
        self.content: tuple[bytes, OpGraph] | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            data = read_net_file(self.path)
            self.content = data, OpGraph.parse(data, progress=self._progress)
        except Exception as error:  # raised again where the file was asked for
            self.error = error

    def _progress(self, position: int, length: int) -> None:
        if self.stop.is_set():
            raise Cancelled
        self.done = position / max(length, 1)


def read_big_net(path: Path, parent: QWidget) -> tuple[bytes, OpGraph]:
    """Read a net while a dialog shows the progress.

    Parameters
    ----------
    path : Path
        The file.
    parent : QWidget
        The window over which the dialog stands; shown, if it is not yet.

    Returns
    -------
    tuple of bytes and OpGraph

    Raises
    ------
    Cancelled
        When the user cancels.
    FileFormatError, OSError
        As :func:`app.netfile.read_net_file`.
    """
    parent.show()  # or the application would end with the dialog, its only window
    dialog = QProgressDialog(f"Reading {path.name}", "Cancel", 0, _STEPS, parent)
    dialog.setObjectName("reading")
    dialog.setWindowModality(Qt.WindowModality.WindowModal)
    dialog.setAutoClose(False)
    dialog.setAutoReset(False)
    reading, loop, timer = _Reading(path), QEventLoop(), QTimer()

    def look() -> None:
        dialog.setValue(int(reading.done * (_STEPS - 1)))
        if not reading.is_alive():
            loop.quit()

    dialog.canceled.connect(reading.stop.set)
    timer.timeout.connect(look)
    timer.start(_LOOK_MS)
    reading.start()
    loop.exec()
    reading.join()
    timer.stop()
    dialog.canceled.disconnect(reading.stop.set)  # closing is cancelling to it
    dialog.close()
    dialog.deleteLater()
    if reading.stop.is_set():
        raise Cancelled
    if reading.error is not None:
        raise reading.error
    assert reading.content is not None
    return reading.content
