"""Product of two blobs that need not have one shape."""

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["MulLayer"]


class MulLayer(Layer):
    """Product, element by element, of two blobs, or of one and a parameter of shape ``mul_shape``.

    Shapes line up at their last axes; an axis of length 1, or one that is missing, is repeated.
    """

    _dims: tuple[int, ...] = ()

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Make the parameter, where there is no second bottom."""
        if any(top[0].on_host is blob.on_host for blob in bottom):
            self.fail("expected a top with a name of its own.", next_step="Rename the top.")
        if len(bottom) == 1:
            shape = tuple(self.layer_param.mul_param.mul_shape)
            if any(dim < 1 for dim in shape):
                self.fail(f"expected mul_shape of numbers from 1 on, got {shape}.", next_step="Correct mul_shape.")
            self.blobs.add_blob(shape)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Find the common shape."""
        first, second = bottom[0].shape, self._factor(bottom).shape
        axes = max(len(first), len(second))
        pairs = zip(_padded(first, axes), _padded(second, axes), strict=True)
        dims = [b if a == 1 else a for a, b in pairs if 1 in (a, b) or a == b]
        if len(dims) != axes:
            self.fail_shape(
                f"expected dimensions that are equal or 1, counted from the last, got {first} and {second}.",
                bottom=len(bottom) - 1,
            )
        self._dims = tuple(dims)
        top[0].reshape(self._dims)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Multiply."""
        self.xp.multiply(bottom[0].data, self._factor(bottom).data, out=top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Multiply the gradient by the other factor, and sum it over what was repeated."""
        factor, grad = self._factor(bottom), top[0].diff
        if propagate_down[0]:
            bottom[0].diff[...] = self._summed(grad * factor.data, bottom[0])
        if len(bottom) == 1:
            if self.param_propagate_down[0]:
                diff = factor.diff
                diff += self._summed(grad * bottom[0].data, factor)
        elif propagate_down[1]:
            factor.diff[...] = self._summed(grad * bottom[0].data, factor)

    def _factor(self, bottom: Sequence[Blob]) -> Blob:
        return bottom[1] if len(bottom) > 1 else self.blobs[0]

    def _summed(self, grad: Array, blob: Blob) -> Array:
        shape = _padded(blob.shape, len(self._dims))
        repeated = tuple(axis for axis, dim in enumerate(shape) if dim == 1 and self._dims[axis] != 1)
        return (
            self.xp.sum(grad, axis=repeated, keepdims=True).reshape(blob.shape)
            if repeated
            else grad.reshape(blob.shape)
        )


def _padded(shape: tuple[int, ...], axes: int) -> tuple[int, ...]:
    return (1,) * (axes - len(shape)) + shape
