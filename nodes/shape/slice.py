"""One input cut along an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.api import Blob, Layer

__all__ = ["SliceLayer"]


class SliceLayer(Layer):
    """Cuts its bottom along ``axis`` into its tops (Caffe's ``SliceLayer``); the older ``slice_dim`` is read as well.

    Without ``slice_point`` all parts are equal; otherwise there is one point between each two tops.
    """

    type = "Slice"

    _axis: int
    _points: tuple[int, ...]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``slice_param``."""
        param = self.layer_param.slice_param
        if param.HasField("axis") and param.HasField("slice_dim"):
            self.fail("expected axis or slice_dim, got both.", next_step="Keep axis.")
        self._axis = self.axis(int(param.slice_dim) if param.HasField("slice_dim") else param.axis, bottom[0])
        self._points = tuple(int(point) for point in param.slice_point)
        if self._points and len(self._points) != len(top) - 1:
            self.fail(
                f"expected no slice_point, or {len(top) - 1} (one between each two of its {len(top)} tops), got "
                f"{len(self._points)}."
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Find the size of each part."""
        shape = bottom[0].shape
        for blob, size in zip(top, self._sizes(shape, len(top)), strict=True):
            blob.reshape(*shape[: self._axis], size, *shape[self._axis + 1 :])
        if len(top) == 1:
            top[0].share_data(bottom[0])
            top[0].share_diff(bottom[0])

    def _sizes(self, shape: tuple[int, ...], parts: int) -> list[int]:
        whole = shape[self._axis]
        if not self._points:
            if whole % parts:
                self.fail_shape(
                    f"expected a size at axis {self._axis} that {parts} equal parts fill, got {whole} in shape "
                    f"{shape}.",
                    bottom=0,
                    next_step="Give slice_point, or another number of tops.",
                )
            return [whole // parts] * parts
        ends = (*self._points, whole)
        sizes = [end - start for start, end in zip((0, *self._points), ends, strict=True)]
        if min(sizes[:-1]) < 1 or sizes[-1] < 0:
            self.fail_shape(
                f"expected rising slice points from 1 to {whole} (the size of axis {self._axis} in shape {shape}), "
                f"got {self._points}.",
                bottom=0,
            )
        return sizes

    def _parts(self, top: Sequence[Blob]) -> Iterator[tuple[Blob, tuple[slice, ...]]]:
        start = 0
        for blob in top:
            stop = start + blob.shape[self._axis]
            yield blob, (*(slice(None),) * self._axis, slice(start, stop))
            start = stop

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy the parts."""
        if len(top) > 1:
            whole = bottom[0].data
            for blob, part in self._parts(top):
                blob.data[...] = whole[part]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Join the parts of the gradient."""
        if len(top) > 1 and propagate_down[0]:
            whole = bottom[0].diff
            for blob, part in self._parts(top):
                whole[part] = blob.diff
