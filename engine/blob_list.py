"""The parameters of a layer, as the layer sees and adds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from engine.backends.base import Backend
from engine.blob import Blob

__all__ = ["BlobList"]


class BlobList(Sequence[Blob]):
    """The parameters of a layer, as the layer sees them.

    Parameters
    ----------
    backend : Backend, optional
        Where the net computes.
    dtype : dtype
        Element type of new blobs.
    device : bool
        Whether the layer computes on the backend's arrays rather than on host arrays.
    name : str
        Name of the layer, used to name the blobs.
    """

    def __init__(
        self,
        backend: Backend | None = None,
        *,
        dtype: npt.DTypeLike = np.float32,
        device: bool = True,
        name: str = "",
    ) -> None:
        self._backend = backend
        self._dtype = dtype
        self._device = device
        self._name = name
        self._views: list[Blob] = []

    def add_blob(self, *shape: int | Sequence[int]) -> Blob:
        """Add a parameter of the given shape, zero-filled, and return it."""
        blob = Blob(dtype=self._dtype, backend=self._backend, name=f"{self._name}[{len(self._views)}]")
        blob.reshape(*shape)
        view = blob.on_device() if self._device else blob
        self._views.append(view)
        return view

    @property
    def on_host(self) -> list[Blob]:
        """The blobs as users see them."""
        return [view.on_host for view in self._views]

    @overload
    def __getitem__(self, index: int) -> Blob: ...

    @overload
    def __getitem__(self, index: slice) -> list[Blob]: ...

    def __getitem__(self, index: int | slice) -> Blob | list[Blob]:
        return self._views[index]

    def __len__(self) -> int:
        return len(self._views)

    def __iter__(self) -> Iterator[Blob]:
        return iter(self._views)
