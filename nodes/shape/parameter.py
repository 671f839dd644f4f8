"""Learned values as a blob."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer

__all__ = ["ParameterLayer"]


class ParameterLayer(Layer):
    """Gives its one parameter, of the shape in ``parameter_param``, as its top (Caffe's ``ParameterLayer``).

    The parameter starts at zero. Values are shared; the gradient is added to the parameter's like that of every other
    layer, where Caffe shares it too and so loses all but the last of ``iter_size`` passes.
    """

    type = "Parameter"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Make the parameter."""
        dims = tuple(int(dim) for dim in self.layer_param.parameter_param.shape.dim)
        if any(dim < 0 for dim in dims):
            self.fail(f"expected dimensions of 0 or more, got {dims}.", next_step="Correct parameter_param shape.")
        self.blobs.add_blob(dims)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the parameter's shape and values."""
        top[0].reshape_like(self.blobs[0])
        top[0].share_data(self.blobs[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The values are shared already."""

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Add the gradient to the parameter's."""
        if self.param_propagate_down[0]:
            grad = self.blobs[0].diff
            grad += top[0].diff
