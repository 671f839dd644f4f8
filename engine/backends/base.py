"""What a backend offers: an array module, copies to and from the host, and primitive operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.ops import OpSpec

__all__ = ["Array", "Backend", "Primitive", "Workspace"]

#: An array of some backend: ``numpy.ndarray`` on the host, another type on a device.
Array: TypeAlias = Any


class Workspace:
    """Scratch memory that the primitives of one net share.

    Parameters
    ----------
    backend : Backend
        Where the memory lies.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._slots: dict[tuple[str, np.dtype[Any]], Array] = {}

    def take(self, slot: str, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        """Return scratch memory with undefined contents.

        It is the caller's until it returns: the next primitive that takes the same slot gets the same memory.

        Parameters
        ----------
        slot : str
            Buffers that are needed at the same time have different slots.
        shape : sequence of int
            Shape of the array that is returned.
        dtype : dtype
            Its element type.
        """
        count = 1
        for dim in shape:
            count *= int(dim)
        key = (slot, np.dtype(dtype))
        flat = self._slots.get(key)
        if flat is None or flat.size < count:
            flat = self._slots[key] = self._backend.empty((count,), dtype)
        return flat[:count].reshape(tuple(shape))

    def poison(self) -> None:
        """Fill all scratch memory with junk, so that a test sees who reads what nobody wrote."""
        for flat in self._slots.values():
            flat[...] = junk_value(flat.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(int(flat.nbytes) for flat in self._slots.values())


def junk_value(dtype: npt.DTypeLike) -> float | int | bool:
    """Return a value that no computation survives unnoticed: NaN, or the smallest integer."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return float("nan")
    if dtype.kind == "b":
        return True
    return int(np.iinfo(dtype).min)


class Primitive(ABC):
    """One operation of :mod:`engine.ops`, bound to a backend and to scratch memory.

    A primitive may keep what its backward pass needs from its last forward pass (the place of each maximum, for
    example); nothing else survives between calls, and shapes may change from call to call.
    """

    @abstractmethod
    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute the outputs into the arrays given.

        Parameters
        ----------
        inputs, params, outputs : sequence of array
            C-contiguous arrays of the backend. An output may be the same memory as an input only where the spec says
            ``in_place_ok``.
        """

    @abstractmethod
    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Compute gradients; ``None`` stands for one that nobody wants.

        Parameters
        ----------
        inputs, params, outputs : sequence of array
            As in the forward pass.
        output_grads : sequence of array
            Gradients of the loss with respect to the outputs.
        input_grads : sequence of (array or None)
            Overwritten.
        param_grads : sequence of (array or None)
            Accumulated into.
        """


class Backend(ABC):
    """Where a net computes.

    Attributes
    ----------
    name : str
        As chosen by :func:`engine.backends.get_backend`.
    xp : module
        The array module that layers are written against; follows numpy's interface.
    is_host : bool
        Whether arrays of the backend are host arrays, so that nothing is ever copied.
    """

    name: str
    xp: Any
    is_host: bool

    @abstractmethod
    def zeros(self, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        """Return a zero-filled array."""

    @abstractmethod
    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        """Return an array with undefined contents."""

    @abstractmethod
    def asarray(self, host: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
        """Copy a host array to the backend (the same array where the backend is the host)."""

    @abstractmethod
    def to_host(self, array: Array) -> npt.NDArray[Any]:
        """Copy an array of the backend to the host (the same array where the backend is the host)."""

    @abstractmethod
    def copy_from_host(self, host: npt.NDArray[Any], out: Array) -> None:
        """Overwrite ``out`` with a host array of the same shape."""

    @abstractmethod
    def copy_to_host(self, array: Array, out: npt.NDArray[Any]) -> None:
        """Overwrite the host array ``out`` with an array of the same shape."""

    @abstractmethod
    def primitive(self, spec: OpSpec, workspace: Workspace) -> Primitive:
        """Return a primitive for one operation.

        Raises
        ------
        engine.errors.NetError
            If neither the backend nor its fallback knows the operation.
        """

    def pointer(self, array: Array) -> int:
        """Return the address of an array in the device's memory.

        Raises
        ------
        AttributeError
            If the backend is the host, where there is no device.
        """
        if self.is_host:
            raise AttributeError(f"Backend '{self.name}' computes on the host, so that no blob has a pointer on a GPU.")
        return int(array.data.ptr)

    def mark_stale(self, array: npt.NDArray[Any]) -> None:  # noqa: B027 - a hook that most backends leave empty
        """Told that a copy in host memory no longer counts; the strict backend fills it with junk."""

    def __repr__(self) -> str:
        return f"<backend {self.name}>"
