"""Scaling channels and adding a shortcut, as SENet does."""

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["AxpyLayer"]


class AxpyLayer(Layer):
    """``scale * x + y`` with one factor for each channel of each image (Hu et al. 2017).

    Bottoms: factors ``(N, C)`` or ``(N, C, 1, 1)``, then ``x`` and ``y`` of one shape ``(N, C, ...)``, which is the
    top's.
    """

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that nothing is overwritten that the gradient needs."""
        if any(top[0].on_host is blob.on_host for blob in bottom[:2]):
            self.fail("expected a top with a name of its own.", next_step="Rename the top.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that the shapes fit, and give the top that of ``x``."""
        scale, x, y = (blob.shape for blob in bottom)
        if len(x) < 2 or scale[:2] != x[:2] or any(dim != 1 for dim in scale[2:]):
            self.fail_shape(
                f"expected a factor for each of its channels, shape {(*x[:2], 1, 1)} or {x[:2]}, got {scale}.", bottom=0
            )
        if y != x:
            self.fail_shape(f"expected shape {x}, as bottom 1, got {y}.", bottom=2)
        top[0].reshape_like(bottom[1])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Multiply and add."""
        scale, x, y = (blob.data for blob in bottom)
        result = top[0].data
        if bottom[2].on_host is top[0].on_host:
            result += self._over(scale, x) * x
        else:
            self.xp.multiply(self._over(scale, x), x, out=result)
            result += y

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the gradients of the three bottoms."""
        grad, scale, x = top[0].diff, bottom[0].data, bottom[1].data
        if propagate_down[0]:
            products = (grad * x).reshape((*x.shape[:2], -1)) if x.size else grad.reshape((*x.shape[:2], 0))
            bottom[0].diff[...] = products.sum(axis=2).reshape(scale.shape)
        if propagate_down[1]:
            self.xp.multiply(self._over(scale, x), grad, out=bottom[1].diff)
        if propagate_down[2] and bottom[2].on_host is not top[0].on_host:
            bottom[2].diff[...] = grad

    @staticmethod
    def _over(scale: Array, x: Array) -> Array:
        """Return the factors shaped so that they spread over the other axes of ``x``."""
        return scale.reshape((*x.shape[:2], *(1 for _ in x.shape[2:])))
