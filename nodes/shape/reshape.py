"""The same values in another shape."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer
from engine.ops import product

__all__ = ["ReshapeLayer"]


class ReshapeLayer(Layer):
    """Replaces axes by the sizes of ``reshape_param`` (Caffe's ``ReshapeLayer``); memory is shared, not copied.

    ``num_axes`` axes from ``axis`` on are replaced, all that follow where it is -1. A negative ``axis`` counts from one
    past the last, so that -1 puts new axes at the end. A size of 0 is that of the bottom at the same place; one size of
    -1 takes what is left.
    """

    type = "Reshape"

    _dims: tuple[int, ...]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``reshape_param``."""
        self._dims = tuple(int(dim) for dim in self.layer_param.reshape_param.shape.dim)
        if self._dims.count(-1) > 1 or any(dim < -1 for dim in self._dims):
            self.fail(
                f"expected sizes of 0 or more and at most one -1, got {self._dims}.",
                next_step="Correct reshape_param shape.",
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the shape and share the memory."""
        start, end = self._replaced(bottom[0])
        shape = bottom[0].shape
        target = (*shape[:start], *self._sizes(shape, start, end), *shape[end:])
        if product(target) != bottom[0].count:
            self.fail_shape(
                f"expected a shape of {bottom[0].count} elements, as bottom '{bottom[0].name}' of shape {shape} has, "
                f"got {product(target)} in shape {target}.",
                bottom=0,
                next_step="Let one size be -1 to take what is left.",
            )
        top[0].reshape(target)
        top[0].share_data(bottom[0])
        top[0].share_diff(bottom[0])

    def _replaced(self, blob: Blob) -> tuple[int, int]:
        """Return the first replaced axis and the one after the last."""
        param = self.layer_param.reshape_param
        start, number = self.axis(param.axis, blob, extra=1), int(param.num_axes)
        if not -1 <= number <= blob.axes - start:
            self.fail_shape(
                f"expected num_axes from -1 to {blob.axes - start} (axes from {start} on of shape {blob.shape}), got "
                f"{number}.",
                bottom=0,
            )
        return start, blob.axes if number == -1 else start + number

    def _sizes(self, shape: tuple[int, ...], start: int, end: int) -> list[int]:
        """Return the new sizes with 0 and -1 resolved for a bottom's shape."""
        sizes = list(self._dims)
        copied = {start + place for place, dim in enumerate(sizes) if dim == 0}
        if copied and max(copied) >= len(shape):
            self.fail_shape(
                f"expected an axis {max(copied)} in the bottom, whose size a 0 in {self._dims} takes, got shape "
                f"{shape}.",
                bottom=0,
                next_step="Give the size itself.",
            )
        for axis in copied:
            sizes[axis - start] = shape[axis]
        if -1 in sizes:
            # sizes that stand on both sides are left out, so that an empty batch stays one
            free = product(shape[axis] for axis in range(start, end) if axis not in copied)
            given = product(
                dim
                for place, dim in enumerate(sizes)
                if dim != -1 and not (start + place in copied and start + place < end)
            )
            sizes[sizes.index(-1)] = self._inferred(free, given, shape)
        return sizes

    def _inferred(self, free: int, given: int, shape: tuple[int, ...]) -> int:
        if given == 0 or free % given:
            self.fail_shape(
                f"expected sizes whose product divides {free} (the elements to be arranged), got {given} from "
                f"{self._dims} for shape {shape}.",
                bottom=0,
            )
        return free // given

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The values are shared already."""

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """The gradient is shared already."""
