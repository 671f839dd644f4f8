"""Reading files that take their time: away from the window; of a big one a bar tells how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QTimer
from shiboken6 import isValid

from app.document.netfile import read_net_file
from engine.graph import OpGraph

if TYPE_CHECKING:
    from app.window.bars import InfoBar
    from app.window.mainwindow import MainWindow

__all__ = ["BIG_FILE", "SLOW_FILE", "Cancelled", "read_slow_net"]

#: Bytes from which on a file is read in the background, and from which on a bar tells of it.
SLOW_FILE, BIG_FILE = 96 * 2**10, 2 * 2**20

_LOOK_MS = 10


class Cancelled(Exception):
    """The user does not want the file any more."""


class _Reading(threading.Thread):
    """Reads a file; ``done`` goes up to 1, and ``stop`` ends it."""

    def __init__(self, path: Path, read: Callable[[Path], bytes]) -> None:
        super().__init__(name="reading", daemon=True)
        self.path = path
        self._read = read
        self.done = 0.0
        self.stop = threading.Event()
        self.content: tuple[bytes, OpGraph] | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            data = self._read(self.path)
            graph = OpGraph.parse(data, progress=self._progress)
            graph.nodes()  # all ask for them, and for the text, and the first time it takes longest
            assert graph.text is not None
            self.content = data, graph
        except Exception as error:  # raised again where the file was asked for
            self.error = error

    def _progress(self, position: int, length: int) -> None:
        if self.stop.is_set():
            raise Cancelled
        self.done = position / max(length, 1)


def read_slow_net(
    path: Path, window: MainWindow, read: Callable[[Path], bytes] = read_net_file
) -> tuple[bytes, OpGraph]:
    """Read a net while the window answers; if that takes long, a bar shows the progress, and stops it.

    Parameters
    ----------
    path : Path
        The file.
    window : MainWindow
        The window with the bar; shown for it, if it is not yet.
    read : callable
        Returns the text of the net; called in the thread.

    Returns
    -------
    tuple of bytes and OpGraph

    Raises
    ------
    Cancelled
        When the user cancels, or closes the window meanwhile.
    FileFormatError, OSError
        As ``read``, which is :func:`app.document.netfile.read_net_file` where none is given.
    """
    reading, loop, timer = _Reading(path, read), QEventLoop(), QTimer()
    is_long = read is read_net_file and path.stat().st_size >= BIG_FILE
    bar = _bar(reading, window) if is_long else None

    def look() -> None:
        if bar is not None and isValid(bar):  # its tab may be closed meanwhile
            bar.say(f"Reading '{path.name}': {int(100 * reading.done)} %")
        if not reading.is_alive():
            loop.quit()

    window.closing.connect(reading.stop.set)
    timer.timeout.connect(look)
    timer.start(_LOOK_MS)
    reading.start()
    loop.exec()
    reading.join()
    timer.stop()
    window.closing.disconnect(reading.stop.set)
    if bar is not None and isValid(bar):
        bar.dismiss()
    if reading.stop.is_set():
        raise Cancelled
    if reading.error is not None:
        raise reading.error
    assert reading.content is not None
    return reading.content


def _bar(reading: _Reading, window: MainWindow) -> InfoBar:
    window.show()
    bar = window.notify(f"Reading '{reading.path.name}'\u2026", "info", [("Cancel", reading.stop.set)])
    bar.setObjectName("window.bar.reading")
    bar.keep()
    return bar
