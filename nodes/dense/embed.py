"""Vectors looked up by index."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from nodes.rows import add_rows, read_indices

__all__ = ["EmbedLayer"]


class EmbedLayer(Layer):
    """The row of a matrix that each index names, plus a bias (Caffe's ``EmbedLayer``).

    Bottom: indices from 0 to ``input_dim - 1``, any shape. Top: that shape, then ``num_output``. Parameters: weight
    ``(input_dim, num_output)`` and bias ``(num_output,)``.
    """

    type = "Embed"

    _outputs: int
    _inputs: int
    _indices: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``embed_param`` and make the matrix."""
        param = self.layer_param.embed_param
        self._outputs, self._inputs = int(param.num_output), int(param.input_dim)
        for field, value in (("num_output", self._outputs), ("input_dim", self._inputs)):
            if value < 1:
                self.fail(f"expected {field} of 1 or more, got {value}.", next_step=f"Set embed_param {field}.")
        self.fill(self.blobs.add_blob(self._inputs, self._outputs), param.weight_filler)
        if param.bias_term:
            self.fill(self.blobs.add_blob(self._outputs), param.bias_filler)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Add the axis of the vectors."""
        top[0].reshape(*bottom[0].shape, self._outputs)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Look up."""
        self._indices = read_indices(self, bottom[0], self._inputs, "the rows of the matrix", bottom=0)
        vectors = top[0].data.reshape((-1, self._outputs))
        vectors[...] = self.blobs[0].data[self._indices]
        if len(self.blobs) > 1:
            vectors += self.blobs[1].data

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Add each vector's gradient to its row, and all of them to the bias."""
        if propagate_down[0]:
            self.fail("indices have no gradient.", bottom=0, next_step="Set propagate_down: false for them.")
        vectors = top[0].diff.reshape((-1, self._outputs))
        if self.param_propagate_down[0]:
            add_rows(self.xp, self.blobs[0].diff, self._indices, vectors)
        if len(self.blobs) > 1 and self.param_propagate_down[1]:
            grad = self.blobs[1].diff
            grad += vectors.sum(axis=0)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Indices have no gradient."""
        return False
