"""The training process's side of the conversation with its viewers.

Training must never wait for a viewer. Every viewer has a thread that reads and a thread that writes from a short queue;
a viewer that does not empty its queue is let go, and can attach again and read what it missed from the run folder.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Protocol

from engine.errors import WorkerError
from engine.worker.events import Event, to_message
from engine.worker.protocol import MAX_COMMAND_BYTES, Message, ProtocolError, decode, encode
from engine.worker.transport import Endpoint, Pipe, hang_up, welcome

__all__ = ["CommandHandler", "Server"]

_QUEUE_LENGTH = 256
_POLL_SECONDS = 0.2
_DRAIN_SECONDS = 2.0

_log = logging.getLogger(__name__)


class CommandHandler(Protocol):
    """Takes a viewer's command; ``reply`` sends an event to that viewer only. Called from the viewer's thread."""

    def __call__(self, command: Message, reply: Callable[[Event], None]) -> None:
        """Obey, or send the reason why not."""


class Server:
    """Accepts viewers and tells all of them what happens.

    Parameters
    ----------
    key : bytes
        Key of the handshake.
    hello : callable
        Gives the event that greets a new viewer.
    handle : CommandHandler
        Takes what viewers send.
    """

    def __init__(self, key: bytes, hello: Callable[[], Event], handle: CommandHandler) -> None:
        self._key = key
        self._hello = hello
        self._handle = handle
        self._endpoint = Endpoint()
        self._lock = threading.Lock()
        self._viewers: set[_Viewer] = set()
        self._closing = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, name="netcanvas-accept", daemon=True)
        self._acceptor.start()

    @property
    def family(self) -> str:
        """Kind of the address."""
        return self._endpoint.family

    @property
    def address(self) -> str:
        """Where viewers connect."""
        return self._endpoint.address

    @property
    def viewers(self) -> int:
        """Number of viewers that listen now."""
        with self._lock:
            return len(self._viewers)

    def broadcast(self, event: Event) -> None:
        """Send an event to every viewer; never waits."""
        with self._lock:
            viewers = tuple(self._viewers)
        if viewers:
            block = encode(to_message(event))
            for viewer in viewers:
                viewer.post(block)

    def close(self) -> None:
        """Send what is queued, for two seconds at most, then end all threads."""
        self._closing.set()
        self._endpoint.wake()
        self._acceptor.join()
        self._endpoint.close()
        with self._lock:
            viewers = tuple(self._viewers)
        for viewer in viewers:
            viewer.finish()
        for viewer in viewers:
            viewer.join(_DRAIN_SECONDS)

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                pipe = self._endpoint.accept()
            except (OSError, EOFError) as error:
                if not self._closing.is_set():
                    _log.warning("No further viewer can attach: %s", error)
                return
            if self._closing.is_set():
                pipe.close()
                return
            _Viewer(pipe, self._key, self._admit, self._handle, self._remove).start()

    def _admit(self, viewer: _Viewer) -> None:
        with self._lock:  # the greeting comes before any event, and no event falls between the two
            viewer.post(encode(to_message(self._hello())))
            self._viewers.add(viewer)

    def _remove(self, viewer: _Viewer) -> None:
        with self._lock:
            self._viewers.discard(viewer)


class _Viewer:
    """One attached viewer."""

    def __init__(
        self,
        pipe: Pipe,
        key: bytes,
        admit: Callable[[_Viewer], None],
        handle: CommandHandler,
        remove: Callable[[_Viewer], None],
    ) -> None:
        self._pipe = pipe
        self._key = key
        self._admit = admit
        self._handle = handle
        self._remove = remove
        self._queue: queue.Queue[bytes | None] = queue.Queue(_QUEUE_LENGTH)
        self._gone = threading.Event()
        self._reader = threading.Thread(target=self._read, name="netcanvas-viewer-read", daemon=True)
        self._writer = threading.Thread(target=self._write, name="netcanvas-viewer-write", daemon=True)

    def start(self) -> None:
        self._reader.start()

    def post(self, block: bytes) -> None:
        try:
            self._queue.put_nowait(block)
        except queue.Full:
            self._let_go()

    def reply(self, event: Event) -> None:
        self.post(encode(to_message(event)))

    def finish(self) -> None:
        try:
            self._queue.put_nowait(None)
        except queue.Full:
            self._let_go()

    def join(self, timeout: float) -> None:
        self._writer.join(timeout)
        self._let_go()
        self._reader.join(timeout)

    def _let_go(self) -> None:
        self._gone.set()
        hang_up(self._pipe)

    def _read(self) -> None:
        try:
            welcome(self._pipe, self._key)
            self._admit(self)
            self._writer.start()
            while not self._gone.is_set():
                if self._pipe.poll(_POLL_SECONDS):
                    self._handle(decode(self._pipe.recv_bytes(MAX_COMMAND_BYTES)), self.reply)
        except (EOFError, OSError):
            pass  # the viewer went; the run goes on
        except (ProtocolError, WorkerError) as error:
            _log.info("A viewer was let go: %s", error)
        finally:
            self._gone.set()
            self._remove(self)
            if self._writer.ident is not None:
                self._writer.join(_DRAIN_SECONDS)
            self._pipe.close()

    def _write(self) -> None:
        try:
            while not self._gone.is_set():
                try:
                    block = self._queue.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    continue
                if block is None:
                    return
                self._pipe.send_bytes(block)
        except (OSError, ValueError):
            pass  # the reader sees the same and ends
        finally:
            self._gone.set()
