"""The reference backend: numpy on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.base import Backend, Primitive, Workspace
from engine.ops import OpSpec

__all__ = ["NumpyBackend"]


class NumpyBackend(Backend):
    """Computes with numpy; its arrays are the users' arrays, so nothing is ever copied."""

    name = "numpy"
    xp = np
    is_host = True

    def zeros(self, shape: Sequence[int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return a zero-filled array."""
        return np.zeros(tuple(shape), dtype)

    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array with undefined contents."""
        return np.empty(tuple(shape), dtype)

    def asarray(self, host: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
        """Return the array itself, or a converted copy."""
        return np.asarray(host, dtype)

    def to_host(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the array itself."""
        return array

    def copy_from_host(self, host: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Copy between two host arrays."""
        np.copyto(out, host)

    def copy_to_host(self, array: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Copy between two host arrays."""
        np.copyto(out, array)

    def primitive(self, spec: OpSpec, workspace: Workspace) -> Primitive:
        """Return the kernel for an operation."""
        from engine.backends.kernels import array_primitive  # loads every kernel

        return array_primitive(spec, np, workspace)
