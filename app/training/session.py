"""One run that the panel shows: a thread listens to it, the window's thread keeps a model up to date."""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.qt import guard
from app.training.model import RunModel
from engine.errors import NetcanvasError
from engine.worker import (
    Event,
    Failure,
    LogTail,
    Output,
    RunFolder,
    RunStatus,
    TensorReply,
    TrainingProcess,
    Viewer,
    attach,
    kill,
    read_history,
)

__all__ = ["Opening", "TrainingSession"]

Opening = Callable[[], tuple[RunFolder, TrainingProcess | None]]

_UPDATE_SECONDS = 0.05
_LISTEN_SECONDS = 0.1
_JOIN_SECONDS = 5.0

_log = logging.getLogger(__name__)


class TrainingSession(QObject):
    """Shows one run, live or from its folder.

    Parameters
    ----------
    opening : callable
        Gives the run and, where it started one, its process. Called in the session's thread: it may take its time.

    Attributes
    ----------
    changed : Signal()
        The model changed; sent at most 20 times a second.
    opened : Signal()
        :attr:`run` is known.
    tensor_came : Signal(TensorReply)
        The answer to :meth:`ask_weights`.
    """

    changed = Signal()
    opened = Signal()
    tensor_came = Signal(object)
    _arrived = Signal()

    def __init__(self, opening: Opening, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model = RunModel(state="waiting")
        self.run: RunFolder | None = None
        self.wish = ""
        self._opening = opening
        self._awaited: str | None = None
        self._viewer: Viewer | None = None
        self._process: TrainingProcess | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._inbox: collections.deque[Callable[[], None]] = collections.deque()
        self._updated = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._take)
        self._arrived.connect(self._schedule)
        self._thread = threading.Thread(target=self._listen, name="netcanvas-training-view", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def leave(self) -> None:
        """Leave the run, which goes on; the thread ends by itself before long."""
        self._closing.set()
        self._timer.stop()

    @property
    def is_over(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def close(self) -> None:
        """Leave the run, which goes on, and wait for the end of the thread."""
        self.leave()
        if self._thread.ident is not None:
            self._thread.join(_JOIN_SECONDS)

    @property
    def snapshot_path(self) -> Path | None:
        """Newest solver state of the run."""
        return self.run.last_snapshot() if self.run else None

    # Commands, from the window's thread

    def pause(self) -> None:
        """Ask the run to wait."""
        self._ask("pause", Viewer.pause)

    def resume(self) -> None:
        """Ask the run to go on."""
        self._ask("resume", Viewer.resume)

    def snapshot(self) -> None:
        """Ask for a snapshot."""
        self._ask("", Viewer.snapshot)

    def ask_weights(self, layer: str) -> None:
        """Ask for the first param of a layer, once at a time: what is asked before the answer is asked after it."""
        if self._awaited is not None:
            self._awaited = layer
            return
        with self._lock:
            viewer = self._viewer
        if viewer is not None:
            self._awaited = layer
            viewer.request_tensor(layer)

    def stop(self) -> None:
        """Ask the run to end; where that was asked before, end it at once."""
        if self.wish == "stop":
            self._kill()
        else:
            self._ask("stop", Viewer.stop)

    def _ask(self, wish: str, command: Callable[[Viewer], None]) -> None:
        self.wish = wish or self.wish
        with self._lock:
            viewer = self._viewer
        if viewer is not None:
            command(viewer)
        self.changed.emit()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
        elif self.run is not None:
            kill(self.run)

    # The session's thread

    def _listen(self) -> None:
        try:
            run, process = self._opening()
            self._process = process
            self._post(lambda: self._set_run(run))
            status = run.status(returncode=process.returncode if process else None)
            if process is not None or status.active:
                self._follow(run, process)
            else:
                self._show(run, status)
        except NetcanvasError as error:
            self._show_fault(str(error))
        except Exception as error:
            _log.exception("The view of a run broke")
            self._show_fault(f"The run cannot be shown: {error}")

    def _follow(self, run: RunFolder, process: TrainingProcess | None) -> None:
        try:
            viewer = attach(run, process=process, cancelled=self._closing.is_set)
        except NetcanvasError:
            status = run.status(returncode=process.returncode if process else None)
            if self._closing.is_set():
                return
            if status.active:
                raise
            self._show(run, status)
            return
        with viewer:
            # After attaching: what happens from now on comes as an event, and what the file holds already is skipped.
            self._show(run, run.read_status())
            with self._lock:
                self._viewer = viewer
            if self.wish == "stop":
                viewer.stop()
            while not viewer.ended and not self._closing.is_set():
                events = viewer.events(_LISTEN_SECONDS)
                if events:
                    self._post_events(events)
            with self._lock:
                self._viewer = None

    def _show(self, run: RunFolder, status: RunStatus) -> None:
        history = read_history(run.metrics_file)
        self._post(lambda: self.model.load(status, history))
        if not status.active:
            self._post_events([Output(LogTail(run.log_file).read())])

    def _show_fault(self, text: str) -> None:
        self._post_events([Failure(text)])

    def _post_events(self, events: list[Event]) -> None:
        replies = [event for event in events if isinstance(event, TensorReply)]
        self._post(lambda: self.model.apply_all(events))
        if replies:
            self._post(lambda: self._take_reply(replies[-1]))

    def _take_reply(self, reply: TensorReply) -> None:
        awaited, self._awaited = self._awaited, None
        self.tensor_came.emit(reply)
        if awaited is not None and awaited != reply.name:
            self.ask_weights(awaited)

    def _post(self, change: Callable[[], None]) -> None:
        with self._lock:
            self._inbox.append(change)
            first = len(self._inbox) == 1
        if first and not self._closing.is_set():
            self._arrived.emit()

    # The window's thread

    def _set_run(self, run: RunFolder) -> None:
        self.run = run
        self.opened.emit()

    @guard
    def _schedule(self) -> None:
        if not self._timer.isActive() and not self._closing.is_set():
            wait = self._updated + _UPDATE_SECONDS - time.monotonic()
            self._timer.start(max(0, round(1000 * wait)))

    @guard
    def _take(self) -> None:
        self._updated = time.monotonic()
        with self._lock:
            changes = tuple(self._inbox)
            self._inbox.clear()
        for change in changes:
            change()
        if (self.wish, self.model.state) in (("pause", "paused"), ("resume", "running")) or not self.model.live:
            self.wish = ""
        self.changed.emit()
