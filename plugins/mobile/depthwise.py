"""Convolution of each channel with a filter of its own, as MobileNet has it."""

from collections.abc import Sequence

from depthwise_planes import DepthwisePlanes, FilterPlace

from engine.api import Blob, Layer, Primitive, ops

__all__ = ["ConvolutionDepthwiseLayer", "DepthwiseConvolutionLayer"]

#: Output pixels of a plane from which on summing shifted planes is faster than the backend's matrix product.
LARGE_PLANE = 1500


class ConvolutionDepthwiseLayer(Layer):
    """Cross-correlates each channel with a filter of its own; ``num_output`` and ``group`` are not looked at.

    Bottom ``(N, C, H, W)``; top ``(N, C, out_h, out_w)`` with
    ``out = floor((size + 2 pad - (dilation (kernel - 1) + 1)) / stride) + 1``. Parameters: weight
    ``(C, 1, kernel_h, kernel_w)``, bias ``(C,)``.
    """

    _channels: int
    _planes: DepthwisePlanes
    _primitive: Primitive

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``convolution_param`` and make the filters."""
        param = self.layer_param.convolution_param
        if bottom[0].axes != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {bottom[0].shape}.", bottom=0)
        self._channels = bottom[0].shape[1]
        self.check_counts()
        place = FilterPlace(
            kernel=self._pair("kernel", "kernel_size", None),
            stride=self._pair("stride", "stride", 1),
            pad=self._pair("pad", "pad", 0),
            dilation=self._pair("", "dilation", 1),
        )
        for what in ("kernel", "stride", "dilation"):
            if min(getattr(place, what)) < 1:
                self.fail(f"expected {what} of 1 or more, got {getattr(place, what)}.")
        self._planes = DepthwisePlanes(place, self.xp, self.context.workspace)
        self._primitive = self.primitive(
            ops.Convolution(place.kernel, place.stride, place.pad, place.dilation, self._channels)
        )
        self.reshape(bottom, top)  # a kernel that does not fit is refused before it takes memory
        self.fill(self.blobs.add_blob(self._channels, 1, *place.kernel), param.weight_filler)
        if param.bias_term:
            self.fill(self.blobs.add_blob(self._channels), param.bias_filler)

    def check_counts(self) -> None:
        """Check ``num_output`` and ``group`` against the number of channels."""

    def _pair(self, stem: str, listed: str, default: int | None) -> tuple[int, int]:
        """Read a field that may be written once, twice, or as ``_h`` and ``_w``."""
        param = self.layer_param.convolution_param
        values = tuple(getattr(param, listed))
        if stem and (param.HasField(f"{stem}_h") or param.HasField(f"{stem}_w")):
            if values:
                self.fail(f"expected {listed}, or {stem}_h and {stem}_w, got both.")
            values = (getattr(param, f"{stem}_h"), getattr(param, f"{stem}_w"))
        if not values:
            if default is None:
                self.fail("expected kernel_size, got none.", next_step="Set convolution_param kernel_size.")
            values = (default,)
        if len(values) > 2:
            self.fail(f"expected one {listed}, or two, got {len(values)}.")
        return int(values[0]), int(values[-1])

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the size of the output."""
        shape = bottom[0].shape
        if len(shape) != 4 or shape[1] != self._channels:
            self.fail_shape(f"expected 4 axes and {self._channels} channels as at set-up, got {shape}.", bottom=0)
        for index, blob in enumerate(bottom[1:], 1):
            if blob.shape != shape:
                self.fail_shape(f"expected shape {shape}, as bottom 0, got {blob.shape}.", bottom=index)
        out = self._planes.output_size(shape[2:])
        if min(out) < 1:
            self.fail_shape(
                f"kernel {self._planes.place.kernel} does not fit into input {shape[2:]}.",
                bottom=0,
                next_step="Use a smaller kernel or more padding.",
            )
        for blob in top:
            blob.reshape(*shape[:2], *out)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Convolve each bottom."""
        weight, *bias = (blob.data for blob in self.blobs)
        for source, target in zip(bottom, top, strict=True):
            if target.shape[2] * target.shape[3] < LARGE_PLANE:
                self._primitive.forward([source.data], [weight, *bias], [target.data])
            else:
                self._planes.forward(source.data, weight, bias[0] if bias else None, target.data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute gradients of filters, bias and bottoms."""
        weight = self.blobs[0].data
        dweight = self.blobs[0].diff if self.param_propagate_down[0] else None
        for source, target, wanted in zip(bottom, top, propagate_down, strict=True):
            dy = target.diff
            if len(self.blobs) > 1 and self.param_propagate_down[1]:
                dbias = self.blobs[1].diff
                dbias += dy.sum(axis=(2, 3)).sum(axis=0)
            if dweight is not None or wanted:
                self._planes.backward(source.data, weight, dy, source.diff if wanted else None, dweight)


class DepthwiseConvolutionLayer(ConvolutionDepthwiseLayer):
    """As :class:`ConvolutionDepthwiseLayer`, for any number of bottoms, with ``num_output`` and ``group`` written out.

    Both are the number of channels: a ``Convolution`` whose type was changed keeps its other fields.
    """

    def check_counts(self) -> None:
        """Refuse what is no depthwise convolution."""
        param = self.layer_param.convolution_param
        for what, count in (("num_output", param.num_output), ("group", param.group)):
            if count != self._channels:
                self.fail(
                    f"expected {what} to be the number of input channels, {self._channels}, got {count}.",
                    next_step=f"Set convolution_param {what}: {self._channels}, or take a Convolution.",
                )
