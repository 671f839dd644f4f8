"""Drawing a picture of a net while the window goes on answering."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.canvas.scene.picture import Picture, PictureError, kind_of
from app.jobs import Jobs
from app.qt import Debounce, fault_logger, guard
from app.slices import Slices
from engine.files import atomic_write

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from app.window.bars import InfoArea, InfoBar

__all__ = ["PictureJob", "PictureNote"]

#: Milliseconds after which it is looked again whether the wires are led, and after which it is told that it takes long.
_SOON, _LONG = 20, 300


class PictureJob(QObject):
    """One picture: it is taken as the net is shown now, drawn in slices, and packed and written in a thread.

    Parameters
    ----------
    scene : CanvasScene
        What is drawn.
    path : Path or None
        The file, which is written aside and renamed; None for the clipboard.
    scale : float
        See :class:`app.canvas.scene.picture.Picture`.
    theme : str
        ``paper``, ``light`` or ``dark``.

    Attributes
    ----------
    progressed : Signal(int)
        So many percent are drawn.
    ended : Signal(str, str)
        What is to be said at the end, and whether it is ``info`` or a ``warning``; an empty text after :meth:`cancel`.
    took_long : Signal()
        It is not done as fast as nobody would wonder.
    """

    progressed = Signal(int)
    ended = Signal(str, str)
    took_long = Signal()

    def __init__(self, scene: CanvasScene, path: Path | None, *, scale: float, theme: str, parent: QObject) -> None:
        super().__init__(parent)
        self._scene, self._path = scene, path
        self._kind = kind_of(path) if path is not None else ""
        self._scale, self._theme = scale, theme
        self._slices = Slices(self)
        self._jobs: Jobs | None = None
        self._picture: Picture | None = None
        self._ending: threading.Thread | None = None
        self._take_soon = Debounce(self._take, _SOON, self)
        self._tell_soon = Debounce(self.took_long.emit, _LONG, self)
        self._percent = 0
        self.is_running = True

    @property
    def words(self) -> str:
        """What is done."""
        return f"Drawing '{self._path.name}'" if self._path is not None else "Drawing an image for the clipboard"

    def start(self) -> None:
        """Begin; a net whose picture is still being led or folded is waited for."""
        self._tell_soon.trigger()
        self._take()

    @guard
    def cancel(self) -> None:
        """Leave no picture, and the file as it was."""
        self._end("", "info")

    def close(self) -> None:
        """The same, and wait for the thread."""
        self.cancel()
        if self._jobs is not None:
            self._jobs.close()
        if self._ending is not None:
            self._ending.join()

    def _take(self) -> None:
        if not self.is_running:
            return
        scene = self._scene
        if not scene.is_built or not scene.folding.is_wired or scene.leading.active:
            self._take_soon.trigger()
            return
        try:
            self._picture = picture = Picture(scene, self._kind, scale=self._scale, theme=self._theme)
        except PictureError as error:
            self._end(str(error), "warning")
            return
        self._slices.start(self._drawn(picture), partial(self._all_drawn, picture))

    def _drawn(self, picture: Picture) -> Iterator[None]:
        try:
            for done in picture.draw():
                percent = int(100 * done)
                if percent > self._percent:
                    self._percent = percent
                    self.progressed.emit(percent)
                yield
        except PictureError as error:
            self._end(str(error), "warning")
        except Exception:
            self._end("The picture could not be drawn. The log says why.", "warning")
            raise

    def _all_drawn(self, picture: Picture) -> None:
        path = self._path
        if path is None:
            assert picture.image is not None
            QGuiApplication.clipboard().setImage(picture.image)
            self._end("The image is on the clipboard.", "info")
            return
        self._jobs = Jobs(self)
        self._jobs.submit("picture", lambda: self._written(picture, path), self._all_written, self._failed)

    def _written(self, picture: Picture, path: Path) -> None:
        """Pack and write, in the thread."""
        data = picture.pack()
        if self.is_running:
            atomic_write(path, data)

    def _all_written(self, _nothing: None) -> None:
        assert self._path is not None
        self._end(f"The picture is in '{self._path.name}'.", "info")

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, (PictureError, OSError)):
            fault_logger.error("A picture could not be written", exc_info=error)
        self._end(str(error), "warning")

    def _end(self, text: str, kind: str) -> None:
        if not self.is_running:
            return
        self.is_running = False
        self._take_soon.cancel()
        self._tell_soon.cancel()
        self._slices.cancel()
        picture, self._picture = self._picture, None
        if self._jobs is not None:
            self._jobs.close(0.0)
        elif picture is not None and picture.is_open:  # to end what is half drawn takes its time too
            self._ending = threading.Thread(target=picture.end, name="netcanvas-picture", daemon=True)
            self._ending.start()
        self.ended.emit(text, kind)


class PictureNote(QObject):
    """Keeps a bar in step with a picture, and takes it away at the end; it lives as long as the bar."""

    def __init__(self, bar: InfoBar, job: PictureJob) -> None:
        super().__init__(bar)
        self._bar, self._words = bar, job.words
        bar.keep()
        job.progressed.connect(self._progressed)
        job.ended.connect(self._ended)

    @classmethod
    def show(cls, bars: InfoArea, job: PictureJob) -> PictureNote:
        """Add a bar that tells of a picture, with a button that leaves it."""
        return cls(bars.add(f"{job.words}\u2026", "info", (("Cancel", job.cancel),)), job)

    @guard
    def _progressed(self, percent: int) -> None:
        self._bar.say(f"{self._words}: {percent} %" if percent < 100 else f"{self._words}: writing it\u2026")

    @guard
    def _ended(self, _text: str, _kind: str) -> None:
        self._bar.dismiss()
