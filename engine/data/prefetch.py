"""Batches made ahead in a background thread."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable

from engine.data.batches import Batch

__all__ = ["Prefetcher"]

_POLL_SECONDS = 0.1

Produce = Callable[[Batch | None], Batch]


class Prefetcher:
    """Runs a producer in a thread, at most ``depth`` batches ahead of its consumer.

    The order of batches is that of the producer, so nothing depends on timing. The thread ends when :meth:`close` is
    called or the prefetcher is collected.

    Parameters
    ----------
    produce : callable
        Makes the next batch; it is given a used one whose memory it may take, or None.
    depth : int
        Number of batches that may wait.
    name : str
        Name of the thread.
    """

    def __init__(self, produce: Produce, depth: int, name: str) -> None:
        self._ready: queue.Queue[Batch | BaseException] = queue.Queue(max(depth, 1))
        self._used: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._current: Batch | None = None
        stop = threading.Event()
        self._thread = threading.Thread(
            target=_work, args=(produce, self._ready, self._used, stop), name=f"prefetch {name}", daemon=True
        )
        self._finalizer = weakref.finalize(self, _end, self._thread, self._ready, stop)
        self._thread.start()

    def next(self) -> Batch:
        """Return the next batch, waiting for it; an error of the producer is raised here."""
        if self._current is not None:
            self._used.put(self._current)
            self._current = None
        item = self._ready.get()
        if isinstance(item, BaseException):
            self.close()
            raise item
        self._current = item
        return item

    def close(self) -> None:
        """End the thread and wait for it."""
        self._finalizer()


def _work(
    produce: Produce,
    ready: queue.Queue[Batch | BaseException],
    used: queue.SimpleQueue[Batch],
    stop: threading.Event,
) -> None:
    while not stop.is_set():
        item: Batch | BaseException
        try:
            item = produce(None if used.empty() else used.get_nowait())
        except BaseException as error:
            item = error
        while not stop.is_set():
            try:
                ready.put(item, timeout=_POLL_SECONDS)
                break
            except queue.Full:
                continue
        if isinstance(item, BaseException):
            return


def _end(thread: threading.Thread, ready: queue.Queue[Batch | BaseException], stop: threading.Event) -> None:
    stop.set()
    while thread.is_alive() and thread is not threading.current_thread():
        try:
            ready.get_nowait()
        except queue.Empty:
            thread.join(_POLL_SECONDS)
