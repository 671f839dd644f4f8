"""Windows of the input laid out as channels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from engine.api import Array, Blob, Layer
from engine.ops import product
from nodes.memory import scratch
from nodes.vision.windows import FilterWindow, read_window

__all__ = ["Im2colLayer"]


class Im2colLayer(Layer):
    """Copies what each place of a filter covers into channels of its own (Caffe's ``Im2colLayer``).

    Bottom ``(outer..., C, spatial...)`` with channels at ``axis``; top ``(outer..., C * taps, out...)`` with ``out`` as
    for Convolution; the channels of the top run over those of the bottom and, fastest, over the taps of the kernel.
    Fields are those of ``convolution_param``.
    """

    type = "Im2col"

    _window: FilterWindow
    _channel_axis: int

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``convolution_param``."""
        param = self.layer_param.convolution_param
        self._channel_axis = self.axis(param.axis, bottom[0])
        spatial = bottom[0].axes - self._channel_axis - 1
        if spatial < 1:
            self.fail_shape(
                f"expected an axis after {self._channel_axis}, that of the channels, got shape {bottom[0].shape}.",
                bottom=0,
            )
        self._window = read_window(self, param, spatial)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the number of places."""
        shape, window, split = bottom[0].shape, self._window, self._channel_axis
        if len(shape) != split + 1 + len(window.kernel):
            self.fail_shape(
                f"expected {split + 1 + len(window.kernel)} axes as at set-up, got shape {shape}.", bottom=0
            )
        out = window.convolved(shape[split + 1 :])
        if any(size < 1 for size in out):
            self.fail_shape(
                f"kernel {window.kernel} with dilation {window.dilation} does not fit into input {shape[split + 1 :]} "
                f"with pad {window.pad}.",
                bottom=0,
                next_step="Use a smaller kernel or more padding.",
            )
        top[0].reshape(*shape[:split], shape[split] * product(window.kernel), *out)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy, one tap of the kernel after the other."""
        x = self._images(bottom[0].data)
        planes = x
        if any(self._window.pad):
            planes = self._planes(x)
            planes[...] = 0
            planes[self._inside(x)] = x
        columns = self._columns(x, top[0].data)
        for tap, cut in self._taps(columns):
            columns[(slice(None), slice(None), *tap)] = planes[cut]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Sum the gradients of all copies of an element."""
        if not propagate_down[0]:
            return
        dx = self._images(bottom[0].diff)
        padded = any(self._window.pad)
        planes = self._planes(dx) if padded else dx
        planes[...] = 0
        columns = self._columns(dx, top[0].diff)
        for tap, cut in self._taps(columns):
            planes[cut] += columns[(slice(None), slice(None), *tap)]
        if padded:
            dx[...] = planes[self._inside(dx)]

    def _images(self, values: Array) -> Array:
        """View the bottom as ``(images, C, spatial...)``."""
        split = self._channel_axis
        return values.reshape((product(values.shape[:split]), *values.shape[split:]))

    def _columns(self, images: Array, values: Array) -> Array:
        """View the top as ``(images, C, kernel..., out...)``."""
        return values.reshape((*images.shape[:2], *self._window.kernel, *values.shape[self._channel_axis + 1 :]))

    def _planes(self, images: Array) -> Array:
        """Return memory for images with their padding."""
        padded = (size + 2 * pad for size, pad in zip(images.shape[2:], self._window.pad, strict=True))
        return scratch(self, "planes", images, (*images.shape[:2], *padded))

    def _inside(self, images: Array) -> tuple[slice, ...]:
        """Return where the images lie in their padding."""
        inner = (slice(pad, pad + size) for pad, size in zip(self._window.pad, images.shape[2:], strict=True))
        return (slice(None), slice(None), *inner)

    def _taps(self, columns: Array) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Yield each tap of the kernel with the part of the padded images that it covers."""
        window = self._window
        out = columns.shape[2 + len(window.kernel) :]
        for tap in itertools.product(*(range(size) for size in window.kernel)):
            cut = (
                slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                for at, dilation, count, stride in zip(tap, window.dilation, out, window.stride, strict=True)
            )
            yield tap, (slice(None), slice(None), *cut)
