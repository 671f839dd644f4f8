"""One input repeated along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from engine.ops import product

__all__ = ["TileLayer"]


class TileLayer(Layer):
    """Repeats its bottom ``tiles`` times along ``axis``, whole after whole (Caffe's ``TileLayer``)."""

    type = "Tile"

    _tiles: int

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``tile_param``."""
        self._tiles = int(self.layer_param.tile_param.tiles)
        if self._tiles < 1:
            self.fail(f"expected tiles of 1 or more, got {self._tiles}.", next_step="Set tile_param tiles.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Lengthen the axis."""
        shape = list(bottom[0].shape)
        shape[self._axis(bottom[0])] *= self._tiles
        top[0].reshape(shape)

    def _axis(self, blob: Blob) -> int:
        return self.axis(self.layer_param.tile_param.axis, blob)

    def _tiled(self, array: Array, blob: Blob) -> Array:
        """Return a top's array with an axis of its own for the repetitions: ``(outer, tiles, inner)``."""
        axis = self._axis(blob)
        return array.reshape((product(blob.shape[:axis]), self._tiles, product(blob.shape[axis:])))

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy."""
        repeated = self._tiled(top[0].data, bottom[0])
        repeated[...] = bottom[0].data.reshape((repeated.shape[0], 1, repeated.shape[2]))

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Sum over the copies."""
        if propagate_down[0]:
            repeated = self._tiled(top[0].diff, bottom[0])
            self.xp.sum(repeated, axis=1, out=bottom[0].diff.reshape((repeated.shape[0], repeated.shape[2])))
