"""What functions that are layers see of blobs: tensors and a workspace in Caffe2's manner."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.blob import Blob, Shape

__all__ = [
    "GradientTensor",
    "InputTensor",
    "OperatorWorkspace",
    "OutputTensor",
    "TensorError",
    "UnshapedOutputError",
    "WorkspaceUnknownError",
]

_KINDS = "fiub"


class TensorError(ValueError):
    """A function gave one of its outputs what it cannot take."""


class UnshapedOutputError(TensorError):
    """The data of an output was asked for before it had a shape."""


class WorkspaceUnknownError(LookupError):
    """A blob was fetched while only shapes are asked for, so that no blob is there."""


def _dims(dims: Sequence[Any]) -> tuple[Any, ...]:
    one = dims[0] if len(dims) == 1 else None
    return tuple(one) if one is not None and not isinstance(one, int | np.integer) else tuple(dims)


class InputTensor:
    """An input of a function, or the value of a gradient: ``data`` and ``shape``."""

    __slots__ = ("_array",)

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array

    @property
    def data(self) -> npt.NDArray[Any]:
        """The values; the blob's own memory."""
        return self._array

    @property
    def shape(self) -> Shape:
        """Dimensions, outermost first."""
        return self._array.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._array, dtype, copy=copy)


class OutputTensor:
    """An output of a function: give it a shape, then write its data; or feed it an array.

    Parameters
    ----------
    blob : Blob
        Where the values go.
    index : int
        Its number, for messages.
    dtype : dtype
        Type of the values after :meth:`reshape`.
    shaped : bool
        Whether it has its shape already.
    settled : bool
        Whether the blob's type may not change any more, since layers that read it have seen it.
    """

    __slots__ = ("_blob", "_dtype", "_index", "_settled", "_shaped")

    def __init__(self, blob: Blob, index: int, dtype: np.dtype[Any], *, shaped: bool, settled: bool) -> None:
        self._blob = blob
        self._index = index
        self._dtype = dtype
        self._shaped = shaped
        self._settled = settled

    @property
    def shaped(self) -> bool:
        """Whether the function has given it a shape."""
        return self._shaped

    @property
    def shape(self) -> Shape:
        """Dimensions, outermost first."""
        return self._blob.shape

    @property
    def data(self) -> npt.NDArray[Any]:
        """The values, to be written in place.

        Raises
        ------
        UnshapedOutputError
            If the output has no shape yet.
        """
        if not self._shaped:
            raise UnshapedOutputError(
                f"output {self._index} has no shape yet: call outputs[{self._index}].reshape(shape) before its data is "
                f"used, or outputs[{self._index}].feed(array)."
            )
        values: npt.NDArray[Any] = self._blob.data
        return values

    def reshape(self, *shape: Any) -> None:
        """Give it a shape, as one sequence or as numbers; its values are of the net's type then."""
        self.init(_dims(shape), self._blob.dtype if self._shaped else self._dtype)

    def init(self, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        """Give it a shape and the type of its values."""
        self._settle(np.dtype(dtype))
        self._blob.reshape(tuple(shape))
        self._shaped = True

    def feed(self, array: npt.ArrayLike) -> None:
        """Take shape, type and values of an array, which is copied."""
        values = np.asarray(array)
        self.init(values.shape, values.dtype)
        self._blob.data[...] = values

    def _settle(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind not in _KINDS:
            raise TensorError(f"output {self._index} was given values of type {dtype}; expected numbers or booleans.")
        if not self._settled:
            self._blob.retype(dtype)
        elif dtype != self._blob.dtype and not dtype.kind == self._blob.dtype.kind == "f":
            raise TensorError(
                f"output {self._index} was given {dtype}, and {self._blob.dtype} when the net was built. Feed one type."
            )


class GradientTensor:
    """A gradient that a gradient function computes; it has the shape of its input from the start.

    Parameters
    ----------
    array : ndarray
        Where it goes; scratch memory where nobody wants it.
    index : int
        Number of the input, for messages.
    """

    __slots__ = ("_array", "_index", "written")

    def __init__(self, array: npt.NDArray[Any], index: int) -> None:
        self._array = array
        self._index = index
        self.written = False

    @property
    def shape(self) -> Shape:
        """Dimensions, outermost first."""
        return self._array.shape

    @property
    def data(self) -> npt.NDArray[Any]:
        """The gradient, to be written in place."""
        self.written = True
        return self._array

    def reshape(self, *shape: Any) -> None:
        """Say the shape, which must be that of the input."""
        self._check(_dims(shape))

    def init(self, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        """Say the shape; gradients have the net's type."""
        self._check(tuple(shape))

    def feed(self, array: npt.ArrayLike) -> None:
        """Take the values of an array of the input's shape."""
        values = np.asarray(array)
        self._check(values.shape)
        self._array[...] = values
        self.written = True

    def _check(self, shape: tuple[Any, ...]) -> None:
        if shape != self._array.shape:
            raise TensorError(
                f"the gradient of input {self._index} was given shape {shape}; expected {self._array.shape}, that of "
                "the input."
            )


class WorkspaceBlob:
    """A blob of the net, fetched and fed by value."""

    __slots__ = ("_blob",)

    def __init__(self, blob: Blob) -> None:
        self._blob = blob

    def fetch(self) -> npt.NDArray[Any]:
        """Return a copy of the values."""
        return self._blob.read_data().copy()

    def feed(self, array: npt.ArrayLike) -> None:
        """Overwrite the values; the shape stays."""
        self._blob.data[...] = np.asarray(array)


class OperatorWorkspace:
    """The blobs of the net around a function, by name: ``workspace.blobs["x"].fetch()``.

    Parameters
    ----------
    blobs : mapping of Blob
        The net's.
    shapes_only : bool
        Whether nothing but shapes is asked for, and there may be no net.
    """

    def __init__(self, blobs: Mapping[str, Blob], *, shapes_only: bool) -> None:
        self.blobs: Mapping[str, WorkspaceBlob] = _WorkspaceBlobs(blobs, shapes_only)

    def fetch_blob(self, name: str) -> npt.NDArray[Any]:
        """Return a copy of a blob's values."""
        return self.blobs[name].fetch()

    def feed_blob(self, name: str, array: npt.ArrayLike) -> None:
        """Overwrite a blob's values."""
        self.blobs[name].feed(array)


class _WorkspaceBlobs(Mapping[str, WorkspaceBlob]):
    def __init__(self, blobs: Mapping[str, Blob], shapes_only: bool) -> None:
        self._blobs = blobs
        self._shapes_only = shapes_only

    def __getitem__(self, name: str) -> WorkspaceBlob:
        blob = self._blobs.get(name)
        if blob is not None:
            return WorkspaceBlob(blob)
        if self._shapes_only and not self._blobs:
            raise WorkspaceUnknownError(f"blob '{name}' is not there while only shapes are asked for")
        near = difflib.get_close_matches(name, self._blobs, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else f" It has: {', '.join(self._blobs) or 'none'}."
        raise KeyError(f"the net has no blob '{name}' up to here.{hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)
