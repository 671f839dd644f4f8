"""Blobs: named tensors with data and a gradient.

Users, scripts and Python layers see C-contiguous host arrays. Where the net computes on a device, built-in layers see
the same blobs through :class:`DeviceBlob`, whose arrays are the device's. Copies travel only when the other side looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.base import Array, Backend
from engine.synced_memory import SyncedMemory

__all__ = ["Blob", "DeviceBlob", "Shape"]

Shape = tuple[int, ...]


def _host_backend() -> Backend:
    from engine.backends import get_backend  # blobs are below the backends' package

    return get_backend("numpy")


def _dims_of(value: Any) -> tuple[Any, ...]:
    """Return the dimensions in a sequence, or a number as the only one."""
    try:
        return tuple(value)
    except TypeError:
        return (value,)


class Blob:
    """A tensor with data and a gradient (``diff``) of one shape.

    Memory comes on first touch and is zero-filled, so shapes alone cost nothing. A blob that shrinks keeps its memory.

    Parameters
    ----------
    shape : sequence of int
        Initial shape; ``()`` is a scalar with one element.
    dtype : dtype
        Element type, float32 unless the owner needs another.
    backend : Backend, optional
        Where the blob may have a second copy; the host when omitted.
    name : str
        Name in the net, for messages.
    """

    __slots__ = (
        "__weakref__",
        "_backend",
        "_count",
        "_data",
        "_data_view",
        "_diff",
        "_diff_dtype",
        "_diff_view",
        "_shape",
        "dtype",
        "name",
    )

    def __init__(
        self,
        shape: Sequence[int] = (),
        *,
        dtype: npt.DTypeLike = np.float32,
        backend: Backend | None = None,
        name: str = "",
    ) -> None:
        self.name = name
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._backend = backend if backend is not None else _host_backend()
        self._shape: Shape = ()
        self._count = 1
        self._diff_dtype = self.dtype
        self._data = SyncedMemory(self._backend, 1, self.dtype)
        self._diff = SyncedMemory(self._backend, 1, self.dtype)
        self._data_view: npt.NDArray[Any] | None = None
        self._diff_view: npt.NDArray[Any] | None = None
        self.reshape(shape)

    # -- shape ---------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Dimensions, outermost first (N, C, H, W for images)."""
        return self._shape

    @property
    def count(self) -> int:
        """Number of elements."""
        return self._count

    @property
    def axes(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def reshape(self, *dims: int | Sequence[int]) -> None:
        """Change the shape; memory is kept when it suffices.

        Parameters
        ----------
        *dims : int, or one sequence of int
            New dimensions; zero is allowed and gives an empty blob.

        Raises
        ------
        ValueError
            If a dimension is negative.
        """
        given = dims if len(dims) != 1 or isinstance(dims[0], int) else _dims_of(dims[0])
        if given == self._shape:
            return
        shape = tuple(map(int, given))
        if shape != given:  # a whole float is what old plugins get from a division
            raise TypeError(f"Blob '{self.name}': expected whole numbers as dimensions, got {given}.")
        count = 1
        for dim in shape:
            if dim < 0:
                raise ValueError(f"Blob '{self.name}': expected dimensions of 0 or more, got shape {shape}.")
            count *= dim
        self._shape = shape
        self._count = count
        self._data = self._resized(self._data, count)
        self._diff = self._resized(self._diff, count)
        self._data_view = self._diff_view = None

    def _resized(self, memory: SyncedMemory, count: int) -> SyncedMemory:
        if count > memory.capacity:
            return SyncedMemory(self._backend, count, memory.dtype)
        memory.resize(count)
        return memory

    def retype(self, dtype: npt.DTypeLike) -> None:
        """Change the type of the values; they become zero, and no longer share memory.

        The gradient takes a floating type too. With values that are no such numbers it keeps the type it has.
        """
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return
        self.dtype = dtype
        self._data = SyncedMemory(self._backend, self._count, dtype)
        if dtype.kind == "f" and dtype != self._diff_dtype:
            self._diff_dtype = dtype
            self._diff = SyncedMemory(self._backend, self._count, dtype)
        self._data_view = self._diff_view = None

    def reshape_like(self, other: Blob) -> None:
        """Take the shape of another blob."""
        if other.shape != self._shape:
            self.reshape(other.shape)

    def _legacy_dim(self, axis: int) -> int:
        if len(self._shape) > 4:
            raise ValueError(
                f"Blob '{self.name}': num, channels, height and width need at most 4 axes, got {self._shape}."
            )
        return self._shape[axis] if axis < len(self._shape) else 1

    @property
    def num(self) -> int:
        """First dimension of a blob with at most 4; 1 where it has none (Caffe's older interface)."""
        return self._legacy_dim(0)

    @property
    def channels(self) -> int:
        """Second dimension; see :attr:`num`."""
        return self._legacy_dim(1)

    @property
    def height(self) -> int:
        """Third dimension; see :attr:`num`."""
        return self._legacy_dim(2)

    @property
    def width(self) -> int:
        """Fourth dimension; see :attr:`num`."""
        return self._legacy_dim(3)

    # -- arrays --------------------------------------------------------------------------------------------------

    @property
    def data(self) -> Array:
        """Values: a C-contiguous, writable host array of :attr:`shape`; a view, not a copy."""
        view = self._data_view
        if view is not None and view.shape == self._shape:  # an old layer may have set the shape of what it was given
            return view
        view = self._data.on_host()[: self._count].reshape(self._shape)
        if self._backend.is_host:
            self._data_view = view
        return view

    @property
    def diff(self) -> Array:
        """Gradient of the loss: an array like :attr:`data`."""
        view = self._diff_view
        if view is not None and view.shape == self._shape:
            return view
        view = self._diff.on_host()[: self._count].reshape(self._shape)
        if self._backend.is_host:
            self._diff_view = view
        return view

    def read_data(self) -> npt.NDArray[Any]:
        """Return the values for reading only, which costs a device nothing but one copy."""
        return self._data.peek()[: self._count].reshape(self._shape)

    def read_diff(self) -> npt.NDArray[Any]:
        """Return the gradient for reading only; see :meth:`read_data`."""
        return self._diff.peek()[: self._count].reshape(self._shape)

    @property
    def _gpu_data_ptr(self) -> int:
        """Address of the values on the device, which the caller may change (pycaffe's name)."""
        return self._backend.pointer(self.on_device().data)

    @property
    def _gpu_diff_ptr(self) -> int:
        """Address of the gradient on the device; see :attr:`_gpu_data_ptr`."""
        return self._backend.pointer(self.on_device().diff)

    def on_device(self) -> Blob:
        """Return this blob as layers of its backend see it: itself on the host."""
        return self if self._backend.is_host else DeviceBlob(self)

    @property
    def on_host(self) -> Blob:
        """The blob as users see it."""
        return self

    # -- sharing -------------------------------------------------------------------------------------------------

    def share_data(self, other: Blob) -> None:
        """Make the values one memory with another blob of the same count.

        Raises
        ------
        ValueError
            If counts or element types differ.
        """
        source = other.on_host
        self._check_shareable(source, self.dtype, source.dtype)
        if self._data is not source._data:
            self._data = source._data
            self._data_view = None

    def share_diff(self, other: Blob) -> None:
        """Make the gradient one memory with another blob of the same count; see :meth:`share_data`."""
        source = other.on_host
        self._check_shareable(source, self._diff_dtype, source._diff_dtype)
        if self._diff is not source._diff:
            self._diff = source._diff
            self._diff_view = None

    def _check_shareable(self, other: Blob, mine: np.dtype[Any], theirs: np.dtype[Any]) -> None:
        if other._count != self._count or mine != theirs:
            raise ValueError(
                f"Blob '{self.name}' of shape {self._shape} ({mine}) cannot share memory with blob "
                f"'{other.name}' of shape {other._shape} ({theirs}): counts and element types must be equal."
            )

    def shares_data_with(self, other: Blob) -> bool:
        """Whether both blobs' values are one memory."""
        return self._data is other.on_host._data

    def __repr__(self) -> str:
        return f"<Blob '{self.name}' {self._shape} {self.dtype}>"


class DeviceBlob(Blob):
    """A blob as a layer on a device sees it: shape and name are the blob's own, arrays the device's.

    Parameters
    ----------
    blob : Blob
        The blob that is looked at.
    """

    __slots__ = ("_blob",)

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self.name = blob.name
        self._backend = blob._backend

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]  # a slot of the base
        """Element type of the blob."""
        return self._blob.dtype

    def retype(self, dtype: npt.DTypeLike) -> None:
        """Change the type of the blob's values."""
        self._blob.retype(dtype)

    @property
    def shape(self) -> Shape:
        """Dimensions of the blob."""
        return self._blob._shape

    @property
    def count(self) -> int:
        """Number of elements."""
        return self._blob._count

    @property
    def axes(self) -> int:
        """Number of dimensions."""
        return len(self._blob._shape)

    def reshape(self, *dims: int | Sequence[int]) -> None:
        """Change the shape of the blob."""
        self._blob.reshape(*dims)

    def reshape_like(self, other: Blob) -> None:
        """Take the shape of another blob."""
        self._blob.reshape(other.shape)

    def _legacy_dim(self, axis: int) -> int:
        return self._blob._legacy_dim(axis)

    @property
    def data(self) -> Array:
        """Values as an array of the device."""
        blob = self._blob
        return blob._data.on_device()[: blob._count].reshape(blob._shape)

    @property
    def diff(self) -> Array:
        """Gradient as an array of the device."""
        blob = self._blob
        return blob._diff.on_device()[: blob._count].reshape(blob._shape)

    def read_data(self) -> npt.NDArray[Any]:
        """Return a host copy of the values for reading only."""
        return self._blob.read_data()

    def read_diff(self) -> npt.NDArray[Any]:
        """Return a host copy of the gradient for reading only."""
        return self._blob.read_diff()

    def on_device(self) -> Blob:
        """Return this view."""
        return self

    @property
    def on_host(self) -> Blob:
        """The blob that is looked at."""
        return self._blob

    def share_data(self, other: Blob) -> None:
        """Make the values one memory with another blob."""
        self._blob.share_data(other)

    def share_diff(self, other: Blob) -> None:
        """Make the gradient one memory with another blob."""
        self._blob.share_diff(other)

    def shares_data_with(self, other: Blob) -> bool:
        """Whether both blobs' values are one memory."""
        return self._blob.shares_data_with(other)

    def __repr__(self) -> str:
        return f"<DeviceBlob '{self.name}' {self.shape} {self.dtype}>"
