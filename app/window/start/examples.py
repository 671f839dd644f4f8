"""Opening the examples that come with the program: their nets at once, their data in the background."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import guard
from engine.resources import user_data_path

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["ExampleOpener"]

_WAITS = "The example's digits are being written; this takes a moment."


class ExampleOpener(QObject):
    """Opens an example at once and writes its data in the background.

    Parameters
    ----------
    window : MainWindow
        Where it is shown.
    name : str
        ``lenet`` or ``autoencoder``.
    """

    _progressed = Signal(float)
    _finished = Signal(str)

    def __init__(self, window: MainWindow, name: str = "lenet") -> None:
        super().__init__(window)
        self._window = window
        self._name = name
        self._net = user_data_path() / "examples" / name / f"{name}_train_test.prototxt"
        self._document: Document | None = None
        self._opened = self._ready = False
        self._thread: threading.Thread | None = None
        self._progressed.connect(self._show_progress)
        self._finished.connect(self._show_end)
        window.document_left.connect(self._left)

    def open_when_ready(self) -> None:
        """Open the example; its files are copied first when this is the first time."""
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
            prepare_example(self._name, progress=self._progressed.emit)
        except Exception as error:
            self._finished.emit(str(error))
        else:
            self._finished.emit("")

    def _open(self) -> None:
        self._opened = self._window.files.open(self._net)
        if self._opened:
            self._document = self._window.document
            if not self._ready:
                self._document.set_waits_for(_WAITS)

    @guard
    def _left(self, document: Document) -> None:
        if document is self._document:
            self._document = None

    @guard
    def _show_progress(self, share: float) -> None:
        if not self._opened:
            self._open()
        self._window.status.showMessage(f"Writing the example's digits: {share * 100:.0f} %")

    @guard
    def _show_end(self, error: str) -> None:
        self._window.status.clearMessage()
        self._ready = True
        if self._document is not None:
            self._document.set_waits_for("")
        if error:
            self._window.notify(f"The example could not be prepared: {error}", "error")
            return
        if not self._opened:
            self._open()
        if self._document is not None:
            self._document.live.data_changed()
