"""Inputs joined along one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.api import Blob, Layer

__all__ = ["ConcatLayer"]


class ConcatLayer(Layer):
    """Joins its bottoms along ``axis`` (Caffe's ``ConcatLayer``); the older ``concat_dim`` is read as well."""

    type = "Concat"

    _axis: int

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``concat_param``."""
        param = self.layer_param.concat_param
        if param.HasField("axis") and param.HasField("concat_dim"):
            self.fail("expected axis or concat_dim, got both.", next_step="Keep axis.")
        self._axis = self.axis(int(param.concat_dim) if param.HasField("concat_dim") else param.axis, bottom[0])

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Add up the sizes along the axis."""
        shape = list(bottom[0].shape)
        for index, blob in enumerate(bottom[1:], 1):
            others = list(blob.shape)
            if len(others) != len(shape) or any(
                a != b for axis, (a, b) in enumerate(zip(others, shape, strict=True)) if axis != self._axis
            ):
                self.fail_shape(
                    f"expected the shape of bottom 0, {bottom[0].shape}, but for axis {self._axis}, got {blob.shape}.",
                    bottom=index,
                )
            shape[self._axis] += others[self._axis]
        top[0].reshape(*shape)
        if len(bottom) == 1:
            top[0].share_data(bottom[0])
            top[0].share_diff(bottom[0])

    def _parts(self, bottom: Sequence[Blob]) -> Iterator[tuple[int, Blob, tuple[slice, ...]]]:
        start = 0
        for index, blob in enumerate(bottom):
            stop = start + blob.shape[self._axis]
            yield index, blob, (*(slice(None),) * self._axis, slice(start, stop))
            start = stop

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy the parts."""
        if len(bottom) > 1:
            joined = top[0].data
            for _, blob, part in self._parts(bottom):
                joined[part] = blob.data

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Copy the parts of the gradient."""
        if len(bottom) > 1:
            joined = top[0].diff
            for index, blob, part in self._parts(bottom):
                if propagate_down[index]:
                    blob.diff[...] = joined[part]
