"""One background thread for what must not block the window."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.qt import fault_logger, guard

__all__ = ["Jobs"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Job:
    kind: str
    serial: int
    work: Callable[[], Any]
    done: Callable[[Any], object]
    failed: Callable[[Exception], object] | None


class Jobs(QObject):
    """Run work in one thread and deliver results in the window's thread.

    Of several requests of one kind only the newest counts: waiting ones are dropped and the result of a running one
    is thrown away. The thread starts with the first request and ends with :meth:`close`.
    """

    _finished = Signal(object)
    idle = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._condition = threading.Condition()
        self._waiting: dict[str, _Job] = {}
        self._newest: dict[str, int] = {}
        self._pending = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._finished.connect(self._deliver)

    @property
    def busy(self) -> bool:
        """Whether a result is still to come."""
        return self._pending > 0

    def submit(
        self,
        kind: str,
        work: Callable[[], T],
        done: Callable[[T], object],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """Ask for ``work()`` in the thread and ``done(result)`` or ``failed(error)`` back here.

        Parameters
        ----------
        kind : str
            Requests of one kind replace each other.
        work : callable
            Must not touch widgets or anything that the window changes meanwhile.
        """
        with self._condition:
            if self._closed:
                return
            serial = self._newest.get(kind, 0) + 1
            self._newest[kind] = serial
            if self._waiting.pop(kind, None) is None:
                self._pending += 1
            self._waiting[kind] = _Job(kind, serial, work, done, failed)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="netcanvas-jobs", daemon=True)
                self._thread.start()
            self._condition.notify()

    def cancel(self, kind: str) -> None:
        """Drop the waiting request of a kind and the result of the running one."""
        with self._condition:
            self._newest[kind] = self._newest.get(kind, 0) + 1
            if self._waiting.pop(kind, None) is not None:
                self._pending -= 1

    def close(self, patience: float = 10.0) -> bool:
        """End the thread after the work it is in; results that are still due are dropped.

        Parameters
        ----------
        patience : float
            Seconds to wait for that work.

        Returns
        -------
        bool
            Whether the thread has ended; when not, it ends by itself later.
        """
        with self._condition:
            self._closed = True
            self._waiting.clear()
            self._condition.notify()
        if self._thread is not None:
            self._thread.join(patience)
            return not self._thread.is_alive()
        return True

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._waiting and not self._closed:
                    self._condition.wait()
                if self._closed:
                    return
                job = self._waiting.pop(next(iter(self._waiting)))
            try:
                outcome: Any = job.work()
                error: Exception | None = None
            except Exception as caught:
                outcome, error = None, caught
            if not self._ended():
                self._finished.emit((job, outcome, error))

    def _ended(self) -> bool:
        with self._condition:
            return self._closed

    @guard
    def _deliver(self, result: tuple[_Job, Any, Exception | None]) -> None:
        job, outcome, error = result
        self._pending -= 1
        if not self._closed and job.serial == self._newest.get(job.kind):
            if error is None:
                job.done(outcome)
            elif job.failed is not None:
                job.failed(error)
            else:
                fault_logger.error("Background job '%s' failed", job.kind, exc_info=error)
        if not self._pending:
            self.idle.emit()
