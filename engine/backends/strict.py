"""A stand-in for a device, to find host/device mistakes on machines without one.

Its arrays hold host memory but behave like a device's: numpy may not convert or mix with them silently, and whichever
copy of a blob is out of date is filled with junk. A layer that runs here with the same results as on ``numpy`` takes
its array module from the backend, as it must.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.base import Backend, Primitive, Workspace, junk_value
from engine.ops import OpSpec

__all__ = ["StrictArray", "StrictBackend", "StrictModule"]


class StrictArray:
    """An array that only the array module of its backend may touch.

    Parameters
    ----------
    host : ndarray
        The memory behind it.
    """

    __slots__ = ("_host",)
    __hash__ = None  # type: ignore[assignment]  # as with numpy's arrays, == gives an array

    def __init__(self, host: npt.NDArray[Any]) -> None:
        self._host = host

    # numpy asks for these before it converts or mixes
    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        raise TypeError(
            "A device array was converted to numpy silently. Use the layer's xp for computing, or backend.to_host."
        )

    __array_ufunc__ = None  # makes ndarray's operators refuse the mix
    __array_priority__ = 1000

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions."""
        return self._host.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self._host.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._host.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._host.size

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self._host.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next, for each dimension."""
        return self._host.strides

    @property
    def flags(self) -> Any:
        """Layout flags, as numpy's."""
        return self._host.flags

    @property
    def T(self) -> StrictArray:
        """Transposed view."""
        return StrictArray(self._host.T)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # interfaces through which numpy would take the memory
            raise AttributeError(name)
        method = getattr(self._host, name)
        if not callable(method):
            raise AttributeError(f"device arrays do not offer '{name}'")
        if name in ("tolist", "tobytes", "tofile"):
            raise AttributeError(f"device arrays do not offer '{name}'; copy with backend.to_host first")
        return _wrapped(method)

    def __getitem__(self, key: Any) -> Any:
        return _wrap(self._host[_unwrap(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._host[_unwrap(key)] = _unwrap(value)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[Any]:
        return (_wrap(item) for item in self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __bool__(self) -> bool:
        return bool(self._host)

    def __index__(self) -> int:
        return int(self._host.__index__())

    def __repr__(self) -> str:
        return f"StrictArray(shape={self.shape}, dtype={self.dtype})"


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: StrictArray, *others: Any) -> Any:
        result = getattr(self._host, name)(*(_unwrap(other) for other in others))
        if result is NotImplemented:
            return result
        return self if result is self._host else _wrap(result)

    apply.__name__ = name
    return apply


for _stem in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    for _prefix in ("", "r", "i"):
        setattr(StrictArray, f"__{_prefix}{_stem}__", _operator(f"__{_prefix}{_stem}__"))
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "eq", "ne", "gt", "ge"):
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))


def _unwrap(value: Any) -> Any:
    """Return the memory behind device arrays, refusing host arrays (scalars apart, as cupy does)."""
    if isinstance(value, StrictArray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"A host array of shape {value.shape} was mixed with device arrays. Copy it with backend.asarray first."
        )
    if isinstance(value, tuple):
        return tuple(_unwrap(item) for item in value)
    if isinstance(value, list):
        return [_unwrap(item) for item in value]
    return value


def _wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    if isinstance(value, np.generic):  # a reduction of a device array is a 0-d device array
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple):
        return tuple(_wrap(item) for item in value)
    if isinstance(value, list):
        return [_wrap(item) for item in value]
    return value


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _wrap(function(*(_unwrap(arg) for arg in args), **{name: _unwrap(arg) for name, arg in kwargs.items()}))

    call.__name__ = getattr(function, "__name__", "call")
    return call


class StrictModule:
    """numpy's functions for :class:`StrictArray`.

    Parameters
    ----------
    module : module
        numpy, or one of its submodules.
    """

    #: What would move data between host and device unseen.
    _REFUSED = frozenset({"save", "load", "frombuffer", "memmap", "array2string", "testing"})

    def __init__(self, module: types.ModuleType = np) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name in self._REFUSED:
            raise AttributeError(f"the device's array module does not offer '{name}'")
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType):
            value: Any = StrictModule(found)
        elif isinstance(found, type) or not callable(found):
            value = found  # dtypes, errstate, constants
        elif isinstance(found, np.ufunc):
            value = _StrictUfunc(found)
        else:
            value = _wrapped(found)
        self.__dict__[name] = value
        return value


class _StrictUfunc:
    """A numpy ufunc with its methods (``add.at``, ``maximum.reduce``, ...)."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc
        self._call = _wrapped(ufunc)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return _wrapped(getattr(self._ufunc, name))


class StrictBackend(Backend):
    """The stand-in device."""

    name = "strict"
    is_host = False

    def __init__(self) -> None:
        self.xp = StrictModule()

    def zeros(self, shape: Sequence[int], dtype: npt.DTypeLike) -> StrictArray:
        """Return a zero-filled array."""
        return StrictArray(np.zeros(tuple(shape), dtype))

    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike) -> StrictArray:
        """Return an array filled with junk."""
        return StrictArray(np.full(tuple(shape), junk_value(dtype), dtype))

    def asarray(self, host: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> StrictArray:
        """Copy a host array to the device."""
        return StrictArray(np.array(host, dtype))

    def to_host(self, array: StrictArray) -> npt.NDArray[Any]:
        """Copy an array to the host."""
        return array._host.copy()

    def copy_from_host(self, host: npt.NDArray[Any], out: StrictArray) -> None:
        """Overwrite a device array with a host array."""
        np.copyto(out._host, host)

    def copy_to_host(self, array: StrictArray, out: npt.NDArray[Any]) -> None:
        """Overwrite a host array with a device array."""
        np.copyto(out, array._host)

    def pointer(self, array: StrictArray) -> int:
        """Return the address of the memory behind an array."""
        return int(array._host.ctypes.data)

    def mark_stale(self, array: Any) -> None:
        """Fill the copy that is out of date with junk, so that nobody uses it unnoticed."""
        memory = array._host if isinstance(array, StrictArray) else array
        memory[...] = junk_value(memory.dtype)

    def primitive(self, spec: OpSpec, workspace: Workspace) -> Primitive:
        """Return the kernel for an operation."""
        from engine.backends.kernels import array_primitive  # loads every kernel

        return array_primitive(spec, self.xp, workspace)
