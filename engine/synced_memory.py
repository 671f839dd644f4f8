"""Memory with a copy on the host and one on a device, of which one or both are up to date.

The states are those of Caffe's SyncedMemory: untouched, newest on the host, newest on the device, equal.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.base import Array, Backend

__all__ = ["SyncedMemory"]


class Head(enum.Enum):
    """Which copy counts."""

    UNTOUCHED = 0
    HOST = 1
    DEVICE = 2
    EQUAL = 3


class SyncedMemory:
    """Flat storage behind one or several blobs.

    ``extent`` is the number of elements in use. What lies beyond it is zeroed before it comes into use again, so that a
    blob that shrinks and grows never shows old values.
    """

    __slots__ = ("backend", "capacity", "device", "dtype", "extent", "head", "host")

    def __init__(self, backend: Backend, capacity: int, dtype: np.dtype[Any]) -> None:
        self.backend = backend
        self.capacity = capacity
        self.dtype = dtype
        self.extent = capacity
        self.head = Head.UNTOUCHED
        self.host: npt.NDArray[Any] | None = None
        self.device: Array | None = None

    def resize(self, count: int) -> None:
        """Bring ``count`` elements into use; ``count`` is at most the capacity."""
        if count > self.extent:
            if self.host is not None and self.head in (Head.HOST, Head.EQUAL):
                self.host[self.extent : count] = 0
            if self.device is not None and self.head in (Head.DEVICE, Head.EQUAL):
                self.device[self.extent : count] = 0
        self.extent = count

    def on_host(self) -> npt.NDArray[Any]:
        """Return the host copy, which the caller may change."""
        if self.host is None:
            self.host = self._zeros()
        if self.head is Head.DEVICE:
            self.backend.copy_to_host(self.device, self.host)
        if self.head is not Head.HOST:
            self.head = Head.HOST
            if self.device is not None:
                self.backend.mark_stale(self.device)
        return self.host

    def on_device(self) -> Array:
        """Return the device copy, which the caller may change."""
        if self.device is None:
            self.device = self.backend.zeros((self.capacity,), self.dtype)
        if self.head is Head.HOST:
            self.backend.copy_from_host(self._host_copy(), self.device)
        if self.head is not Head.DEVICE:
            self.head = Head.DEVICE
            if self.host is not None:
                self.backend.mark_stale(self.host)
        return self.device

    def peek(self) -> npt.NDArray[Any]:
        """Return a host copy for reading only; the device's stays valid."""
        if self.head is Head.DEVICE:
            if self.host is None:
                self.host = self._zeros()
            self.backend.copy_to_host(self.device, self.host)
            self.head = Head.EQUAL
        elif self.head is Head.UNTOUCHED:
            return self.on_host()
        return self._host_copy()

    def _zeros(self) -> npt.NDArray[Any]:
        try:
            return np.zeros(self.capacity, self.dtype)
        except ValueError as error:  # more than numpy can count
            raise MemoryError(f"Unable to allocate {self.capacity} values of type {self.dtype}") from error

    def _host_copy(self) -> npt.NDArray[Any]:
        assert self.host is not None  # the head says that the host was written
        return self.host
