"""Blobs of another element type than the net's, as layers that know only the net's see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.blob import Blob
from engine.errors import LayerError
from engine.layer import Binding, LayerContext

__all__ = ["Conversion", "converted"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A blob and its like in the net's element type.

    Attributes
    ----------
    port : int
        Which bottom of the layer it is.
    blob, seen : Blob
        The net's blob, and what the layer sees of it.
    """

    port: int
    blob: Blob
    seen: Blob

    def reshape(self) -> None:
        """Bring a new shape to the layer."""
        self.seen.reshape(self.blob.shape)

    def forward(self) -> None:
        """Bring shape and values to the layer."""
        self.seen.reshape(self.blob.shape)
        self.seen.data[...] = self.blob.read_data()

    def backward(self) -> None:
        """Bring the gradient to the net."""
        self.blob.diff[...] = self.seen.read_diff()


def converted(bottoms: Sequence[Blob], context: LayerContext, bound: Binding) -> tuple[list[Blob], list[Conversion]]:
    """Return what a layer sees of its bottoms, and what has to be brought over in each pass.

    Raises
    ------
    LayerError
        If the layer works in place on a blob that it cannot see as it is.
    """
    seen = list(bottoms)
    conversions = []
    for port, blob in enumerate(bottoms):
        if blob.dtype == context.dtype:
            continue
        if blob.name in bound.layer_param.top:
            raise LayerError(
                bound.name,
                bound.type,
                f"expected {context.dtype} to work on in place, got '{blob.name}' of {blob.dtype}.",
                port=f"bottom {port}",
                next_step="Give the top a name of its own.",
            )
        seen[port] = Blob(blob.shape, dtype=context.dtype, backend=context.backend, name=blob.name)
        conversions.append(Conversion(port, blob, seen[port]))
    return seen, conversions
