"""Convolution over any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer, LowerContext, Primitive
from engine.ops import Convolution, Op, OpSpec
from nodes.vision.windows import FilterWindow, read_window

__all__ = ["ConvolutionLayer"]


class ConvolutionLayer(Layer):
    """Cross-correlates its input with learned filters (Caffe's ``ConvolutionLayer``).

    Bottom ``(outer..., C, spatial...)`` with channels at ``axis``; top ``(outer..., num_output, out...)`` with
    ``out = floor((size + 2 pad - (dilation (kernel - 1) + 1)) / stride) + 1``. Several bottoms of one shape share the
    filters. Parameters: weight ``(num_output, C / group, kernel...)``, bias ``(num_output,)``.
    """

    type = "Convolution"

    spec: OpSpec
    window: FilterWindow
    channel_axis: int
    channels: int
    outputs: int
    _primitives: list[Primitive]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``convolution_param`` and make the filters."""
        param = self.layer_param.convolution_param
        self.channel_axis = self.axis(param.axis, bottom[0])
        spatial = bottom[0].axes - self.channel_axis - 1
        self.channels = bottom[0].shape[self.channel_axis]
        self.outputs = int(param.num_output)
        if self.outputs < 1:
            self.fail(
                f"expected num_output of 1 or more, got {self.outputs}.", next_step="Set convolution_param num_output."
            )
        if param.group < 1:
            self.fail(f"expected group of 1 or more, got {param.group}.")
        group = int(param.group)
        self.window = read_window(self, param, spatial)
        self.spec = self.make_spec(group)
        for what, count in (("its input's channels", self.channels), ("num_output", self.outputs)):
            if count % group:
                self.fail(f"expected {what} to be a multiple of group {group}, got {count}.")
        self.output_sizes(bottom[0].shape)  # a kernel that does not fit is refused before it takes memory
        self.fill(self.blobs.add_blob(*self.weight_shape(group), *self.window.kernel), param.weight_filler)
        if param.bias_term:
            self.fill(self.blobs.add_blob(self.outputs), param.bias_filler)
        self._primitives = [self.primitive(self.spec) for _ in bottom]

    def make_spec(self, group: int) -> OpSpec:
        """Return the operation for the layer's window."""
        window = self.window
        return Convolution(window.kernel, window.stride, window.pad, window.dilation, group)

    def weight_shape(self, group: int) -> tuple[int, ...]:
        """Return the shape of the filters without their kernel."""
        return self.outputs, self.channels // group

    def output_sizes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the spatial dimensions of the output for a bottom's shape, or fail."""
        window = self.window
        out = window.convolved(shape[self.channel_axis + 1 :])
        if any(size < 1 for size in out):
            self.fail_shape(
                f"kernel {window.kernel} with dilation {window.dilation} does not fit into input "
                f"{shape[self.channel_axis + 1 :]} with pad {window.pad}.",
                bottom=0,
                next_step="Use a smaller kernel or more padding.",
            )
        return out

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the size of the output."""
        shape = bottom[0].shape
        if len(shape) != self.channel_axis + 1 + len(self.window.kernel):
            self.fail_shape(
                f"expected {self.channel_axis + 1 + len(self.window.kernel)} axes as at set-up, got shape {shape}.",
                bottom=0,
            )
        if shape[self.channel_axis] != self.channels:
            self.fail_shape(
                f"expected {self.channels} channels at axis {self.channel_axis} (the filters' depth), got shape "
                f"{shape} from blob '{bottom[0].name}'.",
                bottom=0,
                next_step="The input's channels changed; rebuild the net for the new input.",
            )
        for index, blob in enumerate(bottom[1:], 1):
            if blob.shape != shape:
                self.fail_shape(f"expected shape {shape}, as bottom 0, got {blob.shape}.", bottom=index)
        out = self.output_sizes(shape)
        for blob in top:
            blob.reshape(*shape[: self.channel_axis], self.outputs, *out)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Convolve each bottom."""
        params = [blob.data for blob in self.blobs]
        for source, target, primitive in zip(bottom, top, self._primitives, strict=True):
            primitive.forward([source.data], params, [target.data])

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute gradients of filters, bias and bottoms."""
        params = [blob.data for blob in self.blobs]
        grads = [
            blob.diff if wanted else None for blob, wanted in zip(self.blobs, self.param_propagate_down, strict=True)
        ]
        for source, target, wanted, primitive in zip(bottom, top, propagate_down, self._primitives, strict=True):
            primitive.backward(
                [source.data], params, [target.data], [target.diff], [source.diff if wanted else None], grads
            )

    def lower(self, ctx: LowerContext) -> Sequence[Op]:
        """Return one convolution for each bottom."""
        return [
            Op(self.spec, [source], list(self.blobs), [target])
            for source, target in zip(ctx.bottom, ctx.top, strict=True)
        ]
