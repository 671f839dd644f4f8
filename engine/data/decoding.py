"""Threads that decode the images of a batch; decoders run without Python's lock, so that several help."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["DecodePool"]

_MOST = 4

T = TypeVar("T")
R = TypeVar("R")


class DecodePool:
    """A few threads, started when first needed; they end with :meth:`close` or when the pool is collected."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Return the function's results in the order of the items; the first error in that order is raised."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(min(_MOST, os.cpu_count() or 1), thread_name_prefix="decode images")
        return list(self._threads.map(function, items))

    def close(self) -> None:
        """End the threads."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
