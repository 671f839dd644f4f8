"""Shapes of one layer by itself: its own ``setup`` and ``reshape``, on blobs whose memory nobody touches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends import Backend
from engine.blob import Blob, Shape
from engine.layer import Layer, binding
from engine.net.build import check_counts
from engine.net.nodes import call_layer

__all__ = ["shape_layer"]


class _Top(Blob):
    """A top that knows whether the layer has given it a shape."""

    __slots__ = ("shaped",)

    def __init__(
        self,
        shape: Sequence[int] = (),
        *,
        dtype: npt.DTypeLike = np.float32,
        backend: Backend | None = None,
        name: str = "",
    ) -> None:
        super().__init__(shape, dtype=dtype, backend=backend, name=name)
        self.shaped = False

    def reshape(self, *dims: int | Sequence[int]) -> None:
        super().reshape(*dims)
        self.shaped = True


def shape_layer(
    layer: Layer, layer_param: Any, bottom_shapes: Sequence[Shape], tell: Callable[[str], None] = lambda stage: None
) -> tuple[tuple[Shape | None, ...], tuple[Shape, ...]]:
    """Set a layer up for bottoms of the given shapes, close it, and return the shapes of its named tops and params.

    The shape of a top that the layer does not touch, because it shapes it in ``forward``, is None.

    Parameters
    ----------
    layer : Layer
        Bound, not yet set up.
    layer_param : LayerParameter
        Its message.
    bottom_shapes : sequence of shapes
        One for each bottom.
    tell : callable
        Told ``setup`` and ``reshape`` before each runs.

    Raises
    ------
    engine.errors.LayerError
        If the shapes or numbers do not fit, or the layer's own code fails.
    """
    bottoms = [Blob(shape, name=name) for name, shape in zip(layer_param.bottom, bottom_shapes, strict=True)]
    tops: list[Blob] = []
    for index, name in enumerate(layer_param.top):
        in_place = index < len(bottoms) and layer_param.bottom[index] == name
        tops.append(bottoms[index] if in_place else _Top(name=name))
    bound = binding(layer)
    unnamed = [Blob(()) for _ in range(len(tops), bound.info.min_tops)] if layer.auto_top_blobs else []
    check_counts(layer)
    tell("setup")
    call_layer(layer, "setup", bottoms, tops + unnamed)
    try:
        tell("reshape")
        call_layer(layer, "reshape", bottoms, tops + unnamed)
        shapes = (None if isinstance(blob, _Top) and not blob.shaped else blob.shape for blob in tops)
        return tuple(shapes), tuple(blob.shape for blob in bound.blobs)
    finally:
        call_layer(layer, "close")
